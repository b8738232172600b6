-- Which keys a source had before each rotation: two different rotations with one number prove that a key was copied.
ALTER TABLE transfer_sources ADD COLUMN keys_before TEXT NOT NULL DEFAULT '[]';
-- When that was proved; nothing of the source is accepted until people say which keys are right.
ALTER TABLE transfer_sources ADD COLUMN key_copied_at TEXT;
