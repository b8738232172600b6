-- Some clients name content by its sha512. It is kept under its sha256 all the same, which is always known; the other
-- digest stands beside it where a client has named it so.
ALTER TABLE image_blobs ADD COLUMN sha512 TEXT;

ALTER TABLE image_manifests ADD COLUMN sha512 TEXT;

CREATE INDEX image_blobs_by_sha512 ON image_blobs (package_id, resource, sha512) WHERE sha512 IS NOT NULL;

CREATE INDEX image_manifests_by_sha512 ON image_manifests (package_id, resource, sha512) WHERE sha512 IS NOT NULL;
