-- An account id that this store made is one that the online store cannot know; of older accounts nobody can tell.
ALTER TABLE accounts ADD COLUMN id_made_here INTEGER NOT NULL DEFAULT 0 CHECK (id_made_here IN (0, 1));
