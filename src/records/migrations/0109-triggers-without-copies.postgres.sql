-- The triggers of each registration and each release, with fewer statements.
CREATE OR REPLACE FUNCTION package_counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE publisher_figures SET packages = packages + (SELECT publisher_packages FROM noun_versions WHERE noun = 'packages')
    WHERE publisher_id = (
      SELECT last.publisher_id FROM noun_versions AS last WHERE noun = 'packages' AND last.publisher_id <> NEW.publisher_id);
  INSERT INTO publisher_figures (publisher_id) VALUES (NEW.publisher_id) ON CONFLICT (publisher_id) DO NOTHING;
  UPDATE noun_versions
    SET publisher_packages = CASE publisher_id WHEN NEW.publisher_id THEN publisher_packages + 1 ELSE 1 END,
      publisher_id = NEW.publisher_id
    WHERE noun = 'packages'; RETURN NEW; END $$;
CREATE OR REPLACE FUNCTION catalog_release_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') ON CONFLICT (package_id) DO NOTHING; RETURN NEW; END $$;
CREATE OR REPLACE FUNCTION catalog_release_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') ON CONFLICT (package_id) DO NOTHING; RETURN NEW; END $$;
CREATE OR REPLACE FUNCTION delta_release_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = NEW.package_id AND namespace = 'snap' ON CONFLICT (package_id) DO UPDATE SET version = passing_delta_work.version + 1; RETURN NEW; END $$;
CREATE OR REPLACE FUNCTION delta_release_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = NEW.package_id AND namespace = 'snap' ON CONFLICT (package_id) DO UPDATE SET version = passing_delta_work.version + 1; RETURN NEW; END $$;
