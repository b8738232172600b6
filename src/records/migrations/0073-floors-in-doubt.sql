-- After a restore nobody knows which number of a source was let in last, until somebody says it: its receipt, or people who approve.
ALTER TABLE transfer_sources ADD COLUMN floor_in_doubt INTEGER NOT NULL DEFAULT 0 CHECK (floor_in_doubt IN (0, 1));
-- What else is believed of a source: keys that sign for a scanning station, and how many of them must have signed.
ALTER TABLE transfer_sources ADD COLUMN scanners TEXT NOT NULL DEFAULT '[]';
ALTER TABLE transfer_sources ADD COLUMN scans INTEGER NOT NULL DEFAULT 0 CHECK (scans >= 0);
-- How often its keys were rotated: a statement about them is good once.
ALTER TABLE transfer_sources ADD COLUMN rotation INTEGER NOT NULL DEFAULT 0;
