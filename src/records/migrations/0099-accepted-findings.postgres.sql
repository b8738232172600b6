-- Vulnerabilities of packages that a person has accepted until a date, with the risk at that time.
-- The same for PostgreSQL: its numbers are BIGINT, and its texts are ordered by their bytes.
CREATE TABLE accepted_findings (
  package_id    TEXT COLLATE "C" NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  vulnerability TEXT COLLATE "C" NOT NULL,
  severity      TEXT COLLATE "C" NOT NULL,
  is_exploited  BIGINT NOT NULL CHECK (is_exploited IN (0, 1)),
  reason        TEXT COLLATE "C" NOT NULL,
  until         TEXT COLLATE "C" NOT NULL,
  accepted_at   TEXT COLLATE "C" NOT NULL,
  accepted_by   TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, vulnerability)
);
CREATE INDEX accepted_findings_by_end ON accepted_findings (until, package_id, vulnerability);

-- The vulnerabilities of packages, in the revisions that channels and devices have, and when each was first found.
CREATE TABLE package_findings (
  package_id    TEXT COLLATE "C" NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  vulnerability TEXT COLLATE "C" NOT NULL,
  severity      TEXT COLLATE "C" NOT NULL,
  is_exploited  BIGINT NOT NULL CHECK (is_exploited IN (0, 1)),
  state         TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'not_affected', 'fixed')),
  since         TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, vulnerability)
);
CREATE INDEX package_findings_by_state ON package_findings (state, package_id, vulnerability);
