-- When the password was set that a login under way was begun with: with another one in its place it does not go on.
ALTER TABLE passing_logins ADD COLUMN password_set_at TEXT CHECK (length(password_set_at) <= 64);
