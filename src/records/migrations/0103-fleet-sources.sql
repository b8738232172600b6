-- The site that a fleet came from by a transfer, and the fleet as that site last brought it: what differs from it was edited here.
ALTER TABLE fleets ADD COLUMN source TEXT;
ALTER TABLE fleets ADD COLUMN source_text TEXT;
