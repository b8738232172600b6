-- How much a publisher may have in the store, where that is not what the configuration says: bytes, and packages. Nothing stands
-- for what the configuration says.
CREATE TABLE quotas (
  account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id),
  bytes      INTEGER CHECK (bytes >= 0),
  packages   INTEGER CHECK (packages >= 0)
);

-- What a publisher's packages keep is added up from these alone.
CREATE INDEX revisions_by_size ON revisions (package_id, sha3_384, size);
CREATE INDEX resource_revisions_by_size ON resource_revisions (package_id, sha3_384, size);
