-- A brand's signing key; the private half is sealed under the signing master key.
CREATE TABLE signing_keys (
  sha3_384         TEXT PRIMARY KEY,
  brand_account_id TEXT NOT NULL REFERENCES brands (account_id),
  name             TEXT NOT NULL,
  fingerprint      TEXT NOT NULL,
  public_key       TEXT NOT NULL,
  sealed           TEXT NOT NULL,
  created_at       TEXT NOT NULL,
  created_by       TEXT NOT NULL REFERENCES accounts (id),
  modified_at      TEXT,
  modified_by      TEXT REFERENCES accounts (id),
  UNIQUE (brand_account_id, name)
);
