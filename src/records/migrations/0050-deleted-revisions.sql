-- A revision that was deleted keeps its number, its digest and the reason, so that its number is never given again; its bytes go,
-- unless something else needs them.
ALTER TABLE revisions ADD COLUMN deleted_at TEXT;
ALTER TABLE revisions ADD COLUMN deleted_by TEXT;
ALTER TABLE revisions ADD COLUMN deleted_because TEXT;

DROP INDEX revisions_to_sign;
CREATE INDEX revisions_to_sign ON revisions (package_id, revision)
  WHERE assertion IS NULL AND withdrawn_at IS NULL AND deleted_at IS NULL AND package_yaml LIKE '%provenance:%';
DROP INDEX revisions_by_size;
CREATE INDEX revisions_by_size ON revisions (package_id, sha3_384, size) WHERE deleted_at IS NULL;
DROP INDEX revisions_by_content;
CREATE INDEX revisions_by_content ON revisions (sha3_384) WHERE deleted_at IS NULL;

-- Uploads that are decided go with the revision that they became, or that they were another copy of.
DROP VIEW needed_contents;
CREATE VIEW needed_contents (sha3_384) AS
  SELECT sha3_384 FROM uploads
  WHERE NOT EXISTS (
    SELECT 1 FROM revisions
    WHERE revisions.package_id = uploads.package_id AND revisions.sha3_384 = uploads.sha3_384
      AND revisions.deleted_at IS NOT NULL AND uploads.status IN ('approved', 'rejected') AND uploads.resource IS NULL)
  UNION ALL SELECT sha3_384 FROM revisions WHERE deleted_at IS NULL
  UNION ALL SELECT sha3_384 FROM resource_revisions
  UNION ALL SELECT sha3_384 FROM image_blobs
  UNION ALL SELECT sha3_384 FROM image_manifests
  UNION ALL SELECT substr(icon, 1, 96) FROM uploads WHERE icon IS NOT NULL
  UNION ALL SELECT substr(icon, 1, 96) FROM packages WHERE icon IS NOT NULL;

DROP VIEW package_contents;
CREATE VIEW package_contents (package_id, sha3_384, size) AS
SELECT package_id, sha3_384, size FROM revisions WHERE deleted_at IS NULL
UNION
SELECT package_id, sha3_384, size FROM resource_revisions
UNION
SELECT package_id, sha3_384, size FROM image_blobs
UNION
SELECT package_id, sha3_384, size FROM image_manifests
UNION
SELECT package_id, sha3_384, size FROM uploads WHERE package_id IS NOT NULL AND status IN ('new', 'scanned');
