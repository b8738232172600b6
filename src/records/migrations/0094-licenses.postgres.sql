-- Not beside older releases: they would edit links without a note of it, and the next revision would replace them.
-- The license of a package follows its newest revision, and so do its links, until somebody edits them here. Links that are
-- here already were written by people, but for those of packages of other stores, which came with transfers.
ALTER TABLE packages ADD COLUMN license TEXT COLLATE "C";
UPDATE packages
SET edited = CASE edited WHEN '[]' THEN '["links"]' ELSE substr(edited, 1, length(edited) - 1) || ',"links"]' END
WHERE links <> '{}' AND publisher_id NOT IN (SELECT id FROM accounts WHERE is_foreign = 1);
-- What is remembered of a package is read again when its license changes.
DROP TRIGGER packages_changed ON packages;
CREATE TRIGGER packages_changed AFTER UPDATE OF id, namespace, name, type, publisher_id, private, status, title, summary, description, default_track, links, license, icon, created_at, manual_review, edited ON packages FOR EACH ROW EXECUTE FUNCTION packages_changed();
