-- What this site wishes for, package by package, until somebody ends that; the lists are JSON.
CREATE TABLE subscriptions (
  namespace     TEXT NOT NULL,
  name          TEXT NOT NULL,
  channels      TEXT NOT NULL,
  architectures TEXT NOT NULL,
  -- Where the wish came from: a set, a model, a bundle; nothing where somebody typed it.
  because       TEXT,
  added_at      TEXT NOT NULL,
  added_by      TEXT NOT NULL,
  PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

-- The requests that were carried out of here, each with its number.
CREATE TABLE made_requests (
  number  INTEGER PRIMARY KEY,
  id      TEXT NOT NULL,
  bytes   INTEGER NOT NULL,
  made_at TEXT NOT NULL,
  made_by TEXT NOT NULL
) STRICT;

-- What other sites say of the transfers that they have let in.
CREATE TABLE site_receipts (
  site     TEXT NOT NULL,
  -- The SHA-256 of the transfer's statement.
  transfer TEXT NOT NULL,
  status   TEXT NOT NULL CHECK (status IN ('accepted', 'withdrawn')),
  at       TEXT NOT NULL,
  -- As the request said it, JSON.
  receipt  TEXT NOT NULL,
  noted_at TEXT NOT NULL,
  PRIMARY KEY (site, transfer)
) STRICT, WITHOUT ROWID;

-- What was settled since the last request is told in the next one.
CREATE INDEX transfers_by_settling ON transfers (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX transfers_waiting ON transfers (id) WHERE status = 'waiting';
