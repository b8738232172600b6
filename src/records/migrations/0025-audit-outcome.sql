-- How it ended, as part of what is hashed. Rows from before have none, and are verified without it: each tells of a
-- change that was done.
ALTER TABLE audit ADD COLUMN outcome TEXT CHECK (outcome IN ('done', 'refused'));
