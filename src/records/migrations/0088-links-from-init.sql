-- A link that 'larder init' made for one of the first approvers: to set a password with it is no change of the account.
ALTER TABLE set_up_links ADD COLUMN from_init INTEGER NOT NULL DEFAULT 0 CHECK (from_init IN (0, 1));
