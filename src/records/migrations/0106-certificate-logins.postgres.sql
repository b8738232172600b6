-- Logins with client certificates: how the login of a session was proven, and the certificates of sessions of the console.
-- The same for PostgreSQL: its texts are ordered by their bytes.
ALTER TABLE macaroons ADD COLUMN proven_by TEXT COLLATE "C" CHECK (proven_by IN ('certificate', 'host'));
ALTER TABLE passing_proofs ADD COLUMN proven_by TEXT COLLATE "C" CHECK (proven_by IN ('certificate', 'host'));

CREATE TABLE passing_certificate_sessions (
  session_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(session_id) <= 64),
  account_id   TEXT COLLATE "C" NOT NULL CHECK (length(account_id) <= 64),
  -- DER in base64.
  certificate  TEXT COLLATE "C" NOT NULL CHECK (length(certificate) <= 32768),
  confirmed_at TEXT COLLATE "C" NOT NULL,
  ends_at      TEXT COLLATE "C" NOT NULL
);
CREATE INDEX passing_certificate_sessions_by_time ON passing_certificate_sessions (confirmed_at);
CREATE INDEX passing_certificate_sessions_by_end ON passing_certificate_sessions (ends_at);
