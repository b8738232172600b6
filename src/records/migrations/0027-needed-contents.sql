-- Everything that some row needs the bytes of: the one list that the sweep, the verification and the backup ask. A table that
-- names content is added here, and nowhere else.
CREATE VIEW needed_contents (sha3_384) AS
  SELECT sha3_384 FROM uploads
  UNION ALL SELECT sha3_384 FROM revisions
  UNION ALL SELECT sha3_384 FROM resource_revisions
  UNION ALL SELECT sha3_384 FROM image_blobs
  UNION ALL SELECT sha3_384 FROM image_manifests
  UNION ALL SELECT substr(icon, 1, 96) FROM uploads WHERE icon IS NOT NULL
  UNION ALL SELECT substr(icon, 1, 96) FROM packages WHERE icon IS NOT NULL;

-- An icon is kept as its digest and its ending.
DROP INDEX uploads_by_icon;
CREATE INDEX uploads_by_icon ON uploads (substr(icon, 1, 96)) WHERE icon IS NOT NULL;

DROP INDEX packages_by_icon;
CREATE INDEX packages_by_icon ON packages (substr(icon, 1, 96)) WHERE icon IS NOT NULL;
