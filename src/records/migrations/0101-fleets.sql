-- Not beside older releases: they give the devices of a fleet the revisions of all other devices.
-- Fleets: names for devices that get other revisions from the channels than the other devices of the store.
CREATE TABLE fleets (
  name           TEXT PRIMARY KEY,
  -- The specificity of the fleet: of two fleets with one device, the one with the more specific kind decides.
  kind           TEXT NOT NULL CHECK (kind IN ('serial', 'model', 'brand', 'store')),
  refresh_window TEXT,
  created_at     TEXT NOT NULL,
  created_by     TEXT NOT NULL
);

-- The rule of a fleet: `store:ID`, `brand:BRAND`, `model:BRAND/MODEL` or `serial:BRAND/MODEL/SERIAL`. Model and serial are repeated for
-- searches by them alone, and empty if the selector names none.
CREATE TABLE fleet_selectors (
  selector TEXT NOT NULL,
  fleet    TEXT NOT NULL REFERENCES fleets (name) ON DELETE CASCADE,
  model    TEXT NOT NULL,
  serial   TEXT NOT NULL,
  PRIMARY KEY (selector, fleet)
);
CREATE INDEX fleet_selectors_of_fleet ON fleet_selectors (fleet, selector);
CREATE INDEX fleet_selectors_by_serial ON fleet_selectors (serial) WHERE serial <> '';
CREATE INDEX serial_log_by_serial ON serial_log (serial);

-- What a channel gives to the devices of a fleet: a fixed revision for each slot, or the content of another channel.
CREATE TABLE fleet_channels (
  fleet      TEXT NOT NULL REFERENCES fleets (name) ON DELETE CASCADE,
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  channel    TEXT NOT NULL,
  slot       TEXT NOT NULL,
  mode       TEXT NOT NULL CHECK (mode IN ('pin', 'hold', 'follow')),
  revision   INTEGER CHECK ((revision IS NULL) = (mode = 'follow')),
  follows    TEXT CHECK ((follows IS NOT NULL) = (mode = 'follow')),
  resources  TEXT NOT NULL,
  -- Whether the revision was withdrawn since. A restore of the revision does not undo this.
  withdrawn  INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1)),
  set_at     TEXT NOT NULL,
  set_by     TEXT NOT NULL,
  PRIMARY KEY (fleet, package_id, channel, slot)
);
CREATE INDEX fleet_channels_of_package ON fleet_channels (package_id, revision);

CREATE TABLE fleet_hidden_snaps (
  fleet      TEXT NOT NULL REFERENCES fleets (name) ON DELETE CASCADE,
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  hidden_at  TEXT NOT NULL,
  hidden_by  TEXT NOT NULL,
  PRIMARY KEY (fleet, package_id)
);
CREATE INDEX fleet_hidden_snaps_of_package ON fleet_hidden_snaps (package_id);

INSERT INTO noun_versions (noun) VALUES ('fleets'), ('fleet_selectors'), ('fleet_channels'), ('fleet_hidden_snaps');
CREATE TRIGGER fleets_added AFTER INSERT ON fleets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleets'; END;
CREATE TRIGGER fleets_changed AFTER UPDATE ON fleets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleets'; END;
CREATE TRIGGER fleets_removed AFTER DELETE ON fleets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleets'; END;
CREATE TRIGGER fleet_selectors_added AFTER INSERT ON fleet_selectors BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_selectors'; END;
CREATE TRIGGER fleet_selectors_changed AFTER UPDATE ON fleet_selectors BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_selectors'; END;
CREATE TRIGGER fleet_selectors_removed AFTER DELETE ON fleet_selectors BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_selectors'; END;
CREATE TRIGGER fleet_channels_added AFTER INSERT ON fleet_channels BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_channels'; END;
CREATE TRIGGER fleet_channels_changed AFTER UPDATE ON fleet_channels BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_channels'; END;
CREATE TRIGGER fleet_channels_removed AFTER DELETE ON fleet_channels BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_channels'; END;
CREATE TRIGGER fleet_hidden_snaps_added AFTER INSERT ON fleet_hidden_snaps BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_hidden_snaps'; END;
CREATE TRIGGER fleet_hidden_snaps_changed AFTER UPDATE ON fleet_hidden_snaps BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_hidden_snaps'; END;
CREATE TRIGGER fleet_hidden_snaps_removed AFTER DELETE ON fleet_hidden_snaps BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_hidden_snaps'; END;
