-- Accepted transfers whose numbers do not count for the floor of their source any more, because somebody has reset it.
ALTER TABLE transfers ADD COLUMN beyond_floor INTEGER NOT NULL DEFAULT 0 CHECK (beyond_floor IN (0, 1));
