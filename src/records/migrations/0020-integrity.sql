-- Where the audit log ends; a log that is shorter was cut off.
CREATE TABLE audit_end (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  seq  INTEGER NOT NULL,
  hash TEXT NOT NULL
);

INSERT INTO audit_end (one, seq, hash) SELECT 1, seq, hash FROM audit ORDER BY seq DESC LIMIT 1;

CREATE TRIGGER audit_has_an_end AFTER INSERT ON audit
BEGIN
  INSERT INTO audit_end (one, seq, hash) VALUES (1, NEW.seq, NEW.hash)
  ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash;
END;

-- Heads of the audit log, sealed from time to time with a key that is not in the database: a chain that was computed
-- anew does not lead to them.
CREATE TABLE audit_seals (
  seq  INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  at   TEXT NOT NULL,
  mac  TEXT NOT NULL
);

-- The digest of each row as it was last written, and the columns that it covers; see row-digests.ts.
CREATE TABLE row_digests (
  of_table TEXT NOT NULL,
  row      INTEGER NOT NULL,
  digest   BLOB NOT NULL,
  PRIMARY KEY (of_table, row)
) WITHOUT ROWID;

CREATE TABLE row_digest_tables (
  of_table TEXT PRIMARY KEY,
  columns  TEXT NOT NULL
);

-- Content that was found damaged and taken out of service; taking the same content in again mends it.
CREATE TABLE damaged_blobs (
  sha3_384 TEXT PRIMARY KEY,
  size     INTEGER NOT NULL,
  found_at TEXT NOT NULL
);
