-- Automatic rollouts: releases that reach more devices step by step, the plans of tracks, and the results on devices.
-- The same for PostgreSQL: its numbers are BIGINT, and its texts are ordered by their bytes.
CREATE TABLE rollouts (
  number      BIGINT NOT NULL PRIMARY KEY,
  package_id  TEXT COLLATE "C" NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  channel     TEXT COLLATE "C" NOT NULL,
  revision    BIGINT NOT NULL,
  -- JSON: the steps, the interval, the bound of failures and the people to notify.
  plan        TEXT COLLATE "C" NOT NULL CHECK (length(plan) <= 8192),
  state       TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'paused', 'done', 'rolled-back', 'ended')),
  step        BIGINT NOT NULL,
  step_at     TEXT COLLATE "C" NOT NULL,
  -- Results before this time do not count: the start, or the last time that a person resumed it.
  judged_from TEXT COLLATE "C" NOT NULL,
  because     TEXT COLLATE "C",
  -- The vulnerabilities in its revision that people saw when it started or was resumed, as a JSON list of lines.
  accepted_vulnerabilities TEXT COLLATE "C" NOT NULL,
  started_at  TEXT COLLATE "C" NOT NULL,
  started_by  TEXT COLLATE "C" NOT NULL,
  changed_at  TEXT COLLATE "C" NOT NULL,
  changed_by  TEXT COLLATE "C" NOT NULL
);
CREATE INDEX rollouts_by_package ON rollouts (package_id, number);
CREATE INDEX rollouts_open ON rollouts (number) WHERE state IN ('running', 'paused');

-- The rollout that a progressive release belongs to. A release by anything else has none.
ALTER TABLE releases ADD COLUMN rollout BIGINT;

-- The plan of releases to the channels of a track, as JSON.
ALTER TABLE tracks ADD COLUMN rollout TEXT COLLATE "C";

-- The result of each rollout on each device that was offered its revision.
CREATE TABLE passing_rollout_devices (
  brand_id TEXT COLLATE "C" NOT NULL,
  model    TEXT COLLATE "C" NOT NULL,
  serial   TEXT COLLATE "C" NOT NULL,
  rollout  BIGINT NOT NULL,
  step     BIGINT NOT NULL,
  had      BIGINT NOT NULL,
  state    TEXT COLLATE "C" NOT NULL CHECK (state IN ('offered', 'took', 'held', 'failed', 'back')),
  since    TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (brand_id, model, serial, rollout)
);
CREATE INDEX passing_rollout_devices_by_rollout ON passing_rollout_devices (rollout);

-- How long the store has run during the present step of a rollout. A restored store has no such row.
CREATE TABLE passing_rollout_watches (
  rollout    BIGINT NOT NULL PRIMARY KEY,
  step_at    TEXT COLLATE "C" NOT NULL,
  checked_at TEXT COLLATE "C" NOT NULL,
  served_ms  BIGINT NOT NULL,
  away_ms    BIGINT NOT NULL
);
CREATE INDEX passing_rollout_watches_by_check ON passing_rollout_watches (checked_at);
