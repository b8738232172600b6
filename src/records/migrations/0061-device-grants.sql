-- To which devices the publisher's private snaps are given beside those of his own brand: all of a brand, those of a model, or one
-- by its serial. The empty text stands for every one.
CREATE TABLE device_grants (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  brand_id   TEXT NOT NULL,
  model      TEXT NOT NULL,
  serial     TEXT NOT NULL CHECK (serial = '' OR model <> ''),
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL,
  PRIMARY KEY (brand_id, model, serial, package_id)
);
CREATE INDEX device_grants_of_package ON device_grants (package_id);

INSERT INTO noun_versions (noun) VALUES ('device_grants');
CREATE TRIGGER device_grants_added AFTER INSERT ON device_grants BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'device_grants'; END;
CREATE TRIGGER device_grants_changed AFTER UPDATE ON device_grants BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'device_grants'; END;
CREATE TRIGGER device_grants_removed AFTER DELETE ON device_grants BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'device_grants'; END;
