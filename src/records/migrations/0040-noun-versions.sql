-- How often the rows of a table have changed, for the tables that something remembered is made of: by it a process knows what
-- of what it remembers is still so. Triggers count, because what changes with another table has no statement of its own.
CREATE TABLE noun_versions (
  noun    TEXT NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO noun_versions (noun) VALUES
  ('accounts'),
  ('audit'),
  ('collaborators'),
  ('damaged_blobs'),
  ('macaroons'),
  ('packages'),
  ('revisions'),
  ('root_keys'),
  ('store_administrators'),
  ('uploads');

-- A new account changes nothing that was remembered but how many there are, which the audit log tells as well; and a trigger
-- on it would make SQLite look through everything that names accounts.
CREATE TRIGGER accounts_changed AFTER UPDATE ON accounts BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'accounts'; END;
CREATE TRIGGER accounts_removed AFTER DELETE ON accounts BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'accounts'; END;

CREATE TRIGGER audit_added AFTER INSERT ON audit BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'audit'; END;

CREATE TRIGGER collaborators_added AFTER INSERT ON collaborators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'collaborators'; END;
CREATE TRIGGER collaborators_changed AFTER UPDATE ON collaborators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'collaborators'; END;
CREATE TRIGGER collaborators_removed AFTER DELETE ON collaborators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'collaborators'; END;

CREATE TRIGGER damaged_blobs_added AFTER INSERT ON damaged_blobs BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'damaged_blobs'; END;
CREATE TRIGGER damaged_blobs_changed AFTER UPDATE ON damaged_blobs BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'damaged_blobs'; END;
CREATE TRIGGER damaged_blobs_removed AFTER DELETE ON damaged_blobs BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'damaged_blobs'; END;

CREATE TRIGGER macaroons_added AFTER INSERT ON macaroons BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'macaroons'; END;
CREATE TRIGGER macaroons_changed AFTER UPDATE ON macaroons BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'macaroons'; END;
CREATE TRIGGER macaroons_removed AFTER DELETE ON macaroons BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'macaroons'; END;

CREATE TRIGGER packages_added AFTER INSERT ON packages BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'packages'; END;
CREATE TRIGGER packages_changed AFTER UPDATE ON packages BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'packages'; END;
CREATE TRIGGER packages_removed AFTER DELETE ON packages BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'packages'; END;

CREATE TRIGGER revisions_added AFTER INSERT ON revisions BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revisions'; END;
CREATE TRIGGER revisions_changed AFTER UPDATE ON revisions BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revisions'; END;
CREATE TRIGGER revisions_removed AFTER DELETE ON revisions BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revisions'; END;

CREATE TRIGGER root_keys_added AFTER INSERT ON root_keys BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'root_keys'; END;
CREATE TRIGGER root_keys_changed AFTER UPDATE ON root_keys BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'root_keys'; END;
CREATE TRIGGER root_keys_removed AFTER DELETE ON root_keys BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'root_keys'; END;

CREATE TRIGGER store_administrators_added AFTER INSERT ON store_administrators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'store_administrators'; END;
CREATE TRIGGER store_administrators_changed AFTER UPDATE ON store_administrators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'store_administrators'; END;
CREATE TRIGGER store_administrators_removed AFTER DELETE ON store_administrators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'store_administrators'; END;

CREATE TRIGGER uploads_added AFTER INSERT ON uploads BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'uploads'; END;
CREATE TRIGGER uploads_changed AFTER UPDATE ON uploads BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'uploads'; END;
CREATE TRIGGER uploads_removed AFTER DELETE ON uploads BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'uploads'; END;
