-- A library is code that charms share; the charm that publishes it gives it versions, numbered by API and patch.
CREATE TABLE charm_libraries (
  id         TEXT PRIMARY KEY,
  package_id TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
  name       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (package_id, name)
);

CREATE TABLE charm_library_versions (
  library_id TEXT NOT NULL REFERENCES charm_libraries (id) ON DELETE CASCADE,
  api        INTEGER NOT NULL,
  patch      INTEGER NOT NULL,
  hash       TEXT NOT NULL,
  content    TEXT NOT NULL,
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL REFERENCES accounts (id),
  PRIMARY KEY (library_id, api, patch)
);
