-- A build set is what a build host makes of one commit of a package; its builds are one for each platform.
CREATE TABLE build_sets (
  id             TEXT PRIMARY KEY,
  package_id     TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
  commit_hash    TEXT NOT NULL,
  craft_channel  TEXT NOT NULL,
  craft_revision INTEGER NOT NULL,
  craft_version  TEXT NOT NULL,
  platforms      TEXT NOT NULL,
  triggers       TEXT NOT NULL,
  plane          TEXT,
  created_at     TEXT NOT NULL
);

CREATE INDEX build_sets_of_package ON build_sets (package_id, created_at);

CREATE TABLE builds (
  build_set_id     TEXT NOT NULL REFERENCES build_sets (id) ON DELETE CASCADE,
  id               TEXT NOT NULL,
  position         INTEGER NOT NULL,
  package_id       TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
  status           TEXT NOT NULL CHECK (status IN ('waiting', 'running', 'succeeded', 'failed')),
  errors           TEXT NOT NULL,
  platform         TEXT NOT NULL,
  logs             TEXT,
  released_channel  TEXT,
  released_revision INTEGER,
  created_at       TEXT NOT NULL,
  completed_at     TEXT,
  PRIMARY KEY (build_set_id, id),
  CHECK ((released_channel IS NULL) = (released_revision IS NULL)),
  CHECK ((completed_at IS NULL) = (status IN ('waiting', 'running')))
);

CREATE INDEX builds_by_revision ON builds (package_id, released_revision);

-- A commit workflow leads from a commit to its build sets.
CREATE TABLE commit_workflows (
  id             TEXT PRIMARY KEY,
  package_id     TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
  commit_hash    TEXT,
  craft_channel  TEXT NOT NULL,
  craft_revision INTEGER NOT NULL,
  build_sets     TEXT NOT NULL,
  status         TEXT CHECK (status IN ('in-progress', 'completed', 'failed')),
  errors         TEXT NOT NULL,
  plane          TEXT,
  domain         TEXT,
  created_at     TEXT NOT NULL,
  completed_at   TEXT
);

CREATE INDEX commit_workflows_of_package ON commit_workflows (package_id, created_at);
