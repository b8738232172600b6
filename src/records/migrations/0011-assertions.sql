-- Assertions that were imported, each checked up to a root of trust, and those that this store signed. The name is
-- the type and the primary key; a newer revision takes the place of an older one.
CREATE TABLE assertions (
  name       TEXT PRIMARY KEY,
  type       TEXT NOT NULL,
  account_id TEXT,
  revision   INTEGER NOT NULL CHECK (revision >= 0),
  origin     TEXT NOT NULL CHECK (origin IN ('imported', 'signed')),
  text       TEXT NOT NULL,
  kept_at    TEXT NOT NULL,
  kept_by    TEXT NOT NULL
);

-- Which keys an account has is asked when another one of it comes in.
CREATE INDEX assertions_by_account ON assertions (account_id, type) WHERE account_id IS NOT NULL;

ALTER TABLE signing_keys ADD COLUMN requested_at TEXT;
