-- Whose a used nonce was, by a digest of brand and serial, so that a device is limited as itself and not by its address.
ALTER TABLE passing_device_nonces ADD COLUMN device TEXT NOT NULL DEFAULT '' CHECK (length(device) <= 64);
CREATE INDEX passing_device_nonces_of_device ON passing_device_nonces (device, ends_at);
