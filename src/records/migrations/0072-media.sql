-- On which medium something left or came, as whoever carried it calls it, and the label of the site that let it out.
ALTER TABLE exports ADD COLUMN label TEXT;
ALTER TABLE exports ADD COLUMN media TEXT;
-- JSON: in the order in which they came.
ALTER TABLE transfers ADD COLUMN media TEXT NOT NULL DEFAULT '[]';
