-- An upload is content that somebody sent; a package claims it by pushing it, and then it is reviewed.
CREATE TABLE uploads (
  id          TEXT PRIMARY KEY,
  sha3_384    TEXT NOT NULL,
  sha256      TEXT NOT NULL,
  size        INTEGER NOT NULL,
  address     TEXT NOT NULL,
  received_at TEXT NOT NULL,
  package_id  TEXT REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  pushed_by   TEXT REFERENCES accounts (id),
  pushed_at   TEXT,
  status      TEXT CHECK (status IN ('new', 'scanned', 'approved', 'rejected')),
  revision    INTEGER,
  errors      TEXT,
  CHECK ((package_id IS NULL) = (status IS NULL)),
  CHECK ((revision IS NULL) OR (status = 'approved')),
  CHECK ((errors IS NULL) OR (status = 'rejected'))
);

CREATE INDEX uploads_of_package ON uploads (package_id, pushed_at);

CREATE INDEX uploads_by_content ON uploads (sha3_384);

CREATE INDEX uploads_in_review ON uploads (pushed_at) WHERE status IN ('new', 'scanned');

CREATE INDEX uploads_unclaimed ON uploads (address, received_at) WHERE package_id IS NULL;

-- Revisions are numbered 1, 2, 3 per package in the order of approval. What only some namespaces know is in details.
CREATE TABLE revisions (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  revision   INTEGER NOT NULL CHECK (revision > 0),
  sha3_384   TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  size       INTEGER NOT NULL,
  version    TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('approved', 'released', 'rejected')),
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL REFERENCES accounts (id),
  details    TEXT NOT NULL,
  package_yaml TEXT,
  craft_yaml   TEXT,
  PRIMARY KEY (package_id, revision),
  UNIQUE (package_id, sha3_384)
);

CREATE INDEX revisions_by_content ON revisions (sha3_384);

-- What each slot of a channel holds now; a slot is an architecture, a base, or the channel alone.
CREATE TABLE releases (
  package_id             TEXT NOT NULL,
  channel                TEXT NOT NULL,
  slot                   TEXT NOT NULL,
  architecture           TEXT,
  base_name              TEXT,
  base_channel           TEXT,
  revision               INTEGER NOT NULL,
  progressive_paused     INTEGER CHECK (progressive_paused IN (0, 1)),
  progressive_percentage REAL,
  resources              TEXT NOT NULL,
  released_at            TEXT NOT NULL,
  expires_at             TEXT,
  PRIMARY KEY (package_id, channel, slot),
  FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON DELETE CASCADE
);

CREATE INDEX releases_expiring ON releases (expires_at) WHERE expires_at IS NOT NULL;
