-- Where a person reviews a package's uploads, what the first look found waits with the upload for his verdict.
ALTER TABLE packages ADD COLUMN manual_review INTEGER NOT NULL DEFAULT 0 CHECK (manual_review IN (0, 1));

ALTER TABLE uploads ADD COLUMN findings TEXT;

-- The icon that was found, kept as packages keep theirs.
ALTER TABLE uploads ADD COLUMN icon TEXT;

CREATE INDEX uploads_by_icon ON uploads (icon) WHERE icon IS NOT NULL;
