-- What is asked of the whole store is kept as figures, and not counted anew: at a million revisions it took seconds to count.
-- Nothing here is known from these tables alone, so their rows have no digests.

-- The view package_contents, row for row.
CREATE TABLE kept_contents (
  package_id TEXT NOT NULL,
  sha3_384   TEXT NOT NULL,
  size       INTEGER NOT NULL,
  PRIMARY KEY (package_id, sha3_384)
) STRICT, WITHOUT ROWID;
INSERT INTO kept_contents SELECT package_id, sha3_384, max(size) FROM package_contents GROUP BY package_id, sha3_384;
CREATE INDEX kept_contents_by_content ON kept_contents (sha3_384, package_id);

-- Of packages that keep something or did.
CREATE TABLE package_figures (
  package_id   TEXT NOT NULL PRIMARY KEY,
  publisher_id TEXT NOT NULL,
  revisions    INTEGER NOT NULL DEFAULT 0,
  bytes        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO package_figures
  SELECT package_id, publisher_id, 0, sum(size)
  FROM kept_contents JOIN packages ON packages.id = package_id GROUP BY package_id;
UPDATE package_figures SET revisions = (
  SELECT count(*) FROM revisions WHERE revisions.package_id = package_figures.package_id AND deleted_at IS NULL);
CREATE INDEX package_figures_by_bytes ON package_figures (bytes);

-- What several packages of one publisher share counts once.
CREATE TABLE publisher_figures (
  publisher_id TEXT NOT NULL PRIMARY KEY,
  bytes        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO publisher_figures
  SELECT publisher_id, sum(size) FROM (
    SELECT DISTINCT publisher_id, sha3_384, size
    FROM kept_contents JOIN package_figures ON package_figures.package_id = kept_contents.package_id)
  GROUP BY publisher_id;
CREATE INDEX publisher_figures_by_bytes ON publisher_figures (bytes);

-- How many rows a table has, deleted revisions aside; and what all packages keep, in the row of the packages. They stand where
-- each change of those tables writes anyway.
ALTER TABLE noun_versions ADD COLUMN row_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE noun_versions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE noun_versions SET row_count = (SELECT count(*) FROM packages),
  bytes = (SELECT coalesce(sum(size), 0) FROM (SELECT DISTINCT sha3_384, size FROM kept_contents))
WHERE noun = 'packages';
UPDATE noun_versions SET row_count = (SELECT count(*) FROM revisions WHERE deleted_at IS NULL) WHERE noun = 'revisions';
UPDATE noun_versions SET row_count = (SELECT count(*) FROM uploads) WHERE noun = 'uploads';

DROP TRIGGER packages_added;
DROP TRIGGER packages_removed;
DROP TRIGGER revisions_added;
DROP TRIGGER revisions_changed;
DROP TRIGGER revisions_removed;
DROP TRIGGER uploads_added;
DROP TRIGGER uploads_removed;
CREATE TRIGGER packages_added AFTER INSERT ON packages BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + 1 WHERE noun = 'packages'; END;
CREATE TRIGGER packages_removed AFTER DELETE ON packages BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count - 1 WHERE noun = 'packages'; END;
CREATE TRIGGER revisions_added AFTER INSERT ON revisions BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + (NEW.deleted_at IS NULL) WHERE noun = 'revisions'; END;
CREATE TRIGGER revisions_changed AFTER UPDATE ON revisions BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + (NEW.deleted_at IS NULL) - (OLD.deleted_at IS NULL) WHERE noun = 'revisions'; END;
CREATE TRIGGER revisions_removed AFTER DELETE ON revisions BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count - (OLD.deleted_at IS NULL) WHERE noun = 'revisions'; END;
CREATE TRIGGER uploads_added AFTER INSERT ON uploads BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + 1 WHERE noun = 'uploads'; END;
CREATE TRIGGER uploads_removed AFTER DELETE ON uploads BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count - 1 WHERE noun = 'uploads'; END;

-- What is kept adds to its package, to the publisher when no other package of his keeps it, and to all when no other one does.
CREATE TRIGGER content_kept AFTER INSERT ON kept_contents BEGIN
  INSERT INTO package_figures (package_id, publisher_id)
    SELECT id, publisher_id FROM packages
    WHERE id = NEW.package_id AND NOT EXISTS (SELECT 1 FROM package_figures WHERE package_id = NEW.package_id);
  UPDATE package_figures SET bytes = bytes + NEW.size WHERE package_id = NEW.package_id;
  INSERT INTO publisher_figures (publisher_id)
    SELECT publisher_id FROM package_figures
    WHERE package_id = NEW.package_id AND publisher_id NOT IN (SELECT publisher_id FROM publisher_figures);
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
CREATE TRIGGER content_gone AFTER DELETE ON kept_contents BEGIN
  UPDATE package_figures SET bytes = bytes - OLD.size WHERE package_id = OLD.package_id;
  UPDATE publisher_figures SET bytes = bytes - OLD.size
    WHERE publisher_id = (SELECT publisher_id FROM package_figures WHERE package_id = OLD.package_id)
      AND NOT EXISTS (
        SELECT 1 FROM kept_contents AS other JOIN package_figures AS owner ON owner.package_id = other.package_id
        WHERE other.sha3_384 = OLD.sha3_384 AND owner.publisher_id = publisher_figures.publisher_id);
  UPDATE noun_versions SET bytes = bytes - OLD.size
    WHERE noun = 'packages' AND NOT EXISTS (SELECT 1 FROM kept_contents WHERE sha3_384 = OLD.sha3_384);
END;

-- Whatever changes in the tables that the view gathers, it alone says what a package keeps of that content now.
CREATE VIEW touched_contents (package_id, sha3_384) AS SELECT package_id, sha3_384 FROM kept_contents;
CREATE TRIGGER touch_content INSTEAD OF INSERT ON touched_contents BEGIN
  INSERT INTO kept_contents
    SELECT package_id, sha3_384, size FROM package_contents
    WHERE package_id = NEW.package_id AND sha3_384 = NEW.sha3_384
      AND NOT EXISTS (
        SELECT 1 FROM kept_contents AS known WHERE known.package_id = NEW.package_id AND known.sha3_384 = NEW.sha3_384)
    LIMIT 1;
  DELETE FROM kept_contents
    WHERE package_id = NEW.package_id AND sha3_384 = NEW.sha3_384
      AND NOT EXISTS (
        SELECT 1 FROM package_contents AS held WHERE held.package_id = NEW.package_id AND held.sha3_384 = NEW.sha3_384);
END;

CREATE TRIGGER revision_content_added AFTER INSERT ON revisions BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
  UPDATE package_figures SET revisions = revisions + (NEW.deleted_at IS NULL) WHERE package_id = NEW.package_id;
END;
CREATE TRIGGER revision_content_changed AFTER UPDATE OF deleted_at ON revisions BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
  UPDATE package_figures SET revisions = revisions + (NEW.deleted_at IS NULL) - (OLD.deleted_at IS NULL) WHERE package_id = NEW.package_id;
END;
CREATE TRIGGER revision_content_removed AFTER DELETE ON revisions BEGIN
  INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
  UPDATE package_figures SET revisions = revisions - (OLD.deleted_at IS NULL) WHERE package_id = OLD.package_id;
END;

CREATE TRIGGER resource_content_added AFTER INSERT ON resource_revisions BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER resource_content_changed AFTER UPDATE ON resource_revisions WHEN NEW.package_id = OLD.package_id BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER resource_content_removed AFTER DELETE ON resource_revisions BEGIN
  INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
END;

CREATE TRIGGER image_blob_added AFTER INSERT ON image_blobs BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER image_blob_removed AFTER DELETE ON image_blobs BEGIN
  INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
END;

CREATE TRIGGER image_manifest_added AFTER INSERT ON image_manifests BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER image_manifest_removed AFTER DELETE ON image_manifests BEGIN
  INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
END;

-- Only what waits for its review counts here; what nobody has claimed is no package's.
CREATE TRIGGER upload_content_added AFTER INSERT ON uploads WHEN NEW.package_id IS NOT NULL BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER upload_content_changed AFTER UPDATE OF status ON uploads WHEN NEW.package_id IS NOT NULL BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER upload_content_removed AFTER DELETE ON uploads WHEN OLD.status IN ('new', 'scanned') BEGIN
  INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
END;

-- A package that gets another id takes all along; one that goes leaves nothing.
CREATE TRIGGER package_renamed AFTER UPDATE OF id ON packages WHEN NEW.id <> OLD.id BEGIN
  UPDATE kept_contents SET package_id = NEW.id WHERE package_id = OLD.id;
  UPDATE package_figures SET package_id = NEW.id WHERE package_id = OLD.id;
END;
CREATE TRIGGER package_gone AFTER DELETE ON packages BEGIN
  DELETE FROM kept_contents WHERE package_id = OLD.id;
  DELETE FROM package_figures WHERE package_id = OLD.id;
END;

-- A package that is handed over takes from one publisher what no other package of his keeps, and gives likewise.
CREATE TRIGGER package_handed_over AFTER UPDATE OF publisher_id ON packages WHEN NEW.publisher_id <> OLD.publisher_id BEGIN
  UPDATE publisher_figures SET bytes = bytes - (
    SELECT coalesce(sum(mine.size), 0) FROM kept_contents AS mine
    WHERE mine.package_id = NEW.id AND NOT EXISTS (
      SELECT 1 FROM kept_contents AS other JOIN package_figures AS owner ON owner.package_id = other.package_id
      WHERE other.sha3_384 = mine.sha3_384 AND other.package_id <> mine.package_id AND owner.publisher_id = OLD.publisher_id))
    WHERE publisher_id = OLD.publisher_id;
  INSERT INTO publisher_figures (publisher_id)
    SELECT NEW.publisher_id
    WHERE NOT EXISTS (SELECT 1 FROM publisher_figures WHERE publisher_id = NEW.publisher_id)
      AND EXISTS (SELECT 1 FROM package_figures WHERE package_id = NEW.id);
  UPDATE publisher_figures SET bytes = bytes + (
    SELECT coalesce(sum(mine.size), 0) FROM kept_contents AS mine
    WHERE mine.package_id = NEW.id AND NOT EXISTS (
      SELECT 1 FROM kept_contents AS other JOIN package_figures AS owner ON owner.package_id = other.package_id
      WHERE other.sha3_384 = mine.sha3_384 AND other.package_id <> mine.package_id AND owner.publisher_id = NEW.publisher_id))
    WHERE publisher_id = NEW.publisher_id;
  UPDATE package_figures SET publisher_id = NEW.publisher_id WHERE package_id = NEW.id;
END;

-- It was there to be added up.
DROP INDEX revisions_by_size;

-- How many were rejected is counted among these alone.
CREATE INDEX uploads_rejected ON uploads (seq) WHERE status = 'rejected';
