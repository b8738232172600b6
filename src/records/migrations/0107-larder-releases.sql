-- Not beside older releases: they cannot clean up while the view of the needed contents is replaced.
-- Releases of larder that were accepted with transfers, and their files, which are needed.
CREATE TABLE larder_releases (
  version     TEXT PRIMARY KEY CHECK (length(version) <= 64),
  commit_id   TEXT CHECK (length(commit_id) <= 64),
  released    TEXT NOT NULL CHECK (length(released) <= 10),
  -- The SHA-256 of its signed manifest.
  manifest    TEXT NOT NULL CHECK (length(manifest) = 64),
  source      TEXT NOT NULL,
  accepted_at TEXT NOT NULL,
  accepted_by TEXT NOT NULL
);
CREATE TABLE larder_release_files (
  version  TEXT NOT NULL REFERENCES larder_releases (version) ON DELETE CASCADE,
  name     TEXT NOT NULL CHECK (length(name) <= 128),
  sha3_384 TEXT NOT NULL CHECK (length(sha3_384) = 96),
  size     INTEGER NOT NULL,
  PRIMARY KEY (version, name)
);
CREATE INDEX larder_release_files_by_content ON larder_release_files (sha3_384);

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
  UNION ALL SELECT sha3_384 FROM made_texts WHERE sequence > (SELECT coalesce(max(sequence), 0) - 100 FROM made_transfers)
  UNION ALL SELECT sha3_384 FROM passing_transfer_contents
  UNION ALL SELECT sha3_384 FROM passing_deltas WHERE sha3_384 IS NOT NULL
  UNION ALL SELECT sha3_384 FROM vulnerability_feeds
  UNION ALL SELECT sha3_384 FROM larder_release_files;
