-- A progressive release lies over the ordinary one of its slot, as a row of its own; so far its slot's name said so.
CREATE TABLE releases_with_progress (
  package_id             TEXT NOT NULL,
  channel                TEXT NOT NULL,
  slot                   TEXT NOT NULL,
  progressive            INTEGER NOT NULL CHECK (progressive IN (0, 1)),
  architecture           TEXT,
  base_name              TEXT,
  base_channel           TEXT,
  revision               INTEGER NOT NULL,
  progressive_paused     INTEGER CHECK (progressive_paused IN (0, 1)),
  progressive_percentage REAL,
  resources              TEXT NOT NULL,
  released_at            TEXT NOT NULL,
  expires_at             TEXT,
  PRIMARY KEY (package_id, channel, slot, progressive),
  FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON DELETE CASCADE
);

INSERT INTO releases_with_progress
SELECT package_id, channel, replace(slot, ' (progressive)', ''), CASE WHEN progressive_percentage IS NULL THEN 0 ELSE 1 END,
  architecture, base_name, base_channel, revision, progressive_paused, progressive_percentage, resources, released_at, expires_at
FROM releases;

DROP TABLE releases;
ALTER TABLE releases_with_progress RENAME TO releases;
CREATE INDEX releases_expiring ON releases (expires_at) WHERE expires_at IS NOT NULL;

-- What was ever released: who put what into which slot of which channel, when, and what was there before. A row without a
-- revision is a closing. What was released before this table was made has nobody's name.
CREATE TABLE past_releases (
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
);

INSERT INTO past_releases (package_id, seq, channel, slot, revision, before, percentage, paused, released_at, released_by)
SELECT package_id, row_number() OVER (PARTITION BY package_id ORDER BY released_at, channel, slot, progressive),
  channel, slot, revision, NULL, progressive_percentage, progressive_paused, released_at, NULL
FROM releases;
