-- A revision that was withdrawn is given to nobody any more until it is brought back: when, by whom, and why.
ALTER TABLE revisions ADD COLUMN withdrawn_at TEXT;
ALTER TABLE revisions ADD COLUMN withdrawn_by TEXT;
ALTER TABLE revisions ADD COLUMN withdrawn_because TEXT;

-- Nothing that is withdrawn is signed.
DROP INDEX revisions_to_sign;
CREATE INDEX revisions_to_sign ON revisions (package_id, revision)
  WHERE assertion IS NULL AND withdrawn_at IS NULL AND package_yaml LIKE '%provenance:%';
