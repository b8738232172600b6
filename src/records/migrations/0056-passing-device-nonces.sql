-- Nonces with which devices have proven their serials. A store gives them away without taking note; only a device with a
-- serial that somebody vouches for makes a row.
CREATE TABLE passing_device_nonces (
  nonce   TEXT PRIMARY KEY CHECK (length(nonce) <= 64),
  ends_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX passing_device_nonces_by_end ON passing_device_nonces (ends_at);
