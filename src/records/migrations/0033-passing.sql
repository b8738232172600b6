-- What passes: rows that are worth something for minutes or days, and then nothing. They are in no audit log and no backup,
-- and have no digests; each has an end, and is swept after it. Secrets are kept as digests, or sealed.

-- Failed attempts, counted by what they are about: a digest.
CREATE TABLE passing_failures (
  seq     INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL CHECK (kind IN ('login', 'exchange')),
  key     TEXT NOT NULL CHECK (length(key) <= 64),
  count   INTEGER NOT NULL CHECK (count > 0),
  ends_at TEXT NOT NULL,
  UNIQUE (kind, key)
) STRICT;
CREATE INDEX passing_failures_in_order ON passing_failures (kind, seq);
CREATE INDEX passing_failures_by_end ON passing_failures (ends_at);

-- Where somebody has logged in from: a digest of who and where.
CREATE TABLE passing_familiar_places (
  seq     INTEGER PRIMARY KEY,
  key     TEXT NOT NULL UNIQUE CHECK (length(key) <= 64),
  ends_at TEXT NOT NULL
) STRICT;
CREATE INDEX passing_familiar_places_by_end ON passing_familiar_places (ends_at);

-- Logins under way: the digests of what the browser and the client know one by, and, sealed, what it is for.
CREATE TABLE passing_logins (
  id         TEXT NOT NULL PRIMARY KEY CHECK (length(id) <= 64),
  wait_id    TEXT NOT NULL UNIQUE CHECK (length(wait_id) <= 64),
  client     TEXT NOT NULL CHECK (length(client) <= 64),
  about      TEXT NOT NULL CHECK (length(about) <= 262144),
  size       INTEGER NOT NULL,
  halfway    TEXT CHECK (length(halfway) <= 64),
  account_id TEXT CHECK (length(account_id) <= 64),
  token      TEXT CHECK (length(token) <= 256),
  ends_at    TEXT NOT NULL
) STRICT;
CREATE INDEX passing_logins_of_client ON passing_logins (client, ends_at, size);
CREATE INDEX passing_logins_by_end ON passing_logins (ends_at);

-- Tokens that prove a login, and the codes in their place that browsers carry: digests.
CREATE TABLE passing_proofs (
  seq        INTEGER PRIMARY KEY,
  digest     TEXT NOT NULL UNIQUE CHECK (length(digest) <= 64),
  account_id TEXT NOT NULL CHECK (length(account_id) <= 64),
  caveat     TEXT CHECK (length(caveat) <= 64),
  ends_at    TEXT NOT NULL
) STRICT;
CREATE INDEX passing_proofs_by_end ON passing_proofs (ends_at);

CREATE TABLE passing_codes (
  seq     INTEGER PRIMARY KEY,
  digest  TEXT NOT NULL UNIQUE CHECK (length(digest) <= 64),
  token   TEXT NOT NULL CHECK (length(token) <= 256),
  ends_at TEXT NOT NULL
) STRICT;
CREATE INDEX passing_codes_by_end ON passing_codes (ends_at);

-- What one process does at a time, until it says that it goes on, or ends.
CREATE TABLE passing_leases (
  name    TEXT NOT NULL PRIMARY KEY CHECK (length(name) <= 128),
  holder  TEXT NOT NULL CHECK (length(holder) <= 64),
  ends_at TEXT NOT NULL
) STRICT;
CREATE INDEX passing_leases_by_end ON passing_leases (ends_at);
