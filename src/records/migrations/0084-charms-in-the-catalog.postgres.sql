-- Not beside older releases: they look for the catalog under its former name.
-- The same as PostgreSQL reads it: its triggers do what functions say, which a renamed table does not change.
ALTER TABLE catalog_snaps RENAME TO catalog_packages;
ALTER TABLE catalog_packages ADD COLUMN namespace TEXT COLLATE "C" NOT NULL DEFAULT 'snap';
DROP INDEX catalog_snaps_by_name;
CREATE INDEX catalog_packages_by_name ON catalog_packages (namespace, name);
INSERT INTO catalog_stale SELECT id FROM packages WHERE namespace = 'charm' AND status = 'published' AND private = 0 AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id);

CREATE OR REPLACE FUNCTION catalog_release_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); RETURN NEW; END $$;
CREATE OR REPLACE FUNCTION catalog_release_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); RETURN NEW; END $$;
CREATE OR REPLACE FUNCTION catalog_release_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = OLD.package_id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = OLD.package_id); RETURN OLD; END $$;
CREATE OR REPLACE FUNCTION catalog_package_hidden() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.private = 1 THEN DELETE FROM catalog_packages WHERE package_id = NEW.id; END IF; RETURN NEW; END $$;
CREATE OR REPLACE FUNCTION catalog_package_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.namespace IN ('snap', 'charm') THEN INSERT INTO catalog_stale SELECT NEW.id WHERE NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.id); END IF; RETURN NEW; END $$;
DROP TRIGGER catalog_package_changed ON packages;
CREATE TRIGGER catalog_package_changed AFTER UPDATE OF id, name, type, publisher_id, private, status, title, summary, default_track ON packages FOR EACH ROW EXECUTE FUNCTION catalog_package_changed();
CREATE FUNCTION catalog_charm_read() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.details <> OLD.details THEN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace = 'charm' AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); END IF; RETURN NEW; END $$;
CREATE TRIGGER catalog_charm_read AFTER UPDATE OF details ON revisions FOR EACH ROW EXECUTE FUNCTION catalog_charm_read();
CREATE FUNCTION catalog_publisher_renamed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.username <> OLD.username THEN INSERT INTO catalog_stale SELECT id FROM packages WHERE publisher_id = NEW.id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END IF; RETURN NEW; END $$;
CREATE TRIGGER catalog_publisher_renamed AFTER UPDATE OF username ON accounts FOR EACH ROW EXECUTE FUNCTION catalog_publisher_renamed();

CREATE OR REPLACE FUNCTION catalog_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.namespace = 'snap' THEN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END IF; RETURN NEW; END $$;
CREATE OR REPLACE FUNCTION catalog_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.namespace = 'snap' THEN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END IF; RETURN NEW; END $$;
CREATE OR REPLACE FUNCTION catalog_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF OLD.namespace = 'snap' THEN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END IF; RETURN OLD; END $$;
