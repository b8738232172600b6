-- How people and agents log in. A disabled account keeps what it owns, and no token of it is let in.
ALTER TABLE accounts ADD COLUMN disabled_at TEXT;

-- Passwords as PHC strings, which carry their algorithm and its parameters.
CREATE TABLE passwords (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  hash       TEXT NOT NULL,
  changed_at TEXT NOT NULL
);

-- Secrets of one-time passwords (RFC 6238), sealed under the site key; a step that was used is not taken again.
CREATE TABLE totp_secrets (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  sealed     TEXT NOT NULL,
  since      TEXT NOT NULL,
  used_step  INTEGER NOT NULL DEFAULT 0
);

-- Links with which somebody sets his own password, once; only the digest of what is in the link is kept.
CREATE TABLE set_up_links (
  digest     TEXT PRIMARY KEY,
  account_id TEXT NOT NULL UNIQUE REFERENCES accounts (id),
  expires_at TEXT NOT NULL
);

-- Agents log in with a key of their own, as the account they act for.
CREATE TABLE agents (
  username   TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  public_key TEXT NOT NULL,
  created_at TEXT NOT NULL
);

CREATE INDEX agents_by_account ON agents (account_id);

-- The identity provider's own pairs of keys, sealed under the site key; the newest is the one in use.
CREATE TABLE discharger_keys (
  public_key TEXT PRIMARY KEY,
  sealed     TEXT NOT NULL,
  created_at TEXT NOT NULL
);
