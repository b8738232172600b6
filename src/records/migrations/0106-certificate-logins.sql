-- Logins with client certificates: how the login of a session was proven, and the certificates of sessions of the console.
ALTER TABLE macaroons ADD COLUMN proven_by TEXT CHECK (proven_by IN ('certificate', 'host'));
ALTER TABLE passing_proofs ADD COLUMN proven_by TEXT CHECK (proven_by IN ('certificate', 'host'));

CREATE TABLE passing_certificate_sessions (
  session_id   TEXT NOT NULL PRIMARY KEY CHECK (length(session_id) <= 64),
  account_id   TEXT NOT NULL CHECK (length(account_id) <= 64),
  -- DER in base64.
  certificate  TEXT NOT NULL CHECK (length(certificate) <= 32768),
  confirmed_at TEXT NOT NULL,
  ends_at      TEXT NOT NULL
) STRICT;
CREATE INDEX passing_certificate_sessions_by_time ON passing_certificate_sessions (confirmed_at);
CREATE INDEX passing_certificate_sessions_by_end ON passing_certificate_sessions (ends_at);
