-- Whether what a source sends waits for people, or is let in by itself where it brings nothing that they should see.
ALTER TABLE transfer_sources ADD COLUMN accept TEXT NOT NULL DEFAULT 'people' CHECK (accept IN ('people', 'automatic'));
