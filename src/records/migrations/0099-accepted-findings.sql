-- Vulnerabilities of packages that a person has accepted until a date, with the risk at that time.
CREATE TABLE accepted_findings (
  package_id    TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  vulnerability TEXT NOT NULL,
  severity      TEXT NOT NULL,
  is_exploited  INTEGER NOT NULL CHECK (is_exploited IN (0, 1)),
  reason        TEXT NOT NULL,
  until         TEXT NOT NULL,
  accepted_at   TEXT NOT NULL,
  accepted_by   TEXT NOT NULL,
  PRIMARY KEY (package_id, vulnerability)
);
CREATE INDEX accepted_findings_by_end ON accepted_findings (until, package_id, vulnerability);

-- The vulnerabilities of packages, in the revisions that channels and devices have, and when each was first found.
CREATE TABLE package_findings (
  package_id    TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  vulnerability TEXT NOT NULL,
  severity      TEXT NOT NULL,
  is_exploited  INTEGER NOT NULL CHECK (is_exploited IN (0, 1)),
  state         TEXT NOT NULL CHECK (state IN ('open', 'not_affected', 'fixed')),
  since         TEXT NOT NULL,
  PRIMARY KEY (package_id, vulnerability)
);
CREATE INDEX package_findings_by_state ON package_findings (state, package_id, vulnerability);
