-- Not beside older releases: they would count what somebody publishes without the newest of it.
-- The same as PostgreSQL reads it: its triggers do what functions say.
ALTER TABLE noun_versions ADD COLUMN publisher_id TEXT COLLATE "C";
ALTER TABLE noun_versions ADD COLUMN publisher_packages BIGINT NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION package_counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE publisher_figures SET packages = packages + (SELECT publisher_packages FROM noun_versions WHERE noun = 'packages')
    WHERE publisher_id = (
      SELECT last.publisher_id FROM noun_versions AS last WHERE noun = 'packages' AND last.publisher_id <> NEW.publisher_id);
  INSERT INTO publisher_figures (publisher_id)
    SELECT NEW.publisher_id WHERE NOT EXISTS (SELECT 1 FROM publisher_figures WHERE publisher_id = NEW.publisher_id);
  UPDATE noun_versions
    SET publisher_packages = CASE publisher_id WHEN NEW.publisher_id THEN publisher_packages + 1 ELSE 1 END,
      publisher_id = NEW.publisher_id
    WHERE noun = 'packages'; RETURN NEW; END $$;

CREATE VIEW publishers (publisher_id, bytes, packages) AS
SELECT publisher_id, bytes, packages + CASE publisher_id
    WHEN (SELECT last.publisher_id FROM noun_versions AS last WHERE noun = 'packages')
    THEN (SELECT publisher_packages FROM noun_versions WHERE noun = 'packages') ELSE 0 END
FROM publisher_figures;
