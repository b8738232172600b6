-- Triggers of each registration and each release. SQLite copies the rows of an INSERT that reads its own table into a temporary table first.
DROP TRIGGER package_counted;
CREATE TRIGGER package_counted AFTER INSERT ON packages BEGIN
  UPDATE publisher_figures SET packages = packages + (SELECT publisher_packages FROM noun_versions WHERE noun = 'packages')
    WHERE publisher_id = (
      SELECT last.publisher_id FROM noun_versions AS last WHERE noun = 'packages' AND last.publisher_id <> NEW.publisher_id);
  INSERT INTO publisher_figures (publisher_id) VALUES (NEW.publisher_id) ON CONFLICT (publisher_id) DO NOTHING;
  UPDATE noun_versions
    SET publisher_packages = CASE publisher_id WHEN NEW.publisher_id THEN publisher_packages + 1 ELSE 1 END,
      publisher_id = NEW.publisher_id
    WHERE noun = 'packages';
END;
DROP TRIGGER catalog_release_added;
CREATE TRIGGER catalog_release_added AFTER INSERT ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') ON CONFLICT (package_id) DO NOTHING; END;
DROP TRIGGER catalog_release_changed;
CREATE TRIGGER catalog_release_changed AFTER UPDATE ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') ON CONFLICT (package_id) DO NOTHING; END;
DROP TRIGGER delta_release_added;
CREATE TRIGGER delta_release_added AFTER INSERT ON releases BEGIN INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = NEW.package_id AND namespace = 'snap' ON CONFLICT (package_id) DO UPDATE SET version = passing_delta_work.version + 1; END;
DROP TRIGGER delta_release_changed;
CREATE TRIGGER delta_release_changed AFTER UPDATE OF revision ON releases BEGIN INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = NEW.package_id AND namespace = 'snap' ON CONFLICT (package_id) DO UPDATE SET version = passing_delta_work.version + 1; END;
