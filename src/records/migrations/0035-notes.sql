-- How often something happened and when last, such as a download. Written now and then, under no digest: what is lost of it
-- in a crash is missed by nobody.
CREATE TABLE notes (
  kind    TEXT NOT NULL CHECK (length(kind) <= 32),
  key     TEXT NOT NULL CHECK (length(key) <= 256),
  count   INTEGER NOT NULL CHECK (count > 0),
  last_at TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
