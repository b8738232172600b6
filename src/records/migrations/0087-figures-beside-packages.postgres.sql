-- The same as PostgreSQL reads it: its triggers do what functions say.
ALTER TABLE packages ADD COLUMN revisions BIGINT NOT NULL DEFAULT 0;
ALTER TABLE packages ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;

DROP TRIGGER packages_changed ON packages;
UPDATE packages SET revisions = figures.revisions, bytes = figures.bytes
  FROM package_figures AS figures WHERE figures.package_id = packages.id;
CREATE TRIGGER packages_changed AFTER UPDATE OF id, namespace, name, type, publisher_id, private, status, title, summary, description, default_track, links, icon, created_at, manual_review, edited ON packages FOR EACH ROW EXECUTE FUNCTION packages_changed();

CREATE FUNCTION figures_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE packages SET revisions = NEW.revisions, bytes = NEW.bytes WHERE id = NEW.package_id; RETURN NEW; END $$;
CREATE TRIGGER figures_changed AFTER UPDATE OF revisions, bytes ON package_figures FOR EACH ROW EXECUTE FUNCTION figures_changed();
