-- For which revisions of a snap a component was pushed: the same content may serve several.
CREATE TABLE resource_pairs (
  package_id       TEXT NOT NULL,
  name             TEXT NOT NULL,
  revision         INTEGER NOT NULL,
  package_revision INTEGER NOT NULL,
  PRIMARY KEY (package_id, name, revision, package_revision),
  FOREIGN KEY (package_id, name, revision) REFERENCES resource_revisions (package_id, name, revision)
    ON UPDATE CASCADE ON DELETE CASCADE
);
INSERT INTO resource_pairs
  SELECT package_id, name, revision, package_revision FROM resource_revisions WHERE package_revision IS NOT NULL
  UNION
  SELECT uploads.package_id, resource, uploads.revision, json_extract(request, '$.packageRevision')
  FROM uploads JOIN resource_revisions AS made
    ON made.package_id = uploads.package_id AND made.name = resource AND made.revision = uploads.revision
  WHERE status = 'approved' AND json_extract(request, '$.packageRevision') IS NOT NULL;

-- A component that came with revisions alone which were deleted keeps its number and its digests; its bytes go with theirs.
ALTER TABLE resource_revisions ADD COLUMN deleted_at TEXT;

DROP INDEX resource_revisions_by_size;
CREATE INDEX resource_revisions_by_size ON resource_revisions (package_id, sha3_384, size) WHERE deleted_at IS NULL;

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
  UNION ALL SELECT substr(icon, 1, 96) FROM packages WHERE icon IS NOT NULL;

DROP VIEW package_contents;
CREATE VIEW package_contents (package_id, sha3_384, size) AS
SELECT package_id, sha3_384, size FROM revisions WHERE deleted_at IS NULL
UNION
SELECT package_id, sha3_384, size FROM resource_revisions WHERE deleted_at IS NULL
UNION
SELECT package_id, sha3_384, size FROM image_blobs
UNION
SELECT package_id, sha3_384, size FROM image_manifests
UNION
SELECT package_id, sha3_384, size FROM uploads WHERE package_id IS NOT NULL AND status IN ('new', 'scanned');
