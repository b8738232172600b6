-- The catalog of what devices find: public snaps that some channel holds for everybody, and the words by which they are found.
-- It is made of the records, package by package; its words have no digests, because they can be made anew.
CREATE TABLE catalog_snaps (
  package_id  TEXT NOT NULL PRIMARY KEY REFERENCES packages (id) ON DELETE CASCADE ON UPDATE CASCADE,
  name        TEXT NOT NULL,
  confinement TEXT NOT NULL,
  -- What the list of all names says of it, as JSON.
  entry       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX catalog_snaps_by_name ON catalog_snaps (name);

-- What was said of a snap, and where it is: see domain/catalog.ts. The less a word weighs the more it says.
CREATE TABLE catalog_words (
  word       TEXT NOT NULL,
  package_id TEXT NOT NULL REFERENCES catalog_snaps (package_id) ON DELETE CASCADE ON UPDATE CASCADE,
  weight     INTEGER NOT NULL,
  PRIMARY KEY (word, package_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX catalog_words_by_package ON catalog_words (package_id, word);

-- The snaps of which the catalog has to be made anew. Triggers name them, because what changes with another table has no
-- statement of its own.
CREATE TABLE catalog_stale (package_id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO catalog_stale SELECT id FROM packages WHERE namespace = 'snap' AND status = 'published' AND private = 0;

CREATE TRIGGER catalog_release_added AFTER INSERT ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace = 'snap' AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); END;
CREATE TRIGGER catalog_release_changed AFTER UPDATE ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace = 'snap' AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); END;
CREATE TRIGGER catalog_release_removed AFTER DELETE ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = OLD.package_id AND namespace = 'snap' AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = OLD.package_id); END;
CREATE TRIGGER catalog_package_changed AFTER UPDATE OF id, name, publisher_id, private, status, title, summary, default_track ON packages WHEN NEW.namespace = 'snap' BEGIN INSERT INTO catalog_stale SELECT NEW.id WHERE NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.id); END;
-- The aliases that a declaration gives a snap.
CREATE TRIGGER catalog_declaration_added AFTER INSERT ON assertions WHEN NEW.type = 'snap-declaration' BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = substr(NEW.name, 21) AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END;
CREATE TRIGGER catalog_declaration_changed AFTER UPDATE ON assertions WHEN NEW.type = 'snap-declaration' BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = substr(NEW.name, 21) AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END;
-- What is private from now on is found by nobody, also before the catalog is made anew.
CREATE TRIGGER catalog_package_hidden AFTER UPDATE OF private ON packages WHEN NEW.private = 1 BEGIN DELETE FROM catalog_snaps WHERE package_id = NEW.id; END;

INSERT INTO noun_versions (noun) VALUES ('catalog');
CREATE TRIGGER catalog_added AFTER INSERT ON catalog_snaps BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END;
CREATE TRIGGER catalog_changed AFTER UPDATE ON catalog_snaps BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END;
CREATE TRIGGER catalog_removed AFTER DELETE ON catalog_snaps BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END;
