-- How many packages somebody publishes is kept as a figure: to list a hundred publishers counted ten thousand packages, and who had
-- a thousand names paid for all of them with the next one. So everybody who publishes has a row, whatever his packages keep.
ALTER TABLE publisher_figures ADD COLUMN packages INTEGER NOT NULL DEFAULT 0;
INSERT INTO publisher_figures (publisher_id)
  SELECT DISTINCT publisher_id FROM packages
  WHERE NOT EXISTS (SELECT 1 FROM publisher_figures AS known WHERE known.publisher_id = packages.publisher_id);
UPDATE publisher_figures SET packages = (SELECT count(*) FROM packages WHERE packages.publisher_id = publisher_figures.publisher_id);

CREATE TRIGGER package_counted AFTER INSERT ON packages BEGIN
  INSERT INTO publisher_figures (publisher_id, packages) VALUES (NEW.publisher_id, 1)
    ON CONFLICT (publisher_id) DO UPDATE SET packages = publisher_figures.packages + 1;
END;
CREATE TRIGGER package_counted_off AFTER DELETE ON packages BEGIN
  UPDATE publisher_figures SET packages = packages - 1 WHERE publisher_id = OLD.publisher_id;
END;
DROP TRIGGER package_handed_over;
CREATE TRIGGER package_handed_over AFTER UPDATE OF publisher_id ON packages WHEN NEW.publisher_id <> OLD.publisher_id BEGIN
  UPDATE publisher_figures SET packages = packages - 1, bytes = bytes - (
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
  UPDATE package_figures SET publisher_id = NEW.publisher_id WHERE package_id = NEW.id;
END;

-- The row of the publisher is there already; to look whether it is not read those of all on PostgreSQL.
DROP TRIGGER content_kept;
CREATE TRIGGER content_kept AFTER INSERT ON kept_contents BEGIN
  INSERT INTO package_figures (package_id, publisher_id)
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
      AND NOT EXISTS (SELECT 1 FROM kept_contents WHERE sha3_384 = NEW.sha3_384 AND package_id <> NEW.package_id);
END;

-- In the order in which the largest are listed: SQLite has the key in every index, and PostgreSQL sorted all that are of one size.
DROP INDEX package_figures_by_bytes;
CREATE INDEX package_figures_by_bytes ON package_figures (bytes, package_id);
DROP INDEX publisher_figures_by_bytes;
CREATE INDEX publisher_figures_by_bytes ON publisher_figures (bytes, publisher_id);
