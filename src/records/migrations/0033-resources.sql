-- What a revision asks to come beside it.
CREATE TABLE declared_resources (
  package_id TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  name       TEXT NOT NULL,
  type       TEXT NOT NULL,
  optional   INTEGER NOT NULL CHECK (optional IN (0, 1)),
  PRIMARY KEY (package_id, revision, name),
  FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON DELETE CASCADE
);

CREATE INDEX declared_resources_by_name ON declared_resources (package_id, name, revision);

-- What was pushed for a resource, numbered 1, 2, 3 per resource. It runs on bases, or, for snaps, on architectures.
CREATE TABLE resource_revisions (
  package_id       TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
  name             TEXT NOT NULL,
  revision         INTEGER NOT NULL CHECK (revision > 0),
  type             TEXT NOT NULL,
  sha256           TEXT NOT NULL,
  sha3_384         TEXT NOT NULL,
  sha384           TEXT NOT NULL,
  sha512           TEXT NOT NULL,
  size             INTEGER NOT NULL,
  bases            TEXT,
  architectures    TEXT,
  package_revision INTEGER,
  created_at       TEXT NOT NULL,
  created_by       TEXT NOT NULL REFERENCES accounts (id),
  updated_at       TEXT,
  updated_by       TEXT REFERENCES accounts (id),
  PRIMARY KEY (package_id, name, revision),
  UNIQUE (package_id, name, sha3_384),
  CHECK ((bases IS NULL) <> (architectures IS NULL))
);

CREATE INDEX resource_revisions_by_content ON resource_revisions (sha3_384);

-- The resource that an upload was pushed for, and what was said of it; null when it was pushed as a revision.
ALTER TABLE uploads ADD COLUMN resource TEXT;

ALTER TABLE uploads ADD COLUMN request TEXT;
