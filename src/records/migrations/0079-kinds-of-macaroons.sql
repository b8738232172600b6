-- What a macaroon is: a token of a tool, or somebody's session in the console, whatever the token is called.
ALTER TABLE macaroons ADD COLUMN kind TEXT NOT NULL DEFAULT 'token' CHECK (kind IN ('token', 'console'));
UPDATE macaroons SET kind = 'console'
WHERE description = 'Console'
  AND 'session/' || session_id IN (SELECT object FROM audit WHERE action = 'begin_browser_session');
