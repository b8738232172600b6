-- Who did what, in a chain of hashes; a row is written in the transaction of the change it tells of.
CREATE TABLE audit (
  seq        INTEGER PRIMARY KEY,
  at         TEXT NOT NULL,
  actor      TEXT NOT NULL,
  session_id TEXT,
  action     TEXT NOT NULL,
  object     TEXT NOT NULL,
  request_id TEXT,
  details    TEXT NOT NULL,
  previous   TEXT NOT NULL,
  hash       TEXT NOT NULL
);

CREATE TRIGGER audit_is_append_only_update BEFORE UPDATE ON audit
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER audit_is_append_only_delete BEFORE DELETE ON audit
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only');
END;
