-- Rules for the sessions of the console: when each account last proved its credentials in a session, and its last two logins.
-- The same for PostgreSQL: its numbers are BIGINT, and its texts are ordered by their bytes.
ALTER TABLE macaroons ADD COLUMN proven_at TEXT COLLATE "C";
CREATE INDEX console_sessions ON macaroons (valid_until, session_id) WHERE kind = 'console';

CREATE TABLE last_logins (
  account_id      TEXT COLLATE "C" PRIMARY KEY REFERENCES accounts (id),
  at              TEXT COLLATE "C" NOT NULL,
  address         TEXT COLLATE "C" NOT NULL,
  -- All failed logins of the account until this login.
  failed_count    BIGINT NOT NULL,
  -- The login before this one, and the failed logins between the two.
  earlier_at      TEXT COLLATE "C",
  earlier_address TEXT COLLATE "C",
  failed_between  BIGINT NOT NULL
);
