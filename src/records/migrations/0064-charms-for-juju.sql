-- What juju hears of a charm before it fetches it: two of its files, and its digest by the other algorithm that juju knows. Charms that
-- are here already are read once more for it: an empty digest says of which that is still to be done.
ALTER TABLE revisions ADD COLUMN sha384 TEXT;
ALTER TABLE revisions ADD COLUMN config_yaml TEXT;
ALTER TABLE revisions ADD COLUMN actions_yaml TEXT;
UPDATE revisions SET sha384 = ''
WHERE deleted_at IS NULL AND package_id IN (SELECT id FROM packages WHERE namespace = 'charm');

CREATE INDEX revisions_to_read ON revisions (package_id, revision) WHERE sha384 = '' AND deleted_at IS NULL;
