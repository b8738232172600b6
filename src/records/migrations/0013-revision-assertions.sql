-- The snap-revision assertion that a brand signed for a revision of delegated provenance, by its name; empty where the
-- revision needs none of ours after all.
ALTER TABLE revisions ADD COLUMN assertion TEXT;

-- The few revisions that say where they come from, and wait for their assertion.
CREATE INDEX revisions_to_sign ON revisions (package_id, revision)
  WHERE assertion IS NULL AND package_yaml LIKE '%provenance:%';

-- Of which snap a snap-declaration is, so that a name that is registered here gets the id it has online.
ALTER TABLE assertions ADD COLUMN snap_name TEXT;

CREATE INDEX assertions_by_snap_name ON assertions (snap_name) WHERE snap_name IS NOT NULL;
