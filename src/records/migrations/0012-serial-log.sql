-- Which devices got which serial. The serial assertion is among the assertions, by its name. A device, which is known
-- by its key, has one serial of a model, and a serial belongs to one device.
CREATE TABLE serial_log (
  seq                    INTEGER PRIMARY KEY,
  brand_account_id       TEXT NOT NULL,
  model_name             TEXT NOT NULL,
  serial                 TEXT NOT NULL,
  device_key_sha3_384    TEXT NOT NULL,
  signing_key_sha3_384   TEXT NOT NULL,
  serial_assertion       TEXT NOT NULL,
  serial_request         TEXT NOT NULL,
  created_at             TEXT NOT NULL,
  UNIQUE (brand_account_id, model_name, serial),
  UNIQUE (brand_account_id, device_key_sha3_384, model_name)
);

CREATE INDEX serial_log_by_model ON serial_log (brand_account_id, model_name, seq);
