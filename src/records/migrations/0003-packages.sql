-- A package is a name somebody owns within a namespace.
CREATE TABLE packages (
  id            TEXT PRIMARY KEY,
  namespace     TEXT NOT NULL,
  name          TEXT NOT NULL,
  type          TEXT NOT NULL,
  publisher_id  TEXT NOT NULL REFERENCES accounts (id),
  private       INTEGER NOT NULL CHECK (private IN (0, 1)),
  status        TEXT NOT NULL CHECK (status IN ('registered', 'published')),
  title         TEXT,
  summary       TEXT,
  description   TEXT,
  default_track TEXT,
  links         TEXT NOT NULL,
  icon          TEXT,
  created_at    TEXT NOT NULL,
  UNIQUE (namespace, name)
);

CREATE INDEX packages_by_icon ON packages (icon) WHERE icon IS NOT NULL;

CREATE INDEX packages_by_publisher ON packages (publisher_id, namespace, name);

CREATE TABLE tracks (
  package_id                   TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  name                         TEXT NOT NULL,
  version_pattern              TEXT,
  automatic_phasing_percentage REAL,
  created_at                   TEXT NOT NULL,
  PRIMARY KEY (package_id, name)
);

CREATE TABLE collaborators (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL REFERENCES accounts (id),
  PRIMARY KEY (package_id, account_id)
);

CREATE INDEX collaborators_by_account ON collaborators (account_id, package_id);
