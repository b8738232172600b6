-- Not beside older releases: they would count what somebody publishes without the newest of it.
-- Who registers a name often registers several. How many of the newest packages are of one publisher stands in the row that each of
-- them writes anyway, and comes to his figure when somebody else registers one: of ten pages that a name wrote, his figure was one.
ALTER TABLE noun_versions ADD COLUMN publisher_id TEXT;
ALTER TABLE noun_versions ADD COLUMN publisher_packages INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER package_counted;
CREATE TRIGGER package_counted AFTER INSERT ON packages BEGIN
  UPDATE publisher_figures SET packages = packages + (SELECT publisher_packages FROM noun_versions WHERE noun = 'packages')
    WHERE publisher_id = (
      SELECT last.publisher_id FROM noun_versions AS last WHERE noun = 'packages' AND last.publisher_id <> NEW.publisher_id);
  INSERT INTO publisher_figures (publisher_id)
    SELECT NEW.publisher_id WHERE NOT EXISTS (SELECT 1 FROM publisher_figures WHERE publisher_id = NEW.publisher_id);
  UPDATE noun_versions
    SET publisher_packages = CASE publisher_id WHEN NEW.publisher_id THEN publisher_packages + 1 ELSE 1 END,
      publisher_id = NEW.publisher_id
    WHERE noun = 'packages';
END;

-- What everybody has who publishes.
CREATE VIEW publishers (publisher_id, bytes, packages) AS
SELECT publisher_id, bytes, packages + CASE publisher_id
    WHEN (SELECT last.publisher_id FROM noun_versions AS last WHERE noun = 'packages')
    THEN (SELECT publisher_packages FROM noun_versions WHERE noun = 'packages') ELSE 0 END
FROM publisher_figures;
