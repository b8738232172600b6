-- The software that a revision says it contains. A job reads older revisions after the upgrade.
CREATE TABLE revision_bills (
  package_id TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  bill       TEXT NOT NULL,
  PRIMARY KEY (package_id, revision),
  FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON UPDATE CASCADE ON DELETE CASCADE
);
