-- A change writes every page that one of its rows or of their entries in indexes is on. What is written together stands together from
-- here on: of 14 pages that registering a name wrote, and 11 that a release wrote, 11 and 7 are left (`npm run bench -- writes`).

-- The digests of rows by their keys, which begin with the package they belong to: those that one change writes are neighbours.
DROP TABLE row_digests;
CREATE TABLE row_digests (
  row      TEXT NOT NULL,
  of_table TEXT NOT NULL,
  digest   BLOB NOT NULL,
  PRIMARY KEY (row, of_table)
) STRICT, WITHOUT ROWID;

-- Rows that are found by their key alone are kept in its order, without an index beside them.
CREATE TABLE tracks_by_key (
  package_id                   TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  name                         TEXT NOT NULL,
  version_pattern              TEXT,
  automatic_phasing_percentage REAL,
  created_at                   TEXT NOT NULL,
  PRIMARY KEY (package_id, name)
) WITHOUT ROWID;
INSERT INTO tracks_by_key (package_id, name, version_pattern, automatic_phasing_percentage, created_at)
  SELECT package_id, name, version_pattern, automatic_phasing_percentage, created_at FROM tracks ORDER BY package_id, name;
DROP TABLE tracks;
ALTER TABLE tracks_by_key RENAME TO tracks;

CREATE TABLE past_releases_by_key (
  package_id  TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE ON UPDATE CASCADE,
  seq         INTEGER NOT NULL,
  channel     TEXT NOT NULL,
  slot        TEXT NOT NULL,
  revision    INTEGER,
  before      INTEGER,
  percentage  REAL,
  paused      INTEGER CHECK (paused IN (0, 1)),
  released_at TEXT NOT NULL,
  released_by TEXT,
  PRIMARY KEY (package_id, seq)
) WITHOUT ROWID;
INSERT INTO past_releases_by_key (package_id, seq, channel, slot, revision, before, percentage, paused, released_at, released_by)
  SELECT package_id, seq, channel, slot, revision, before, percentage, paused, released_at, released_by
  FROM past_releases ORDER BY package_id, seq;
DROP TABLE past_releases;
ALTER TABLE past_releases_by_key RENAME TO past_releases;

-- Every change raises the number of the audit log, and says where the log ends: its number is that of its last row.
ALTER TABLE noun_versions ADD COLUMN hash TEXT;
ALTER TABLE noun_versions ADD COLUMN mac TEXT;
UPDATE noun_versions SET (version, hash, mac) = (SELECT seq, hash, mac FROM audit_end WHERE one = 1)
WHERE noun = 'audit' AND EXISTS (SELECT 1 FROM audit_end WHERE one = 1);
DROP TRIGGER audit_has_an_end;
DROP TRIGGER audit_added;
DROP TABLE audit_end;
CREATE TRIGGER audit_added AFTER INSERT ON audit BEGIN INSERT INTO noun_versions (noun, version, hash) VALUES ('audit', NEW.seq, NEW.hash) ON CONFLICT (noun) DO UPDATE SET version = excluded.version, hash = excluded.hash, mac = NULL WHERE noun = 'audit'; END;
