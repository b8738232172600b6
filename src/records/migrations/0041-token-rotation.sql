-- What narrows a token, as a JSON list of its conditions, so that another one can be issued in its place; nothing is known of
-- tokens of earlier releases. And the session of the token that was.
ALTER TABLE macaroons ADD COLUMN conditions TEXT;
ALTER TABLE macaroons ADD COLUMN replaced_by TEXT;

-- Tokens in the order in which they end.
DROP INDEX macaroons_by_end;
CREATE INDEX macaroons_by_end ON macaroons (valid_until, session_id);
