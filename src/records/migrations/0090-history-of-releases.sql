-- The history keeps all that a release gives to devices: resources, components of snaps, and its end.
ALTER TABLE past_releases ADD COLUMN resources TEXT;
ALTER TABLE past_releases ADD COLUMN expires_at TEXT;
