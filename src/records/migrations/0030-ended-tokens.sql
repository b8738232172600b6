-- An administrator ends all that an account was let in with: a login that began before is never exchanged for a token.
ALTER TABLE accounts ADD COLUMN tokens_ended_at TEXT;

-- All tokens of the store, newest first.
CREATE INDEX macaroons_by_start ON macaroons (valid_since, session_id);
