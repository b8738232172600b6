-- Not beside older releases: they look for the catalog under its former name.
-- Charms and bundles are found by words, as snaps are: the catalog holds them all. A charm has no entry in the list of all names.
ALTER TABLE catalog_snaps RENAME TO catalog_packages;
ALTER TABLE catalog_packages ADD COLUMN namespace TEXT NOT NULL DEFAULT 'snap';
DROP INDEX catalog_snaps_by_name;
CREATE INDEX catalog_packages_by_name ON catalog_packages (namespace, name);
INSERT INTO catalog_stale SELECT id FROM packages WHERE namespace = 'charm' AND status = 'published' AND private = 0 AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id);

DROP TRIGGER catalog_release_added;
DROP TRIGGER catalog_release_changed;
DROP TRIGGER catalog_release_removed;
DROP TRIGGER catalog_package_changed;
DROP TRIGGER catalog_package_hidden;
CREATE TRIGGER catalog_release_added AFTER INSERT ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); END;
CREATE TRIGGER catalog_release_changed AFTER UPDATE ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); END;
CREATE TRIGGER catalog_release_removed AFTER DELETE ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = OLD.package_id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = OLD.package_id); END;
CREATE TRIGGER catalog_package_changed AFTER UPDATE OF id, name, type, publisher_id, private, status, title, summary, default_track ON packages WHEN NEW.namespace IN ('snap', 'charm') BEGIN INSERT INTO catalog_stale SELECT NEW.id WHERE NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.id); END;
CREATE TRIGGER catalog_package_hidden AFTER UPDATE OF private ON packages WHEN NEW.private = 1 BEGIN DELETE FROM catalog_packages WHERE package_id = NEW.id; END;
-- A charm that was here before juju was answered is read once more for it.
CREATE TRIGGER catalog_charm_read AFTER UPDATE OF details ON revisions WHEN NEW.details <> OLD.details BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace = 'charm' AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); END;
-- Both are found by the name of their publisher.
CREATE TRIGGER catalog_publisher_renamed AFTER UPDATE OF username ON accounts WHEN NEW.username <> OLD.username BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE publisher_id = NEW.id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END;

-- The list of all names changes with snaps alone.
DROP TRIGGER catalog_added;
DROP TRIGGER catalog_changed;
DROP TRIGGER catalog_removed;
CREATE TRIGGER catalog_added AFTER INSERT ON catalog_packages WHEN NEW.namespace = 'snap' BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END;
CREATE TRIGGER catalog_changed AFTER UPDATE ON catalog_packages WHEN NEW.namespace = 'snap' BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END;
CREATE TRIGGER catalog_removed AFTER DELETE ON catalog_packages WHEN OLD.namespace = 'snap' BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END;
