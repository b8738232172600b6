-- Root keys sign tokens; they are sealed under the site key.
CREATE TABLE root_keys (
  id         TEXT PRIMARY KEY,
  sealed     TEXT NOT NULL,
  created_at TEXT NOT NULL
);

-- One row for each token that was issued; the token itself is not kept.
CREATE TABLE macaroons (
  session_id  TEXT PRIMARY KEY,
  account_id  TEXT NOT NULL REFERENCES accounts (id),
  root_key_id TEXT NOT NULL,
  description TEXT,
  valid_since TEXT NOT NULL,
  valid_until TEXT NOT NULL,
  revoked_at  TEXT,
  revoked_by  TEXT
);

CREATE INDEX macaroons_by_account ON macaroons (account_id, valid_since);

CREATE INDEX macaroons_by_root_key ON macaroons (root_key_id);
