-- Not beside older releases: they give the devices of a fleet the revisions of all other devices.
-- The same for PostgreSQL: its triggers call functions, its numbers are BIGINT, and its texts are ordered by their bytes.
-- Fleets: names for devices that get other revisions from the channels than the other devices of the store.
CREATE TABLE fleets (
  name           TEXT COLLATE "C" PRIMARY KEY,
  -- The specificity of the fleet: of two fleets with one device, the one with the more specific kind decides.
  kind           TEXT COLLATE "C" NOT NULL CHECK (kind IN ('serial', 'model', 'brand', 'store')),
  refresh_window TEXT COLLATE "C",
  created_at     TEXT COLLATE "C" NOT NULL,
  created_by     TEXT COLLATE "C" NOT NULL
);

-- The rule of a fleet: `store:ID`, `brand:BRAND`, `model:BRAND/MODEL` or `serial:BRAND/MODEL/SERIAL`. Model and serial are repeated for
-- searches by them alone, and empty if the selector names none.
CREATE TABLE fleet_selectors (
  selector TEXT COLLATE "C" NOT NULL,
  fleet    TEXT COLLATE "C" NOT NULL REFERENCES fleets (name) ON DELETE CASCADE,
  model    TEXT COLLATE "C" NOT NULL,
  serial   TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (selector, fleet)
);
CREATE INDEX fleet_selectors_of_fleet ON fleet_selectors (fleet, selector);
CREATE INDEX fleet_selectors_by_serial ON fleet_selectors (serial) WHERE serial <> '';
CREATE INDEX serial_log_by_serial ON serial_log (serial);

-- What a channel gives to the devices of a fleet: a fixed revision for each slot, or the content of another channel.
CREATE TABLE fleet_channels (
  fleet      TEXT COLLATE "C" NOT NULL REFERENCES fleets (name) ON DELETE CASCADE,
  package_id TEXT COLLATE "C" NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  channel    TEXT COLLATE "C" NOT NULL,
  slot       TEXT COLLATE "C" NOT NULL,
  mode       TEXT COLLATE "C" NOT NULL CHECK (mode IN ('pin', 'hold', 'follow')),
  revision   BIGINT CHECK ((revision IS NULL) = (mode = 'follow')),
  follows    TEXT COLLATE "C" CHECK ((follows IS NOT NULL) = (mode = 'follow')),
  resources  TEXT COLLATE "C" NOT NULL,
  -- Whether the revision was withdrawn since. A restore of the revision does not undo this.
  withdrawn  BIGINT NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1)),
  set_at     TEXT COLLATE "C" NOT NULL,
  set_by     TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (fleet, package_id, channel, slot)
);
CREATE INDEX fleet_channels_of_package ON fleet_channels (package_id, revision);

CREATE TABLE fleet_hidden_snaps (
  fleet      TEXT COLLATE "C" NOT NULL REFERENCES fleets (name) ON DELETE CASCADE,
  package_id TEXT COLLATE "C" NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  hidden_at  TEXT COLLATE "C" NOT NULL,
  hidden_by  TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (fleet, package_id)
);
CREATE INDEX fleet_hidden_snaps_of_package ON fleet_hidden_snaps (package_id);

INSERT INTO noun_versions (noun) VALUES ('fleets'), ('fleet_selectors'), ('fleet_channels'), ('fleet_hidden_snaps');
CREATE FUNCTION fleets_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleets'; RETURN NEW; END $$;
CREATE TRIGGER fleets_added AFTER INSERT ON fleets FOR EACH ROW EXECUTE FUNCTION fleets_added();
CREATE FUNCTION fleets_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleets'; RETURN NEW; END $$;
CREATE TRIGGER fleets_changed AFTER UPDATE ON fleets FOR EACH ROW EXECUTE FUNCTION fleets_changed();
CREATE FUNCTION fleets_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleets'; RETURN OLD; END $$;
CREATE TRIGGER fleets_removed AFTER DELETE ON fleets FOR EACH ROW EXECUTE FUNCTION fleets_removed();
CREATE FUNCTION fleet_selectors_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_selectors'; RETURN NEW; END $$;
CREATE TRIGGER fleet_selectors_added AFTER INSERT ON fleet_selectors FOR EACH ROW EXECUTE FUNCTION fleet_selectors_added();
CREATE FUNCTION fleet_selectors_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_selectors'; RETURN NEW; END $$;
CREATE TRIGGER fleet_selectors_changed AFTER UPDATE ON fleet_selectors FOR EACH ROW EXECUTE FUNCTION fleet_selectors_changed();
CREATE FUNCTION fleet_selectors_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_selectors'; RETURN OLD; END $$;
CREATE TRIGGER fleet_selectors_removed AFTER DELETE ON fleet_selectors FOR EACH ROW EXECUTE FUNCTION fleet_selectors_removed();
CREATE FUNCTION fleet_channels_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_channels'; RETURN NEW; END $$;
CREATE TRIGGER fleet_channels_added AFTER INSERT ON fleet_channels FOR EACH ROW EXECUTE FUNCTION fleet_channels_added();
CREATE FUNCTION fleet_channels_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_channels'; RETURN NEW; END $$;
CREATE TRIGGER fleet_channels_changed AFTER UPDATE ON fleet_channels FOR EACH ROW EXECUTE FUNCTION fleet_channels_changed();
CREATE FUNCTION fleet_channels_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_channels'; RETURN OLD; END $$;
CREATE TRIGGER fleet_channels_removed AFTER DELETE ON fleet_channels FOR EACH ROW EXECUTE FUNCTION fleet_channels_removed();
CREATE FUNCTION fleet_hidden_snaps_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_hidden_snaps'; RETURN NEW; END $$;
CREATE TRIGGER fleet_hidden_snaps_added AFTER INSERT ON fleet_hidden_snaps FOR EACH ROW EXECUTE FUNCTION fleet_hidden_snaps_added();
CREATE FUNCTION fleet_hidden_snaps_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_hidden_snaps'; RETURN NEW; END $$;
CREATE TRIGGER fleet_hidden_snaps_changed AFTER UPDATE ON fleet_hidden_snaps FOR EACH ROW EXECUTE FUNCTION fleet_hidden_snaps_changed();
CREATE FUNCTION fleet_hidden_snaps_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_hidden_snaps'; RETURN OLD; END $$;
CREATE TRIGGER fleet_hidden_snaps_removed AFTER DELETE ON fleet_hidden_snaps FOR EACH ROW EXECUTE FUNCTION fleet_hidden_snaps_removed();
