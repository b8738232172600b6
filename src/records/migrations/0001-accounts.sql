-- An account is a publisher; roles make it an administrator of the store or of a brand.
CREATE TABLE accounts (
  id           TEXT PRIMARY KEY,
  username     TEXT NOT NULL UNIQUE,
  display_name TEXT NOT NULL,
  email        TEXT NOT NULL UNIQUE,
  validation   TEXT NOT NULL CHECK (validation IN ('unproven', 'verified', 'starred')),
  created_at   TEXT NOT NULL
);

CREATE TABLE store_administrators (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  since      TEXT NOT NULL
);

CREATE TABLE brands (
  account_id  TEXT PRIMARY KEY REFERENCES accounts (id),
  name        TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  created_by  TEXT NOT NULL REFERENCES accounts (id),
  modified_at TEXT,
  modified_by TEXT REFERENCES accounts (id)
);

CREATE TABLE brand_administrators (
  brand_account_id TEXT NOT NULL REFERENCES brands (account_id) ON DELETE CASCADE,
  account_id       TEXT NOT NULL REFERENCES accounts (id),
  since            TEXT NOT NULL,
  PRIMARY KEY (brand_account_id, account_id)
);

-- What the appliance keeps of itself, such as the latest time it has seen.
CREATE TABLE appliance (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
