-- A package's image resource is a repository of the registry. What it holds is known by its sha256, as images name
-- their parts, and kept in the content store under its sha3-384: the same content in several repositories is there once.
CREATE TABLE image_blobs (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  resource   TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  sha3_384   TEXT NOT NULL,
  size       INTEGER NOT NULL,
  pushed_at  TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, sha256)
);

CREATE INDEX image_blobs_by_content ON image_blobs (sha3_384);

CREATE INDEX image_blobs_by_age ON image_blobs (pushed_at);

-- A manifest, or an index of manifests. Its media type is the one it was sent with.
CREATE TABLE image_manifests (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  resource   TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  sha3_384   TEXT NOT NULL,
  size       INTEGER NOT NULL,
  media_type TEXT NOT NULL,
  pushed_at  TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, sha256)
);

CREATE INDEX image_manifests_by_content ON image_manifests (sha3_384);

-- Which blobs a manifest is made of: they stay as long as it does.
CREATE TABLE image_parts (
  package_id TEXT NOT NULL,
  resource   TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  manifest   TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, sha256, manifest),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON DELETE CASCADE
);

CREATE INDEX image_parts_of_manifest ON image_parts (package_id, resource, manifest);

CREATE TABLE image_tags (
  package_id TEXT NOT NULL,
  resource   TEXT NOT NULL,
  tag        TEXT NOT NULL,
  manifest   TEXT NOT NULL,
  tagged_at  TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, tag),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON DELETE CASCADE
);

CREATE INDEX image_tags_of_manifest ON image_tags (package_id, resource, manifest);

-- Who may talk to a repository. To push, for a while, on behalf of whoever asked; to pull, as long as the package is
-- there: those are asked for again and must come out the same, so they are kept sealed, not only as a digest.
CREATE TABLE image_credentials (
  id            TEXT PRIMARY KEY,
  package_id    TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  resource      TEXT NOT NULL,
  kind          TEXT NOT NULL CHECK (kind IN ('push', 'pull')),
  secret_sha256 TEXT NOT NULL,
  sealed_secret TEXT,
  account_id    TEXT REFERENCES accounts (id),
  session_id    TEXT,
  issued_at     TEXT NOT NULL,
  first_used_at TEXT,
  CHECK ((kind = 'pull') = (sealed_secret IS NOT NULL)),
  CHECK ((kind = 'push') = (account_id IS NOT NULL)),
  CHECK ((kind = 'push') = (session_id IS NOT NULL))
);

CREATE UNIQUE INDEX image_credentials_to_pull ON image_credentials (package_id, resource) WHERE kind = 'pull';

CREATE INDEX image_credentials_of_repository ON image_credentials (package_id, resource, issued_at);
