-- An invite asks an account to collaborate on a package. Its token is known by its hash alone.
CREATE TABLE invites (
  token_sha256 TEXT PRIMARY KEY,
  package_id   TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
  account_id   TEXT NOT NULL REFERENCES accounts (id),
  email        TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  created_by   TEXT NOT NULL REFERENCES accounts (id),
  expires_at   TEXT NOT NULL,
  accepted_at  TEXT,
  revoked_at   TEXT,
  revoked_by   TEXT REFERENCES accounts (id),
  CHECK (accepted_at IS NULL OR revoked_at IS NULL),
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);

CREATE INDEX invites_of_package ON invites (package_id, created_at);

-- Nobody has two open invites to the same package.
CREATE UNIQUE INDEX invites_open ON invites (package_id, account_id) WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- People are found by their e-mail address, whatever the case of its letters.
CREATE INDEX accounts_by_address ON accounts (lower(email));
