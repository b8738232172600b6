-- The audit log grows at its end alone: REPLACE would otherwise put a row in the place of another without a word.
CREATE TRIGGER audit_is_append_only_insert BEFORE INSERT ON audit
WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq), 0) + 1 FROM audit)
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only: a row goes to its end');
END;
