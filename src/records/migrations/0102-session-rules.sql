-- Rules for the sessions of the console: when each account last proved its credentials in a session, and its last two logins.
ALTER TABLE macaroons ADD COLUMN proven_at TEXT;
CREATE INDEX console_sessions ON macaroons (valid_until, session_id) WHERE kind = 'console';

CREATE TABLE last_logins (
  account_id      TEXT PRIMARY KEY REFERENCES accounts (id),
  at              TEXT NOT NULL,
  address         TEXT NOT NULL,
  -- All failed logins of the account until this login.
  failed_count    INTEGER NOT NULL,
  -- The login before this one, and the failed logins between the two.
  earlier_at      TEXT,
  earlier_address TEXT,
  failed_between  INTEGER NOT NULL
);
