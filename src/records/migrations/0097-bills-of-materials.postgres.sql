-- The software that a revision says it contains. A job reads older revisions after the upgrade.
-- The same for PostgreSQL: its numbers are BIGINT, and its texts are ordered by their bytes.
CREATE TABLE revision_bills (
  package_id TEXT COLLATE "C" NOT NULL,
  revision   BIGINT NOT NULL,
  bill       TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, revision),
  FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON UPDATE CASCADE ON DELETE CASCADE
);

-- The software that an image in a repository says it contains, and the claims that are attached to it. A job reads them.
CREATE TABLE image_bills (
  package_id TEXT COLLATE "C" NOT NULL,
  resource   TEXT COLLATE "C" NOT NULL,
  manifest   TEXT COLLATE "C" NOT NULL,
  bill       TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, resource, manifest),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON UPDATE CASCADE ON DELETE CASCADE
);
