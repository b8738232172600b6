-- How each package was used, day by day (UTC); the row without a package is of the whole store. Counts alone, and of no device by
-- itself. Like notes they are under no digest: what a crash takes of them is missed by nobody. A day has a row only for what was used on it.
CREATE TABLE package_days (
  day        TEXT NOT NULL CHECK (length(day) = 10),
  package_id TEXT NOT NULL,
  downloads  INTEGER NOT NULL DEFAULT 0 CHECK (downloads >= 0),
  devices    INTEGER NOT NULL DEFAULT 0 CHECK (devices >= 0),
  refreshes  INTEGER NOT NULL DEFAULT 0 CHECK (refreshes >= 0),
  PRIMARY KEY (day, package_id)
) STRICT, WITHOUT ROWID;
INSERT INTO package_days (day, package_id, downloads)
SELECT substr(key, 1, 10), substr(key, 12), count FROM notes WHERE kind = 'download-day';
DELETE FROM notes WHERE kind = 'download-day';
