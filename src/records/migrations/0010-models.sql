-- A model is a kind of device that a brand makes. How many serial policies it has had numbers the next one.
CREATE TABLE models (
  brand_account_id TEXT NOT NULL REFERENCES brands (account_id),
  name             TEXT NOT NULL,
  series           TEXT NOT NULL,
  api_key          TEXT,
  policies_made    INTEGER NOT NULL DEFAULT 0 CHECK (policies_made >= 0),
  created_at       TEXT NOT NULL,
  created_by       TEXT NOT NULL REFERENCES accounts (id),
  modified_at      TEXT,
  modified_by      TEXT REFERENCES accounts (id),
  PRIMARY KEY (brand_account_id, name)
);

-- With which key the serials of a model are signed; the policy with the highest revision counts.
CREATE TABLE serial_policies (
  brand_account_id     TEXT NOT NULL,
  model_name           TEXT NOT NULL,
  revision             INTEGER NOT NULL CHECK (revision > 0),
  signing_key_sha3_384 TEXT NOT NULL REFERENCES signing_keys (sha3_384),
  created_at           TEXT NOT NULL,
  created_by           TEXT NOT NULL REFERENCES accounts (id),
  PRIMARY KEY (brand_account_id, model_name, revision),
  FOREIGN KEY (brand_account_id, model_name) REFERENCES models (brand_account_id, name)
);

CREATE INDEX serial_policies_by_key ON serial_policies (signing_key_sha3_384);

-- A permitted remodel. The empty serial stands for every serial of the model.
CREATE TABLE remodel_allowlist (
  brand_account_id TEXT NOT NULL,
  from_model       TEXT NOT NULL,
  from_serial      TEXT NOT NULL,
  to_model         TEXT NOT NULL,
  description      TEXT,
  created_at       TEXT NOT NULL,
  created_by       TEXT NOT NULL REFERENCES accounts (id),
  modified_at      TEXT,
  modified_by      TEXT REFERENCES accounts (id),
  PRIMARY KEY (brand_account_id, from_model, from_serial, to_model),
  FOREIGN KEY (brand_account_id, from_model) REFERENCES models (brand_account_id, name),
  FOREIGN KEY (brand_account_id, to_model) REFERENCES models (brand_account_id, name)
);

CREATE INDEX remodel_allowlist_by_target ON remodel_allowlist (brand_account_id, to_model, from_model, from_serial);
