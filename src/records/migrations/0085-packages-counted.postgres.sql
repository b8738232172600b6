-- The same as PostgreSQL reads it: its triggers do what functions say.
ALTER TABLE publisher_figures ADD COLUMN packages BIGINT NOT NULL DEFAULT 0;
INSERT INTO publisher_figures (publisher_id)
  SELECT DISTINCT publisher_id FROM packages
  WHERE NOT EXISTS (SELECT 1 FROM publisher_figures AS known WHERE known.publisher_id = packages.publisher_id);
UPDATE publisher_figures SET packages = (SELECT count(*) FROM packages WHERE packages.publisher_id = publisher_figures.publisher_id);

CREATE FUNCTION package_counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO publisher_figures (publisher_id, packages) VALUES (NEW.publisher_id, 1)
    ON CONFLICT (publisher_id) DO UPDATE SET packages = publisher_figures.packages + 1; RETURN NEW; END $$;
CREATE TRIGGER package_counted AFTER INSERT ON packages FOR EACH ROW EXECUTE FUNCTION package_counted();
CREATE FUNCTION package_counted_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE publisher_figures SET packages = packages - 1 WHERE publisher_id = OLD.publisher_id; RETURN OLD; END $$;
CREATE TRIGGER package_counted_off AFTER DELETE ON packages FOR EACH ROW EXECUTE FUNCTION package_counted_off();
CREATE OR REPLACE FUNCTION package_handed_over() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.publisher_id <> OLD.publisher_id THEN UPDATE publisher_figures SET packages = packages - 1, bytes = bytes - (
    SELECT coalesce(sum(mine.size), 0) FROM kept_contents AS mine
    WHERE mine.package_id = NEW.id AND NOT EXISTS (
      SELECT 1 FROM kept_contents AS other JOIN package_figures AS owner ON owner.package_id = other.package_id
      WHERE other.sha3_384 = mine.sha3_384 AND other.package_id <> mine.package_id AND owner.publisher_id = OLD.publisher_id))
    WHERE publisher_id = OLD.publisher_id;
  INSERT INTO publisher_figures (publisher_id, packages) VALUES (NEW.publisher_id, 1)
    ON CONFLICT (publisher_id) DO UPDATE SET packages = publisher_figures.packages + 1;
  UPDATE publisher_figures SET bytes = bytes + (
    SELECT coalesce(sum(mine.size), 0) FROM kept_contents AS mine
    WHERE mine.package_id = NEW.id AND NOT EXISTS (
      SELECT 1 FROM kept_contents AS other JOIN package_figures AS owner ON owner.package_id = other.package_id
      WHERE other.sha3_384 = mine.sha3_384 AND other.package_id <> mine.package_id AND owner.publisher_id = NEW.publisher_id))
    WHERE publisher_id = NEW.publisher_id;
  UPDATE package_figures SET publisher_id = NEW.publisher_id WHERE package_id = NEW.id; END IF; RETURN NEW; END $$;
CREATE OR REPLACE FUNCTION content_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO package_figures (package_id, publisher_id)
    SELECT id, publisher_id FROM packages
    WHERE id = NEW.package_id AND NOT EXISTS (SELECT 1 FROM package_figures WHERE package_id = NEW.package_id);
  UPDATE package_figures SET bytes = bytes + NEW.size WHERE package_id = NEW.package_id;
  UPDATE publisher_figures SET bytes = bytes + NEW.size
    WHERE publisher_id = (SELECT publisher_id FROM package_figures WHERE package_id = NEW.package_id)
      AND NOT EXISTS (
        SELECT 1 FROM kept_contents AS other JOIN package_figures AS owner ON owner.package_id = other.package_id
        WHERE other.sha3_384 = NEW.sha3_384 AND other.package_id <> NEW.package_id
          AND owner.publisher_id = publisher_figures.publisher_id);
  UPDATE noun_versions SET bytes = bytes + NEW.size
    WHERE noun = 'packages'
      AND NOT EXISTS (SELECT 1 FROM kept_contents WHERE sha3_384 = NEW.sha3_384 AND package_id <> NEW.package_id); RETURN NEW; END $$;

DROP INDEX package_figures_by_bytes;
CREATE INDEX package_figures_by_bytes ON package_figures (bytes, package_id);
DROP INDEX publisher_figures_by_bytes;
CREATE INDEX publisher_figures_by_bytes ON publisher_figures (bytes, publisher_id);
