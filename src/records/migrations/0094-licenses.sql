-- Not beside older releases: they would edit links without a note of it, and the next revision would replace them.
-- The license of a package follows its newest revision, and so do its links, until somebody edits them here. Links that are
-- here already were written by people, but for those of packages of other stores, which came with transfers.
ALTER TABLE packages ADD COLUMN license TEXT;
UPDATE packages
SET edited = CASE edited WHEN '[]' THEN '["links"]' ELSE substr(edited, 1, length(edited) - 1) || ',"links"]' END
WHERE links <> '{}' AND publisher_id NOT IN (SELECT id FROM accounts WHERE is_foreign = 1);
