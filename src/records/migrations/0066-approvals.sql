-- Approvals: whom the store asks before something is done, what waits for them, and who has approved of it. The policy is kept here
-- and not only in the configuration, so that a change of that file alone does not lower it.
CREATE TABLE approval_policy (
  one    INTEGER PRIMARY KEY CHECK (one = 1),
  policy TEXT NOT NULL CHECK (length(policy) <= 1048576),
  since  TEXT NOT NULL
) STRICT;

CREATE TABLE proposals (
  number      INTEGER PRIMARY KEY,
  act         TEXT NOT NULL,
  object      TEXT NOT NULL,
  actor       TEXT NOT NULL,
  -- SHA-256 over what is asked for, and over that with what it would change.
  asked       TEXT NOT NULL,
  digest      TEXT NOT NULL,
  lines       TEXT NOT NULL CHECK (length(lines) <= 67108864),
  proposed_at TEXT NOT NULL,
  ends_at     TEXT NOT NULL,
  state       TEXT NOT NULL CHECK (state IN ('open', 'done', 'rejected', 'fallen')),
  ended_at    TEXT,
  ended_by    TEXT,
  because     TEXT
) STRICT;
CREATE INDEX proposals_by_digest ON proposals (digest, number);
CREATE INDEX proposals_open ON proposals (asked) WHERE state = 'open';

CREATE TABLE approvals (
  proposal   INTEGER NOT NULL REFERENCES proposals (number) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON UPDATE CASCADE,
  at         TEXT NOT NULL,
  PRIMARY KEY (proposal, account_id)
) STRICT, WITHOUT ROWID;

-- Roles beside those that have tables of their own.
CREATE TABLE account_roles (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON UPDATE CASCADE,
  role       TEXT NOT NULL CHECK (role IN ('transfer-approver', 'auditor')),
  since      TEXT NOT NULL,
  PRIMARY KEY (account_id, role)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_roles_by_role ON account_roles (role);

-- When somebody else last made or changed an account, its password, its one-time passwords or its roles: whoever did could be the
-- one who approves under its name.
CREATE TABLE touched_accounts (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id) ON UPDATE CASCADE,
  at         TEXT NOT NULL,
  by         TEXT NOT NULL,
  what       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO noun_versions (noun) VALUES ('approval_policy'), ('proposals');
CREATE TRIGGER approval_policy_added AFTER INSERT ON approval_policy BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'approval_policy'; END;
CREATE TRIGGER approval_policy_changed AFTER UPDATE ON approval_policy BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'approval_policy'; END;
CREATE TRIGGER approval_policy_removed AFTER DELETE ON approval_policy BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'approval_policy'; END;
CREATE TRIGGER proposals_added AFTER INSERT ON proposals BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; END;
CREATE TRIGGER proposals_changed AFTER UPDATE ON proposals BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; END;
CREATE TRIGGER proposals_removed AFTER DELETE ON proposals BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; END;
CREATE TRIGGER approvals_added AFTER INSERT ON approvals BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; END;
