-- Deltas between two revisions of a snap. They are made of the revisions' files and can be made again: they are in no backup and
-- tell nothing that is not known otherwise. One that was too large, or went wrong, is remembered without content.
CREATE TABLE passing_deltas (
  package_id  TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE ON UPDATE CASCADE,
  source      INTEGER NOT NULL,
  target      INTEGER NOT NULL,
  -- Of the delta; nothing where there is none, and then its size is the one that it was larger than.
  sha3_384    TEXT,
  size        INTEGER NOT NULL,
  -- When the target was released: what was released first goes first where there is no room.
  released_at TEXT NOT NULL,
  PRIMARY KEY (package_id, source, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX passing_deltas_by_content ON passing_deltas (sha3_384);
CREATE INDEX passing_deltas_by_release ON passing_deltas (released_at);

-- The snaps of which something was released since their deltas were made. Triggers name them, because what is released has no
-- statement of its own; the number tells whether more came meanwhile.
CREATE TABLE passing_delta_work (
  package_id TEXT NOT NULL PRIMARY KEY,
  version    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER delta_release_added AFTER INSERT ON releases BEGIN UPDATE passing_delta_work SET version = version + 1 WHERE package_id = NEW.package_id; INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = NEW.package_id AND namespace = 'snap' AND NOT EXISTS (SELECT 1 FROM passing_delta_work WHERE package_id = NEW.package_id); END;
CREATE TRIGGER delta_release_changed AFTER UPDATE OF revision ON releases BEGIN UPDATE passing_delta_work SET version = version + 1 WHERE package_id = NEW.package_id; INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = NEW.package_id AND namespace = 'snap' AND NOT EXISTS (SELECT 1 FROM passing_delta_work WHERE package_id = NEW.package_id); END;
CREATE TRIGGER delta_release_removed AFTER DELETE ON releases BEGIN UPDATE passing_delta_work SET version = version + 1 WHERE package_id = OLD.package_id; INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = OLD.package_id AND namespace = 'snap' AND NOT EXISTS (SELECT 1 FROM passing_delta_work WHERE package_id = OLD.package_id); END;
-- With the file of a revision goes what was made of it.
CREATE TRIGGER delta_revision_deleted AFTER UPDATE OF deleted_at ON revisions WHEN NEW.deleted_at IS NOT NULL BEGIN DELETE FROM passing_deltas WHERE package_id = NEW.package_id AND (source = NEW.revision OR target = NEW.revision); END;

INSERT INTO noun_versions (noun) VALUES ('deltas');
CREATE TRIGGER deltas_added AFTER INSERT ON passing_deltas BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'deltas'; END;
CREATE TRIGGER deltas_changed AFTER UPDATE ON passing_deltas BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'deltas'; END;
CREATE TRIGGER deltas_removed AFTER DELETE ON passing_deltas BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'deltas'; END;

-- Of deltas, and of transfers, whose tables came just before.
DROP VIEW needed_contents;
CREATE VIEW needed_contents (sha3_384) AS
  SELECT sha3_384 FROM uploads
  WHERE NOT EXISTS (
    SELECT 1 FROM revisions
    WHERE revisions.package_id = uploads.package_id AND revisions.sha3_384 = uploads.sha3_384
      AND revisions.deleted_at IS NOT NULL AND uploads.status IN ('approved', 'rejected') AND uploads.resource IS NULL)
    AND NOT EXISTS (
    SELECT 1 FROM resource_revisions AS component
    WHERE component.package_id = uploads.package_id AND component.name = uploads.resource
      AND component.sha3_384 = uploads.sha3_384
      AND component.deleted_at IS NOT NULL AND uploads.status IN ('approved', 'rejected'))
  UNION ALL SELECT sha3_384 FROM revisions WHERE deleted_at IS NULL
  UNION ALL SELECT sha3_384 FROM resource_revisions WHERE deleted_at IS NULL
  UNION ALL SELECT sha3_384 FROM image_blobs
  UNION ALL SELECT sha3_384 FROM image_manifests
  UNION ALL SELECT substr(icon, 1, 96) FROM uploads WHERE icon IS NOT NULL
  UNION ALL SELECT substr(icon, 1, 96) FROM packages WHERE icon IS NOT NULL
  UNION ALL SELECT statement FROM transfers WHERE status <> 'discarded'
  UNION ALL SELECT statement FROM made_transfers
  UNION ALL SELECT sha3_384 FROM passing_transfer_contents
  UNION ALL SELECT sha3_384 FROM passing_deltas WHERE sha3_384 IS NOT NULL;
