-- Devices as they showed themselves last: what they said to hold, and what they were offered. Written now and then; what a crash
-- takes of it a device says again. Snaps have short numbers in it, so that 20,000 devices with 30 snaps each take less than 20 MB.
CREATE TABLE passing_seen_devices (
  brand_id TEXT NOT NULL,
  model    TEXT NOT NULL,
  serial   TEXT NOT NULL,
  first_at TEXT NOT NULL,
  last_at  TEXT NOT NULL,
  holds    TEXT NOT NULL CHECK (length(holds) <= 65536),
  offers   TEXT NOT NULL CHECK (length(offers) <= 262144),
  PRIMARY KEY (brand_id, model, serial)
) STRICT, WITHOUT ROWID;
CREATE INDEX passing_seen_devices_by_contact ON passing_seen_devices (last_at);

CREATE TABLE passing_seen_snaps (
  number     INTEGER PRIMARY KEY,
  package_id TEXT NOT NULL UNIQUE
) STRICT;
