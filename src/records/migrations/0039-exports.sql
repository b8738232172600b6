-- What has left the host: when, by whom, with its digest and its size.
CREATE TABLE exports (
  seq    INTEGER PRIMARY KEY,
  at     TEXT NOT NULL,
  actor  TEXT NOT NULL,
  what   TEXT NOT NULL,
  name   TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  bytes  INTEGER NOT NULL
);

CREATE INDEX exports_by_time ON exports (at);
