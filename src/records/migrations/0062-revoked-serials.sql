-- Serials that count for nothing here any more, whoever signed them: the device has no session and gets none.
CREATE TABLE revoked_serials (
  brand_id   TEXT NOT NULL,
  model      TEXT NOT NULL,
  serial     TEXT NOT NULL,
  because    TEXT NOT NULL,
  revoked_at TEXT NOT NULL,
  revoked_by TEXT NOT NULL,
  PRIMARY KEY (brand_id, model, serial)
);

INSERT INTO noun_versions (noun) VALUES ('revoked_serials');
CREATE TRIGGER revoked_serials_added AFTER INSERT ON revoked_serials BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revoked_serials'; END;
CREATE TRIGGER revoked_serials_changed AFTER UPDATE ON revoked_serials BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revoked_serials'; END;
CREATE TRIGGER revoked_serials_removed AFTER DELETE ON revoked_serials BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revoked_serials'; END;
