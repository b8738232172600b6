-- Accounts that log in with the OpenID provider of the site, and the roles that groups of the provider give.
-- The same for PostgreSQL: its numbers are BIGINT, and its texts are ordered by their bytes.
CREATE TABLE openid_identities (
  account_id TEXT COLLATE "C" PRIMARY KEY REFERENCES accounts (id),
  issuer     TEXT COLLATE "C" NOT NULL CHECK (length(issuer) <= 1024),
  subject    TEXT COLLATE "C" NOT NULL CHECK (length(subject) <= 255),
  linked_at  TEXT COLLATE "C" NOT NULL,
  UNIQUE (issuer, subject)
);

-- A role in force also has its row in account_roles, store_administrators or brand_administrators. It is not in force while the
-- provider does not confirm the account.
CREATE TABLE group_roles (
  account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  role       TEXT COLLATE "C" NOT NULL CHECK (length(role) <= 96),
  group_name TEXT COLLATE "C" NOT NULL CHECK (length(group_name) <= 1024),
  since      TEXT COLLATE "C" NOT NULL,
  in_force   BIGINT NOT NULL CHECK (in_force IN (0, 1)),
  PRIMARY KEY (account_id, role)
);
CREATE INDEX group_roles_in_force ON group_roles (in_force, account_id);

-- When the provider last confirmed an account. The refresh token is sealed.
CREATE TABLE passing_openid_confirmations (
  account_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(account_id) <= 64),
  refresh_token TEXT COLLATE "C" CHECK (length(refresh_token) <= 16384),
  confirmed_at  TEXT COLLATE "C" NOT NULL,
  ends_at       TEXT COLLATE "C" NOT NULL
);
CREATE INDEX passing_openid_confirmations_by_time ON passing_openid_confirmations (confirmed_at);
CREATE INDEX passing_openid_confirmations_by_end ON passing_openid_confirmations (ends_at);

-- Sessions of browsers that began with a login at the provider, with its id of that login.
CREATE TABLE passing_openid_sessions (
  session_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(session_id) <= 64),
  account_id  TEXT COLLATE "C" NOT NULL CHECK (length(account_id) <= 64),
  provider_id TEXT COLLATE "C" CHECK (length(provider_id) <= 255),
  ends_at     TEXT COLLATE "C" NOT NULL
);
CREATE INDEX passing_openid_sessions_of_account ON passing_openid_sessions (account_id, session_id);
CREATE INDEX passing_openid_sessions_of_login ON passing_openid_sessions (provider_id, session_id);
CREATE INDEX passing_openid_sessions_by_end ON passing_openid_sessions (ends_at);

-- Values of the provider that are accepted once: states of logins, and ids of logout tokens.
CREATE TABLE passing_used_values (
  digest  TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(digest) <= 64),
  ends_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX passing_used_values_by_end ON passing_used_values (ends_at);
