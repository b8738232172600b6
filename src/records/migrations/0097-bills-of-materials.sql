-- The software that a revision says it contains. A job reads older revisions after the upgrade.
CREATE TABLE revision_bills (
  package_id TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  bill       TEXT NOT NULL,
  PRIMARY KEY (package_id, revision),
  FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON UPDATE CASCADE ON DELETE CASCADE
);

-- The software that an image in a repository says it contains, and the claims that are attached to it. A job reads them.
CREATE TABLE image_bills (
  package_id TEXT NOT NULL,
  resource   TEXT NOT NULL,
  manifest   TEXT NOT NULL,
  bill       TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, manifest),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON UPDATE CASCADE ON DELETE CASCADE
);
