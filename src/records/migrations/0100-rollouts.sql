-- Automatic rollouts: releases that reach more devices step by step, the plans of tracks, and the results on devices.
CREATE TABLE rollouts (
  number      INTEGER NOT NULL PRIMARY KEY,
  package_id  TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  channel     TEXT NOT NULL,
  revision    INTEGER NOT NULL,
  -- JSON: the steps, the interval, the bound of failures and the people to notify.
  plan        TEXT NOT NULL CHECK (length(plan) <= 8192),
  state       TEXT NOT NULL CHECK (state IN ('running', 'paused', 'done', 'rolled-back', 'ended')),
  step        INTEGER NOT NULL,
  step_at     TEXT NOT NULL,
  -- Results before this time do not count: the start, or the last time that a person resumed it.
  judged_from TEXT NOT NULL,
  because     TEXT,
  -- The vulnerabilities in its revision that people saw when it started or was resumed, as a JSON list of lines.
  accepted_vulnerabilities TEXT NOT NULL,
  started_at  TEXT NOT NULL,
  started_by  TEXT NOT NULL,
  changed_at  TEXT NOT NULL,
  changed_by  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rollouts_by_package ON rollouts (package_id, number);
CREATE INDEX rollouts_open ON rollouts (number) WHERE state IN ('running', 'paused');

-- The rollout that a progressive release belongs to. A release by anything else has none.
ALTER TABLE releases ADD COLUMN rollout INTEGER;

-- The plan of releases to the channels of a track, as JSON.
ALTER TABLE tracks ADD COLUMN rollout TEXT;

-- The result of each rollout on each device that was offered its revision.
CREATE TABLE passing_rollout_devices (
  brand_id TEXT NOT NULL,
  model    TEXT NOT NULL,
  serial   TEXT NOT NULL,
  rollout  INTEGER NOT NULL,
  step     INTEGER NOT NULL,
  had      INTEGER NOT NULL,
  state    TEXT NOT NULL CHECK (state IN ('offered', 'took', 'held', 'failed', 'back')),
  since    TEXT NOT NULL,
  PRIMARY KEY (brand_id, model, serial, rollout)
) STRICT, WITHOUT ROWID;
CREATE INDEX passing_rollout_devices_by_rollout ON passing_rollout_devices (rollout);

-- How long the store has run during the present step of a rollout. A restored store has no such row.
CREATE TABLE passing_rollout_watches (
  rollout    INTEGER NOT NULL PRIMARY KEY,
  step_at    TEXT NOT NULL,
  checked_at TEXT NOT NULL,
  served_ms  INTEGER NOT NULL,
  away_ms    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX passing_rollout_watches_by_check ON passing_rollout_watches (checked_at);
