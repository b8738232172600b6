-- What is carried in from another store keeps what it is there. Its publishers are accounts of that store, to which nobody logs in here;
-- and a number that is given here to a revision is above all that are known from there.
ALTER TABLE accounts ADD COLUMN is_foreign INTEGER NOT NULL DEFAULT 0 CHECK (is_foreign IN (0, 1));

-- Of which snap a snap-revision speaks, and which number it has.
ALTER TABLE assertions ADD COLUMN snap_id TEXT;
ALTER TABLE assertions ADD COLUMN snap_revision INTEGER;
UPDATE assertions
SET snap_id = substr(text, instr(text, char(10) || 'snap-id: ') + 10, 32),
  snap_revision = CAST(substr(text, instr(text, char(10) || 'snap-revision: ') + 16, 15) AS INTEGER)
WHERE type = 'snap-revision';

CREATE INDEX assertions_by_revision ON assertions (snap_id, snap_revision) WHERE snap_id IS NOT NULL;
