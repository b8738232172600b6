-- Whether nobody has signed it: what lay in a folder, which comes in with approvals alone.
ALTER TABLE transfers ADD COLUMN unsigned INTEGER NOT NULL DEFAULT 0 CHECK (unsigned IN (0, 1));
CREATE INDEX transfers_unsigned ON transfers (sequence) WHERE unsigned = 1;
