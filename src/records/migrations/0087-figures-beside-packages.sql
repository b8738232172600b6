-- What a package keeps stands in its own row too, where lists of packages read it: each row of a list found its figures under a
-- random id, a page for each package, which at a hundred thousand of them cost as much as the row itself.
ALTER TABLE packages ADD COLUMN revisions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE packages ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

-- Nothing that is told of packages by their version changes with them.
DROP TRIGGER packages_changed;
UPDATE packages SET revisions = figures.revisions, bytes = figures.bytes
  FROM package_figures AS figures WHERE figures.package_id = packages.id;
CREATE TRIGGER packages_changed AFTER UPDATE OF id, namespace, name, type, publisher_id, private, status, title, summary, description, default_track, links, icon, created_at, manual_review, edited ON packages BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'packages'; END;

CREATE TRIGGER figures_changed AFTER UPDATE OF revisions, bytes ON package_figures BEGIN
  UPDATE packages SET revisions = NEW.revisions, bytes = NEW.bytes WHERE id = NEW.package_id;
END;
