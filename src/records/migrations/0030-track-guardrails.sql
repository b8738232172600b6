-- What the names of a package's tracks must match; set by the store administrator.
CREATE TABLE track_guardrails (
  package_id TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
  pattern    TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (package_id, pattern)
);
