-- Keys with which people sign what they approve of, kept off the host; one is of one account, so that nobody counts twice.
CREATE TABLE approver_keys (
  key        TEXT PRIMARY KEY CHECK (length(key) <= 4200),
  account_id TEXT NOT NULL REFERENCES accounts (id) ON UPDATE CASCADE,
  added_at   TEXT NOT NULL,
  added_by   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX approver_keys_by_account ON approver_keys (account_id);

-- The key with which somebody has signed what he approved of, and the signature.
ALTER TABLE approvals ADD COLUMN key TEXT CHECK (length(key) <= 4200);
ALTER TABLE approvals ADD COLUMN signature TEXT CHECK (length(signature) <= 8192);
