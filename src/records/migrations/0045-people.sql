-- A user name that somebody gave up is given to nobody else: what was signed or begun under it names one account for ever.
CREATE TABLE former_usernames (
  username   TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  until      TEXT NOT NULL
);

-- A package that its publisher offers to another account, which takes it or not.
CREATE TABLE package_offers (
  package_id TEXT PRIMARY KEY REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  offered_by TEXT NOT NULL REFERENCES accounts (id),
  offered_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
);

CREATE INDEX package_offers_by_account ON package_offers (account_id, package_id);

-- What an account is asked for, and what it has, is found by the account.
CREATE INDEX invites_by_account ON invites (account_id) WHERE accepted_at IS NULL AND revoked_at IS NULL;

CREATE INDEX image_credentials_by_account ON image_credentials (account_id) WHERE kind = 'push';
