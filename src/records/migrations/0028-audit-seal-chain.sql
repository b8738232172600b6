-- Seals in a chain of their own: each has a number, and its code covers the code of the one before, so that none can be
-- taken away without the site key. The newest is also kept in a file beside the database.
CREATE TABLE audit_seal_chain (
  number   INTEGER PRIMARY KEY,
  seq      INTEGER NOT NULL,
  hash     TEXT NOT NULL,
  at       TEXT NOT NULL,
  -- The code of the seal before.
  previous TEXT NOT NULL,
  -- Where the log goes on from somewhere else than where it ended: by what, and the newest seal that was left behind.
  anew     TEXT,
  left_seq  INTEGER,
  left_hash TEXT,
  left_mac  TEXT,
  mac      TEXT NOT NULL
);

CREATE INDEX audit_seals_left_behind ON audit_seal_chain (left_mac) WHERE left_mac IS NOT NULL;

-- The end of the log has a code too, which whoever appends a row computes anew.
ALTER TABLE audit_end ADD COLUMN mac TEXT;

DROP TRIGGER audit_has_an_end;

CREATE TRIGGER audit_has_an_end AFTER INSERT ON audit
BEGIN
  INSERT INTO audit_end (one, seq, hash) VALUES (1, NEW.seq, NEW.hash)
  ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, mac = NULL;
END;
