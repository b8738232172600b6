-- Transfers across the gap: whom this site believes, what came in, and what it made for others.
CREATE TABLE transfer_sources (
  name        TEXT PRIMARY KEY,
  keys        TEXT NOT NULL,
  threshold   INTEGER NOT NULL CHECK (threshold > 0),
  packages    TEXT NOT NULL,
  may_release INTEGER NOT NULL CHECK (may_release IN (0, 1)),
  -- The highest sequence number that was let in: nothing at or under it is let in again.
  floor       INTEGER NOT NULL DEFAULT 0,
  added_at    TEXT NOT NULL,
  added_by    TEXT NOT NULL
);

-- A transfer is known by the SHA-256 of its statement, which is kept as content.
CREATE TABLE transfers (
  id          TEXT PRIMARY KEY,
  source      TEXT NOT NULL,
  sequence    INTEGER NOT NULL,
  statement   TEXT NOT NULL,
  signatures  TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('waiting', 'accepted', 'discarded', 'withdrawn')),
  received_at TEXT NOT NULL,
  received_by TEXT NOT NULL,
  settled_at  TEXT,
  settled_by  TEXT,
  -- What was changed by it, so that it can be told and put back.
  receipt     TEXT
);

CREATE INDEX transfers_by_statement ON transfers (statement) WHERE status <> 'discarded';
CREATE INDEX transfers_by_arrival ON transfers (received_at);

-- What of a waiting transfer has come, and what a review found in it: it passes, because the transfer can be received again.
CREATE TABLE passing_transfer_contents (
  transfer TEXT NOT NULL,
  sha3_384 TEXT NOT NULL,
  ends_at  TEXT NOT NULL,
  PRIMARY KEY (transfer, sha3_384)
);
CREATE INDEX passing_transfer_contents_by_content ON passing_transfer_contents (sha3_384);

CREATE INDEX passing_transfer_contents_by_end ON passing_transfer_contents (ends_at);

CREATE TABLE passing_transfer_findings (
  transfer TEXT NOT NULL,
  subject  TEXT NOT NULL,
  findings TEXT,
  refused  TEXT,
  ends_at  TEXT NOT NULL,
  PRIMARY KEY (transfer, subject),
  CHECK ((findings IS NULL) <> (refused IS NULL))
);
CREATE INDEX passing_transfer_findings_by_end ON passing_transfer_findings (ends_at);

-- The transfers that were made here, each with its number, and what each site was sent.
CREATE TABLE made_transfers (
  sequence  INTEGER PRIMARY KEY,
  id        TEXT NOT NULL,
  sites     TEXT NOT NULL,
  -- As in the table above.
  statement TEXT NOT NULL,
  bytes     INTEGER NOT NULL,
  made_at   TEXT NOT NULL,
  made_by   TEXT NOT NULL
);

CREATE INDEX made_transfers_by_statement ON made_transfers (statement);

CREATE TABLE sent_contents (
  site     TEXT NOT NULL,
  -- By its SHA3-384; it need not be here any more.
  content  TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (site, content)
);
