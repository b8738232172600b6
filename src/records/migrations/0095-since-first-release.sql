-- All changes between the first release and the one with the figures of packages. They were single migrations, which stores of
-- states in between have run. Each object is written as those left it, to the letter, so that all stores have the same schema.
-- SQLite only: the first PostgreSQL stores had all of this.
-- Joins: 0027-needed-contents 0028-audit-seal-chain 0029-image-sha512 0030-ended-tokens 0031-ids-made-here 0032-release-history
-- Joins: 0033-passing 0034-package-contents 0035-notes 0036-passing-registry-uploads 0037-order 0038-login-password 0039-exports
-- Joins: 0040-noun-versions 0041-token-rotation 0042-store-epoch 0043-withdrawn-revisions 0044-edited 0045-people 0046-after-review
-- Joins: 0047-validation-sets 0048-quotas 0049-pull-credentials 0050-deleted-revisions 0051-ended-offers 0052-deleted-components
-- Joins: 0053-passing-shares 0054-figures 0055-fewer-pages 0056-passing-device-nonces 0057-indexes-once 0058-track-of-every-package
-- Joins: 0059-carried-in 0060-releases-version 0061-device-grants 0062-revoked-serials 0063-catalog 0064-charms-for-juju
-- Joins: 0065-passing-seen-devices 0066-approvals 0067-nonces-of-devices 0068-transfers 0069-passing-deltas 0070-requests
-- Joins: 0071-sent-packages 0072-media 0073-floors-in-doubt 0074-unsigned-folders 0075-answered-requests 0076-bundles
-- Joins: 0077-automatic-sources 0078-recovery-codes 0079-kinds-of-macaroons 0080-releases-by-channel 0081-approver-keys 0082-package-days
-- Joins: 0083-made-texts 0084-charms-in-the-catalog 0085-packages-counted 0086-newest-packages 0087-figures-beside-packages

-- The end of the audit log moves to noun_versions, below. Its seals form a chain: the code of each covers the code of the one before,
-- so that none can be removed without the site key. The newest is also kept in a file beside the database.
CREATE TABLE audit_seal_chain (
  number   INTEGER PRIMARY KEY,
  seq      INTEGER NOT NULL,
  hash     TEXT NOT NULL,
  at       TEXT NOT NULL,
  -- The code of the seal before.
  previous TEXT NOT NULL,
  -- Where the log goes on from somewhere else than where it ended: by what, and the newest seal that was left behind.
  anew     TEXT,
  left_seq  INTEGER,
  left_hash TEXT,
  left_mac  TEXT,
  mac      TEXT NOT NULL
);
CREATE INDEX audit_seals_left_behind ON audit_seal_chain (left_mac) WHERE left_mac IS NOT NULL;

-- Accounts and logins. tokens_ended_at: a login that began before is never exchanged for a token. id_made_here: this store made the id,
-- so the online store cannot know it. is_foreign: the account came with packages of another store, and cannot log in here.
ALTER TABLE accounts ADD COLUMN tokens_ended_at TEXT;
ALTER TABLE accounts ADD COLUMN id_made_here INTEGER NOT NULL DEFAULT 0 CHECK (id_made_here IN (0, 1));
ALTER TABLE accounts ADD COLUMN is_foreign INTEGER NOT NULL DEFAULT 0 CHECK (is_foreign IN (0, 1));
-- lower(email) is in accounts_by_email.
DROP INDEX accounts_by_address;
-- Conditions as a JSON list, so that another token can be issued in the token's place; unknown for tokens of earlier releases.
ALTER TABLE macaroons ADD COLUMN conditions TEXT;
ALTER TABLE macaroons ADD COLUMN replaced_by TEXT;
ALTER TABLE macaroons ADD COLUMN kind TEXT NOT NULL DEFAULT 'token' CHECK (kind IN ('token', 'console'));
CREATE INDEX macaroons_by_start ON macaroons (valid_since, session_id);
DROP INDEX macaroons_by_end;
CREATE INDEX macaroons_by_end ON macaroons (valid_until, session_id);
-- Digests of the recovery codes, as a JSON list.
ALTER TABLE totp_secrets ADD COLUMN recovery TEXT NOT NULL DEFAULT '[]';

-- A former user name is never given to another account: signatures and logs name one account for ever.
CREATE TABLE former_usernames (
  username   TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  until      TEXT NOT NULL
);

-- Ephemeral rows: useful for minutes or days, then removed. They are in no audit log and no backup, and have no digests. Secrets in
-- them are digests or sealed.
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
CREATE TABLE passing_familiar_places (
  seq     INTEGER PRIMARY KEY,
  key     TEXT NOT NULL UNIQUE CHECK (length(key) <= 64),
  ends_at TEXT NOT NULL
) STRICT;
CREATE INDEX passing_familiar_places_by_end ON passing_familiar_places (ends_at);
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
, password_set_at TEXT CHECK (length(password_set_at) <= 64)) STRICT;
CREATE INDEX passing_logins_of_client ON passing_logins (client, ends_at, size);
CREATE INDEX passing_logins_by_end ON passing_logins (ends_at);
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
-- What one process does at a time, until its lease ends.
CREATE TABLE passing_leases (
  name    TEXT NOT NULL PRIMARY KEY CHECK (length(name) <= 128),
  holder  TEXT NOT NULL CHECK (length(holder) <= 64),
  ends_at TEXT NOT NULL
) STRICT;
CREATE INDEX passing_leases_by_end ON passing_leases (ends_at);
-- Image blobs that are being pushed. One request sends at a time.
CREATE TABLE passing_registry_uploads (
  id            TEXT NOT NULL PRIMARY KEY CHECK (length(id) <= 64),
  repository    TEXT NOT NULL CHECK (length(repository) <= 400),
  account_id    TEXT CHECK (length(account_id) <= 64),
  size          INTEGER NOT NULL CHECK (size >= 0),
  sender        TEXT CHECK (length(sender) <= 64),
  sending_until TEXT,
  ends_at       TEXT NOT NULL
) STRICT;
CREATE INDEX passing_registry_uploads_of_repository ON passing_registry_uploads (repository, ends_at);
CREATE INDEX passing_registry_uploads_by_end ON passing_registry_uploads (ends_at);
-- The part of each process in something that all processes share, such as the free space of the disk.
CREATE TABLE passing_shares (
  name   TEXT NOT NULL CHECK (length(name) <= 512),
  holder TEXT NOT NULL CHECK (length(holder) <= 64),
  amount INTEGER NOT NULL CHECK (amount > 0),
  PRIMARY KEY (name, holder)
) STRICT, WITHOUT ROWID;
-- Nonces that proved a serial, and a digest of brand and serial, so that a limit is for a device and not for an address.
CREATE TABLE passing_device_nonces (
  nonce   TEXT PRIMARY KEY CHECK (length(nonce) <= 64),
  ends_at TEXT NOT NULL
, device TEXT NOT NULL DEFAULT '' CHECK (length(device) <= 64)) STRICT, WITHOUT ROWID;
CREATE INDEX passing_device_nonces_by_end ON passing_device_nonces (ends_at);
CREATE INDEX passing_device_nonces_of_device ON passing_device_nonces (device, ends_at);
-- The last contact of each device. Snaps have short numbers in it: 20,000 devices with 30 snaps each take less than 20 MB.
CREATE TABLE passing_seen_devices (
  brand_id TEXT NOT NULL,
  model    TEXT NOT NULL,
  serial   TEXT NOT NULL,
  first_at TEXT NOT NULL,
  last_at  TEXT NOT NULL,
  holds    TEXT NOT NULL CHECK (length(holds) <= 65536),
  offers   TEXT NOT NULL CHECK (length(offers) <= 262144),
  PRIMARY KEY (brand_id, model, serial)
) STRICT, WITHOUT ROWID;
CREATE INDEX passing_seen_devices_by_contact ON passing_seen_devices (last_at);
CREATE TABLE passing_seen_snaps (
  number     INTEGER PRIMARY KEY,
  package_id TEXT NOT NULL UNIQUE
) STRICT;

-- Counters, such as downloads, written in batches. A crash may lose the last of them, so their rows have no digests.
CREATE TABLE notes (
  kind    TEXT NOT NULL CHECK (length(kind) <= 32),
  key     TEXT NOT NULL CHECK (length(key) <= 256),
  count   INTEGER NOT NULL CHECK (count > 0),
  last_at TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE package_days (
  day        TEXT NOT NULL CHECK (length(day) = 10),
  package_id TEXT NOT NULL,
  downloads  INTEGER NOT NULL DEFAULT 0 CHECK (downloads >= 0),
  devices    INTEGER NOT NULL DEFAULT 0 CHECK (devices >= 0),
  refreshes  INTEGER NOT NULL DEFAULT 0 CHECK (refreshes >= 0),
  PRIMARY KEY (day, package_id)
) STRICT, WITHOUT ROWID;

-- Media and files that left the host.
CREATE TABLE exports (
  seq    INTEGER PRIMARY KEY,
  at     TEXT NOT NULL,
  actor  TEXT NOT NULL,
  what   TEXT NOT NULL,
  name   TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  bytes  INTEGER NOT NULL
, label TEXT, media TEXT);
CREATE INDEX exports_by_time ON exports (at);

-- Packages.
ALTER TABLE packages ADD COLUMN edited TEXT NOT NULL DEFAULT '[]';
-- The figures of a package are in its own row too: lists of packages read no second page for each row.
ALTER TABLE packages ADD COLUMN revisions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE packages ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
-- An icon is stored as its digest and its ending.
DROP INDEX packages_by_icon;
CREATE INDEX packages_by_icon ON packages (substr(icon, 1, 96)) WHERE icon IS NOT NULL;
CREATE INDEX packages_bundles ON packages (id) WHERE type = 'bundle';
CREATE TABLE package_offers (
  package_id TEXT PRIMARY KEY REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  offered_by TEXT NOT NULL REFERENCES accounts (id),
  offered_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
);
CREATE INDEX package_offers_by_account ON package_offers (account_id, package_id);
CREATE INDEX package_offers_by_end ON package_offers (expires_at);
-- Limits of a publisher that replace those of the configuration.
CREATE TABLE quotas (
  account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id),
  bytes      INTEGER CHECK (bytes >= 0),
  packages   INTEGER CHECK (packages >= 0)
);
-- Devices that get a private snap beside those of the brand of its publisher. An empty text stands for all.
CREATE TABLE device_grants (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  brand_id   TEXT NOT NULL,
  model      TEXT NOT NULL,
  serial     TEXT NOT NULL CHECK (serial = '' OR model <> ''),
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL,
  PRIMARY KEY (brand_id, model, serial, package_id)
);
CREATE INDEX device_grants_of_package ON device_grants (package_id);

-- The order in which rows came, as a column: it does not depend on the numbers that SQLite gives rows.
ALTER TABLE build_sets ADD COLUMN seq INTEGER;
UPDATE build_sets SET seq = rowid;
CREATE UNIQUE INDEX build_sets_in_order ON build_sets (seq);
ALTER TABLE commit_workflows ADD COLUMN seq INTEGER;
UPDATE commit_workflows SET seq = rowid;
CREATE UNIQUE INDEX commit_workflows_in_order ON commit_workflows (seq);
ALTER TABLE track_guardrails ADD COLUMN seq INTEGER;
UPDATE track_guardrails SET seq = rowid;
CREATE UNIQUE INDEX track_guardrails_in_order ON track_guardrails (seq);
ALTER TABLE invites ADD COLUMN seq INTEGER;
UPDATE invites SET seq = rowid;
CREATE UNIQUE INDEX invites_in_order ON invites (seq);
ALTER TABLE uploads ADD COLUMN seq INTEGER;
UPDATE uploads SET seq = rowid;
CREATE UNIQUE INDEX uploads_in_order ON uploads (seq);
DROP INDEX build_sets_of_package;
CREATE INDEX build_sets_of_package ON build_sets (package_id, created_at, seq);
DROP INDEX commit_workflows_of_package;
CREATE INDEX commit_workflows_of_package ON commit_workflows (package_id, created_at, seq);
DROP INDEX invites_of_package;
CREATE INDEX invites_of_package ON invites (package_id, created_at, seq);
DROP INDEX uploads_of_package;
CREATE INDEX uploads_of_package ON uploads (package_id, pushed_at, seq);
DROP INDEX uploads_in_review;
CREATE INDEX uploads_in_review ON uploads (pushed_at, seq) WHERE status IN ('new', 'scanned');
CREATE INDEX invites_by_account ON invites (account_id) WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE INDEX uploads_rejected ON uploads (seq) WHERE status = 'rejected';
DROP INDEX uploads_by_icon;
CREATE INDEX uploads_by_icon ON uploads (substr(icon, 1, 96)) WHERE icon IS NOT NULL;

-- What follows the review of an upload: components to add, channels to release to.
CREATE TABLE after_review (
  upload_id     TEXT NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
  kind          TEXT NOT NULL CHECK (kind IN ('component', 'channel')),
  name          TEXT NOT NULL,
  component     TEXT,
  only_if_newer INTEGER NOT NULL CHECK (only_if_newer IN (0, 1)),
  wanted_by     TEXT NOT NULL,
  session_id    TEXT,
  request_id    TEXT,
  settled       INTEGER NOT NULL DEFAULT 0 CHECK (settled IN (0, 1)),
  error         TEXT,
  PRIMARY KEY (upload_id, kind, name)
);
CREATE INDEX after_review_waiting ON after_review (upload_id) WHERE settled = 0;

-- Revisions. A withdrawn one is given to no device until it is restored. A deleted one keeps its number and digest, so that the number
-- is never used again. sha384, config_yaml and actions_yaml are for juju; an empty sha384 marks a charm that is still to be read.
ALTER TABLE revisions ADD COLUMN withdrawn_at TEXT;
ALTER TABLE revisions ADD COLUMN withdrawn_by TEXT;
ALTER TABLE revisions ADD COLUMN withdrawn_because TEXT;
ALTER TABLE revisions ADD COLUMN deleted_at TEXT;
ALTER TABLE revisions ADD COLUMN deleted_by TEXT;
ALTER TABLE revisions ADD COLUMN deleted_because TEXT;
ALTER TABLE revisions ADD COLUMN sha384 TEXT;
ALTER TABLE revisions ADD COLUMN config_yaml TEXT;
ALTER TABLE revisions ADD COLUMN actions_yaml TEXT;
DROP INDEX revisions_to_sign;
CREATE INDEX revisions_to_sign ON revisions (package_id, revision)
  WHERE assertion IS NULL AND withdrawn_at IS NULL AND deleted_at IS NULL AND package_yaml LIKE '%provenance:%';
DROP INDEX revisions_by_content;
CREATE INDEX revisions_by_content ON revisions (sha3_384) WHERE deleted_at IS NULL;
CREATE INDEX revisions_to_read ON revisions (package_id, revision) WHERE sha384 = '' AND deleted_at IS NULL;

-- Resources. The same component may serve several revisions of a snap.
ALTER TABLE resource_revisions ADD COLUMN deleted_at TEXT;
CREATE INDEX resource_revisions_by_size ON resource_revisions (package_id, sha3_384, size) WHERE deleted_at IS NULL;
CREATE TABLE resource_pairs (
  package_id       TEXT NOT NULL,
  name             TEXT NOT NULL,
  revision         INTEGER NOT NULL,
  package_revision INTEGER NOT NULL,
  PRIMARY KEY (package_id, name, revision, package_revision),
  FOREIGN KEY (package_id, name, revision) REFERENCES resource_revisions (package_id, name, revision)
    ON UPDATE CASCADE ON DELETE CASCADE
);
INSERT INTO resource_pairs
  SELECT package_id, name, revision, package_revision FROM resource_revisions WHERE package_revision IS NOT NULL
  UNION
  SELECT uploads.package_id, resource, uploads.revision, json_extract(request, '$.packageRevision')
  FROM uploads JOIN resource_revisions AS made
    ON made.package_id = uploads.package_id AND made.name = resource AND made.revision = uploads.revision
  WHERE status = 'approved' AND json_extract(request, '$.packageRevision') IS NOT NULL;

-- Images. Some clients name content by its SHA-512.
ALTER TABLE image_blobs ADD COLUMN sha512 TEXT;
ALTER TABLE image_manifests ADD COLUMN sha512 TEXT;
CREATE INDEX image_blobs_by_sha512 ON image_blobs (package_id, resource, sha512) WHERE sha512 IS NOT NULL;
CREATE INDEX image_manifests_by_sha512 ON image_manifests (package_id, resource, sha512) WHERE sha512 IS NOT NULL;
-- A repository has one pull credential without an end.
ALTER TABLE image_credentials ADD COLUMN ends_at TEXT;
DROP INDEX image_credentials_to_pull;
CREATE UNIQUE INDEX image_credentials_to_pull ON image_credentials (package_id, resource)
  WHERE kind = 'pull' AND ends_at IS NULL;
CREATE INDEX image_credentials_by_account ON image_credentials (account_id) WHERE kind = 'push';
CREATE INDEX image_credentials_by_end ON image_credentials (ends_at) WHERE ends_at IS NOT NULL;

-- A progressive release is a row of its own, beside the ordinary one of its slot. Until now the name of the slot said so.
CREATE TABLE releases_with_progress (
  package_id             TEXT NOT NULL,
  channel                TEXT NOT NULL,
  slot                   TEXT NOT NULL,
  progressive            INTEGER NOT NULL CHECK (progressive IN (0, 1)),
  architecture           TEXT,
  base_name              TEXT,
  base_channel           TEXT,
  revision               INTEGER NOT NULL,
  progressive_paused     INTEGER CHECK (progressive_paused IN (0, 1)),
  progressive_percentage REAL,
  resources              TEXT NOT NULL,
  released_at            TEXT NOT NULL,
  expires_at             TEXT,
  PRIMARY KEY (package_id, channel, slot, progressive),
  FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON DELETE CASCADE
);
INSERT INTO releases_with_progress
SELECT package_id, channel, replace(slot, ' (progressive)', ''), CASE WHEN progressive_percentage IS NULL THEN 0 ELSE 1 END,
  architecture, base_name, base_channel, revision, progressive_paused, progressive_percentage, resources, released_at, expires_at
FROM releases;
DROP TABLE releases;
ALTER TABLE releases_with_progress RENAME TO releases;
CREATE INDEX releases_expiring ON releases (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX releases_by_channel ON releases (channel, package_id);
-- The history of releases. A row without a revision is a closing. The first rows have no author.
CREATE TABLE "past_releases" (
  package_id  TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE ON UPDATE CASCADE,
  seq         INTEGER NOT NULL,
  channel     TEXT NOT NULL,
  slot        TEXT NOT NULL,
  revision    INTEGER,
  before      INTEGER,
  percentage  REAL,
  paused      INTEGER CHECK (paused IN (0, 1)),
  released_at TEXT NOT NULL,
  released_by TEXT,
  PRIMARY KEY (package_id, seq)
) WITHOUT ROWID;
INSERT INTO past_releases (package_id, seq, channel, slot, revision, before, percentage, paused, released_at, released_by)
SELECT package_id, row_number() OVER (PARTITION BY package_id ORDER BY released_at, channel, slot, progressive),
  channel, slot, revision, NULL, progressive_percentage, progressive_paused, released_at, NULL
FROM releases;

-- Tracks, in the order of their key. Every package has the track latest; it has a row only if something was set for it.
CREATE TABLE tracks_by_key (
  package_id                   TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  name                         TEXT NOT NULL,
  version_pattern              TEXT,
  automatic_phasing_percentage REAL,
  created_at                   TEXT NOT NULL,
  PRIMARY KEY (package_id, name)
) WITHOUT ROWID;
INSERT INTO tracks_by_key (package_id, name, version_pattern, automatic_phasing_percentage, created_at)
  SELECT package_id, name, version_pattern, automatic_phasing_percentage, created_at FROM tracks ORDER BY package_id, name;
DROP TABLE tracks;
ALTER TABLE tracks_by_key RENAME TO tracks;
DELETE FROM tracks
WHERE name = 'latest' AND version_pattern IS NULL AND automatic_phasing_percentage IS NULL
  AND created_at = (SELECT created_at FROM packages WHERE id = package_id);
CREATE VIEW package_tracks (package_id, name, version_pattern, automatic_phasing_percentage, created_at) AS
SELECT package_id, name, version_pattern, automatic_phasing_percentage, created_at FROM tracks
UNION ALL
SELECT id, 'latest', NULL, NULL, created_at FROM packages
WHERE NOT EXISTS (SELECT 1 FROM tracks WHERE package_id = packages.id AND name = 'latest');

-- Assertions. The name of a validation set is validation-set/16/ACCOUNT/NAME/SEQUENCE; none of these parts has a slash.
ALTER TABLE assertions ADD COLUMN set_name TEXT;
ALTER TABLE assertions ADD COLUMN sequence INTEGER;
ALTER TABLE assertions ADD COLUMN snap_id TEXT;
ALTER TABLE assertions ADD COLUMN snap_revision INTEGER;
WITH RECURSIVE
  sets (name, rest, number, account_id, set_name) AS (
    SELECT name, substr(name, length('validation-set/16/') + 1), 0, NULL, NULL
    FROM assertions WHERE type = 'validation-set'
    UNION ALL
    SELECT name, substr(rest, instr(rest, '/') + 1), number + 1,
      CASE number WHEN 0 THEN substr(rest, 1, instr(rest, '/') - 1) ELSE account_id END,
      CASE number WHEN 1 THEN substr(rest, 1, instr(rest, '/') - 1) ELSE set_name END
    FROM sets WHERE number < 2
  )
UPDATE assertions SET account_id = sets.account_id, set_name = sets.set_name, sequence = CAST(sets.rest AS INTEGER)
FROM sets WHERE sets.name = assertions.name AND sets.number = 2;
UPDATE assertions
SET snap_id = substr(text, instr(text, char(10) || 'snap-id: ') + 10, 32),
  snap_revision = CAST(substr(text, instr(text, char(10) || 'snap-revision: ') + 16, 15) AS INTEGER)
WHERE type = 'snap-revision';
CREATE INDEX validation_sets ON assertions (account_id, set_name, sequence) WHERE set_name IS NOT NULL;
CREATE INDEX assertions_by_revision ON assertions (snap_id, snap_revision) WHERE snap_id IS NOT NULL;
CREATE INDEX brands_by_administrator ON brand_administrators (account_id, brand_account_id);
-- brands_by_administrator begins with the account.
DROP INDEX brand_administrators_by_account;
-- Revoked serials: the device has no session and gets none.
CREATE TABLE revoked_serials (
  brand_id   TEXT NOT NULL,
  model      TEXT NOT NULL,
  serial     TEXT NOT NULL,
  because    TEXT NOT NULL,
  revoked_at TEXT NOT NULL,
  revoked_by TEXT NOT NULL,
  PRIMARY KEY (brand_id, model, serial)
);

-- Approvals. The policy is stored here and not only in the configuration, so that a change of that file alone does not weaken it.
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
  at         TEXT NOT NULL, key TEXT CHECK (length(key) <= 4200), signature TEXT CHECK (length(signature) <= 8192),
  PRIMARY KEY (proposal, account_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE account_roles (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON UPDATE CASCADE,
  role       TEXT NOT NULL CHECK (role IN ('transfer-approver', 'auditor')),
  since      TEXT NOT NULL,
  PRIMARY KEY (account_id, role)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_roles_by_role ON account_roles (role);
-- Who last made or changed an account, its password, its one-time passwords or its roles could approve under its name.
CREATE TABLE touched_accounts (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id) ON UPDATE CASCADE,
  at         TEXT NOT NULL,
  by         TEXT NOT NULL,
  what       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- Keys that sign approvals, stored outside the host. A key belongs to one account, so that no person counts twice.
CREATE TABLE approver_keys (
  key        TEXT PRIMARY KEY CHECK (length(key) <= 4200),
  account_id TEXT NOT NULL REFERENCES accounts (id) ON UPDATE CASCADE,
  added_at   TEXT NOT NULL,
  added_by   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX approver_keys_by_account ON approver_keys (account_id);

-- Transfers between sites: trusted sources, received transfers, and those that this site made.
CREATE TABLE transfer_sources (
  name        TEXT PRIMARY KEY,
  keys        TEXT NOT NULL,
  threshold   INTEGER NOT NULL CHECK (threshold > 0),
  packages    TEXT NOT NULL,
  may_release INTEGER NOT NULL CHECK (may_release IN (0, 1)),
  -- The highest sequence number that was let in: nothing at or under it is let in again.
  floor       INTEGER NOT NULL DEFAULT 0,
  added_at    TEXT NOT NULL,
  added_by    TEXT NOT NULL
, floor_in_doubt INTEGER NOT NULL DEFAULT 0 CHECK (floor_in_doubt IN (0, 1)), scanners TEXT NOT NULL DEFAULT '[]', scans INTEGER NOT NULL DEFAULT 0 CHECK (scans >= 0), rotation INTEGER NOT NULL DEFAULT 0, accept TEXT NOT NULL DEFAULT 'people' CHECK (accept IN ('people', 'automatic')));
CREATE TABLE transfers (
  id          TEXT PRIMARY KEY,
  source      TEXT NOT NULL,
  sequence    INTEGER NOT NULL,
  statement   TEXT NOT NULL,
  signatures  TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('waiting', 'accepted', 'discarded', 'withdrawn')),
  received_at TEXT NOT NULL,
  received_by TEXT NOT NULL,
  settled_at  TEXT,
  settled_by  TEXT,
  -- What was changed by it, so that it can be told and put back.
  receipt     TEXT
, media TEXT NOT NULL DEFAULT '[]', unsigned INTEGER NOT NULL DEFAULT 0 CHECK (unsigned IN (0, 1)), answers TEXT);
CREATE INDEX transfers_by_statement ON transfers (statement) WHERE status <> 'discarded';
CREATE INDEX transfers_by_arrival ON transfers (received_at);
CREATE INDEX transfers_by_settling ON transfers (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX transfers_by_sequence ON transfers (source, sequence);
CREATE INDEX transfers_waiting ON transfers (id) WHERE status = 'waiting';
CREATE INDEX transfers_unsigned ON transfers (sequence) WHERE unsigned = 1;
CREATE TABLE passing_transfer_contents (
  transfer TEXT NOT NULL,
  sha3_384 TEXT NOT NULL,
  ends_at  TEXT NOT NULL,
  PRIMARY KEY (transfer, sha3_384)
);
CREATE INDEX passing_transfer_contents_by_content ON passing_transfer_contents (sha3_384);
CREATE INDEX passing_transfer_contents_by_end ON passing_transfer_contents (ends_at);
CREATE TABLE passing_transfer_findings (
  transfer TEXT NOT NULL,
  subject  TEXT NOT NULL,
  findings TEXT,
  refused  TEXT,
  ends_at  TEXT NOT NULL,
  PRIMARY KEY (transfer, subject),
  CHECK ((findings IS NULL) <> (refused IS NULL))
);
CREATE INDEX passing_transfer_findings_by_end ON passing_transfer_findings (ends_at);
CREATE TABLE made_transfers (
  sequence  INTEGER PRIMARY KEY,
  id        TEXT NOT NULL,
  sites     TEXT NOT NULL,
  -- As in the table above.
  statement TEXT NOT NULL,
  bytes     INTEGER NOT NULL,
  made_at   TEXT NOT NULL,
  made_by   TEXT NOT NULL
);
CREATE INDEX made_transfers_by_statement ON made_transfers (statement);
CREATE TABLE sent_contents (
  site     TEXT NOT NULL,
  -- By its SHA3-384; it need not be here any more.
  content  TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (site, content)
);
CREATE TABLE sent_packages (
  -- Empty for what was made for any site.
  site       TEXT NOT NULL,
  package_id TEXT NOT NULL,
  digest     TEXT NOT NULL,
  sequence   INTEGER NOT NULL,
  PRIMARY KEY (site, package_id)
);
-- Texts that transfers carry and no other record names. Those of the last hundred transfers stay, so that a lost part can be made again.
CREATE TABLE made_texts (
  sha3_384 TEXT NOT NULL,
  sequence INTEGER NOT NULL REFERENCES made_transfers (sequence),
  PRIMARY KEY (sha3_384, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX made_texts_by_transfer ON made_texts (sequence);
-- Subscriptions of this site, its requests, and the receipts of other sites.
CREATE TABLE subscriptions (
  namespace     TEXT NOT NULL,
  name          TEXT NOT NULL,
  channels      TEXT NOT NULL,
  architectures TEXT NOT NULL,
  -- Where the wish came from: a set, a model, a bundle; nothing where somebody typed it.
  because       TEXT,
  added_at      TEXT NOT NULL,
  added_by      TEXT NOT NULL,
  PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE made_requests (
  number  INTEGER PRIMARY KEY,
  id      TEXT NOT NULL,
  bytes   INTEGER NOT NULL,
  made_at TEXT NOT NULL,
  made_by TEXT NOT NULL
) STRICT;
CREATE TABLE site_receipts (
  site     TEXT NOT NULL,
  -- The SHA-256 of the transfer's statement.
  transfer TEXT NOT NULL,
  status   TEXT NOT NULL CHECK (status IN ('accepted', 'withdrawn')),
  at       TEXT NOT NULL,
  -- As the request said it, JSON.
  receipt  TEXT NOT NULL,
  noted_at TEXT NOT NULL,
  PRIMARY KEY (site, transfer)
) STRICT, WITHOUT ROWID;

-- Deltas between two revisions of a snap. They can be made again. One that was too large or failed has no content.
CREATE TABLE passing_deltas (
  package_id  TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE ON UPDATE CASCADE,
  source      INTEGER NOT NULL,
  target      INTEGER NOT NULL,
  -- Of the delta; nothing where there is none, and then its size is the one that it was larger than.
  sha3_384    TEXT,
  size        INTEGER NOT NULL,
  -- When the target was released: what was released first goes first where there is no room.
  released_at TEXT NOT NULL,
  PRIMARY KEY (package_id, source, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX passing_deltas_by_content ON passing_deltas (sha3_384);
CREATE INDEX passing_deltas_by_release ON passing_deltas (released_at);
CREATE TABLE passing_delta_work (
  package_id TEXT NOT NULL PRIMARY KEY,
  version    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The catalog: packages that devices and people find by words. It is made of other records, package by package.
CREATE TABLE "catalog_packages" (
  package_id  TEXT NOT NULL PRIMARY KEY REFERENCES packages (id) ON DELETE CASCADE ON UPDATE CASCADE,
  name        TEXT NOT NULL,
  confinement TEXT NOT NULL,
  -- What the list of all names says of it, as JSON.
  entry       TEXT NOT NULL
, namespace TEXT NOT NULL DEFAULT 'snap') STRICT, WITHOUT ROWID;
CREATE INDEX catalog_packages_by_name ON catalog_packages (namespace, name);
CREATE TABLE catalog_words (
  word       TEXT NOT NULL,
  package_id TEXT NOT NULL REFERENCES "catalog_packages" (package_id) ON DELETE CASCADE ON UPDATE CASCADE,
  weight     INTEGER NOT NULL,
  PRIMARY KEY (word, package_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX catalog_words_by_package ON catalog_words (package_id, word);
-- Packages of which the catalog must be made again.
CREATE TABLE catalog_stale (package_id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO catalog_stale SELECT id FROM packages WHERE namespace IN ('snap', 'charm') AND status = 'published' AND private = 0;

-- All content that a row needs. Sweep, verification and backup read this view; a table that names content belongs here.
CREATE VIEW needed_contents (sha3_384) AS
  SELECT sha3_384 FROM uploads
  WHERE NOT EXISTS (
    SELECT 1 FROM revisions
    WHERE revisions.package_id = uploads.package_id AND revisions.sha3_384 = uploads.sha3_384
      AND revisions.deleted_at IS NOT NULL AND uploads.status IN ('approved', 'rejected') AND uploads.resource IS NULL)
    AND NOT EXISTS (
    SELECT 1 FROM resource_revisions AS component
    WHERE component.package_id = uploads.package_id AND component.name = uploads.resource
      AND component.sha3_384 = uploads.sha3_384
      AND component.deleted_at IS NOT NULL AND uploads.status IN ('approved', 'rejected'))
  UNION ALL SELECT sha3_384 FROM revisions WHERE deleted_at IS NULL
  UNION ALL SELECT sha3_384 FROM resource_revisions WHERE deleted_at IS NULL
  UNION ALL SELECT sha3_384 FROM image_blobs
  UNION ALL SELECT sha3_384 FROM image_manifests
  UNION ALL SELECT substr(icon, 1, 96) FROM uploads WHERE icon IS NOT NULL
  UNION ALL SELECT substr(icon, 1, 96) FROM packages WHERE icon IS NOT NULL
  UNION ALL SELECT statement FROM transfers WHERE status <> 'discarded'
  UNION ALL SELECT statement FROM made_transfers
  UNION ALL SELECT sha3_384 FROM made_texts WHERE sequence > (SELECT coalesce(max(sequence), 0) - 100 FROM made_transfers)
  UNION ALL SELECT sha3_384 FROM passing_transfer_contents
  UNION ALL SELECT sha3_384 FROM passing_deltas WHERE sha3_384 IS NOT NULL;

-- The contents of a package, each once: revisions, resources, images, and uploads that are not decided yet.
CREATE VIEW package_contents (package_id, sha3_384, size) AS
SELECT package_id, sha3_384, size FROM revisions WHERE deleted_at IS NULL
UNION
SELECT package_id, sha3_384, size FROM resource_revisions WHERE deleted_at IS NULL
UNION
SELECT package_id, sha3_384, size FROM image_blobs
UNION
SELECT package_id, sha3_384, size FROM image_manifests
UNION
SELECT package_id, sha3_384, size FROM uploads WHERE package_id IS NOT NULL AND status IN ('new', 'scanned');

-- Figures: counting a million revisions took seconds. They can be computed again, so their rows have no digests.
-- kept_contents is the view package_contents, row for row.
CREATE TABLE kept_contents (
  package_id TEXT NOT NULL,
  sha3_384   TEXT NOT NULL,
  size       INTEGER NOT NULL,
  PRIMARY KEY (package_id, sha3_384)
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_contents_by_content ON kept_contents (sha3_384, package_id);
INSERT INTO kept_contents SELECT package_id, sha3_384, max(size) FROM package_contents GROUP BY package_id, sha3_384;
CREATE TABLE package_figures (
  package_id   TEXT NOT NULL PRIMARY KEY,
  publisher_id TEXT NOT NULL,
  revisions    INTEGER NOT NULL DEFAULT 0,
  bytes        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX package_figures_by_bytes ON package_figures (bytes, package_id);
INSERT INTO package_figures
  SELECT package_id, publisher_id, 0, sum(size)
  FROM kept_contents JOIN packages ON packages.id = package_id GROUP BY package_id;
UPDATE package_figures SET revisions = (
  SELECT count(*) FROM revisions WHERE revisions.package_id = package_figures.package_id AND deleted_at IS NULL);
UPDATE packages SET revisions = figures.revisions, bytes = figures.bytes
  FROM package_figures AS figures WHERE figures.package_id = packages.id;
-- Content that several packages of a publisher share counts once.
CREATE TABLE publisher_figures (
  publisher_id TEXT NOT NULL PRIMARY KEY,
  bytes        INTEGER NOT NULL DEFAULT 0
, packages INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE INDEX publisher_figures_by_bytes ON publisher_figures (bytes, publisher_id);
INSERT INTO publisher_figures (publisher_id, packages) SELECT publisher_id, count(*) FROM packages GROUP BY publisher_id;
UPDATE publisher_figures SET bytes = shared.bytes
FROM (
  SELECT publisher_id, sum(size) AS bytes FROM (
    SELECT DISTINCT publisher_id, sha3_384, size
    FROM kept_contents JOIN package_figures ON package_figures.package_id = kept_contents.package_id)
  GROUP BY publisher_id
) AS shared
WHERE shared.publisher_id = publisher_figures.publisher_id;

-- How often the rows of a table changed: a process compares it with the number that it cached the rows at. The row of a table also
-- has its number of rows, that of packages the bytes of all, and that of the audit log its end: each change writes this row anyway.
-- The packages that one publisher registered last are counted here, and added to the publisher when another one registers a name.
CREATE TABLE noun_versions (
  noun    TEXT NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL DEFAULT 0
, row_count INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, hash TEXT, mac TEXT, publisher_id TEXT, publisher_packages INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO noun_versions (noun) VALUES
  ('accounts'), ('approval_policy'), ('audit'), ('catalog'), ('collaborators'), ('damaged_blobs'), ('deltas'), ('device_grants'),
  ('macaroons'), ('packages'), ('proposals'), ('releases'), ('revisions'), ('revoked_serials'), ('root_keys'),
  ('store_administrators'), ('uploads');
UPDATE noun_versions SET row_count = (SELECT count(*) FROM packages),
  bytes = (SELECT coalesce(sum(size), 0) FROM (SELECT DISTINCT sha3_384, size FROM kept_contents))
WHERE noun = 'packages';
UPDATE noun_versions SET row_count = (SELECT count(*) FROM revisions WHERE deleted_at IS NULL) WHERE noun = 'revisions';
UPDATE noun_versions SET row_count = (SELECT count(*) FROM uploads) WHERE noun = 'uploads';
UPDATE noun_versions SET (version, hash) = (SELECT seq, hash FROM audit_end WHERE one = 1)
WHERE noun = 'audit' AND EXISTS (SELECT 1 FROM audit_end WHERE one = 1);
DROP TRIGGER audit_has_an_end;
DROP TABLE audit_end;
CREATE VIEW publishers (publisher_id, bytes, packages) AS
SELECT publisher_id, bytes, packages + CASE publisher_id
    WHEN (SELECT last.publisher_id FROM noun_versions AS last WHERE noun = 'packages')
    THEN (SELECT publisher_packages FROM noun_versions WHERE noun = 'packages') ELSE 0 END
FROM publisher_figures;

-- The digests of rows by their keys: rows that one change writes are neighbours.
DROP TABLE row_digests;
CREATE TABLE row_digests (
  row      TEXT NOT NULL,
  of_table TEXT NOT NULL,
  digest   BLOB NOT NULL,
  PRIMARY KEY (row, of_table)
) STRICT, WITHOUT ROWID;

-- The numbers of the audit log belong to this epoch. A restore makes another one.
INSERT INTO appliance (name, value) VALUES ('store-epoch', lower(hex(randomblob(16))));

-- Triggers count changes, because a change that another table causes has no statement of its own. There is none for new accounts:
-- it would make SQLite search all tables that name accounts.
CREATE TRIGGER accounts_changed AFTER UPDATE ON accounts BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'accounts'; END;
CREATE TRIGGER accounts_removed AFTER DELETE ON accounts BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'accounts'; END;
CREATE TRIGGER audit_added AFTER INSERT ON audit BEGIN INSERT INTO noun_versions (noun, version, hash) VALUES ('audit', NEW.seq, NEW.hash) ON CONFLICT (noun) DO UPDATE SET version = excluded.version, hash = excluded.hash, mac = NULL WHERE noun = 'audit'; END;
CREATE TRIGGER collaborators_added AFTER INSERT ON collaborators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'collaborators'; END;
CREATE TRIGGER collaborators_changed AFTER UPDATE ON collaborators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'collaborators'; END;
CREATE TRIGGER collaborators_removed AFTER DELETE ON collaborators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'collaborators'; END;
CREATE TRIGGER damaged_blobs_added AFTER INSERT ON damaged_blobs BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'damaged_blobs'; END;
CREATE TRIGGER damaged_blobs_changed AFTER UPDATE ON damaged_blobs BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'damaged_blobs'; END;
CREATE TRIGGER damaged_blobs_removed AFTER DELETE ON damaged_blobs BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'damaged_blobs'; END;
CREATE TRIGGER macaroons_added AFTER INSERT ON macaroons BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'macaroons'; END;
CREATE TRIGGER macaroons_changed AFTER UPDATE ON macaroons BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'macaroons'; END;
CREATE TRIGGER macaroons_removed AFTER DELETE ON macaroons BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'macaroons'; END;
CREATE TRIGGER packages_added AFTER INSERT ON packages BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + 1 WHERE noun = 'packages'; END;
CREATE TRIGGER packages_changed AFTER UPDATE OF id, namespace, name, type, publisher_id, private, status, title, summary, description, default_track, links, icon, created_at, manual_review, edited ON packages BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'packages'; END;
CREATE TRIGGER packages_removed AFTER DELETE ON packages BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count - 1 WHERE noun = 'packages'; END;
CREATE TRIGGER revisions_added AFTER INSERT ON revisions BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + (NEW.deleted_at IS NULL) WHERE noun = 'revisions'; END;
CREATE TRIGGER revisions_changed AFTER UPDATE ON revisions BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + (NEW.deleted_at IS NULL) - (OLD.deleted_at IS NULL) WHERE noun = 'revisions'; END;
CREATE TRIGGER revisions_removed AFTER DELETE ON revisions BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count - (OLD.deleted_at IS NULL) WHERE noun = 'revisions'; END;
CREATE TRIGGER root_keys_added AFTER INSERT ON root_keys BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'root_keys'; END;
CREATE TRIGGER root_keys_changed AFTER UPDATE ON root_keys BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'root_keys'; END;
CREATE TRIGGER root_keys_removed AFTER DELETE ON root_keys BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'root_keys'; END;
CREATE TRIGGER store_administrators_added AFTER INSERT ON store_administrators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'store_administrators'; END;
CREATE TRIGGER store_administrators_changed AFTER UPDATE ON store_administrators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'store_administrators'; END;
CREATE TRIGGER store_administrators_removed AFTER DELETE ON store_administrators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'store_administrators'; END;
CREATE TRIGGER uploads_added AFTER INSERT ON uploads BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + 1 WHERE noun = 'uploads'; END;
CREATE TRIGGER uploads_changed AFTER UPDATE ON uploads BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'uploads'; END;
CREATE TRIGGER uploads_removed AFTER DELETE ON uploads BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count - 1 WHERE noun = 'uploads'; END;
CREATE TRIGGER releases_added AFTER INSERT ON releases BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'releases'; END;
CREATE TRIGGER releases_changed AFTER UPDATE ON releases BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'releases'; END;
CREATE TRIGGER releases_removed AFTER DELETE ON releases BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'releases'; END;
CREATE TRIGGER device_grants_added AFTER INSERT ON device_grants BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'device_grants'; END;
CREATE TRIGGER device_grants_changed AFTER UPDATE ON device_grants BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'device_grants'; END;
CREATE TRIGGER device_grants_removed AFTER DELETE ON device_grants BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'device_grants'; END;
CREATE TRIGGER revoked_serials_added AFTER INSERT ON revoked_serials BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revoked_serials'; END;
CREATE TRIGGER revoked_serials_changed AFTER UPDATE ON revoked_serials BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revoked_serials'; END;
CREATE TRIGGER revoked_serials_removed AFTER DELETE ON revoked_serials BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revoked_serials'; END;
CREATE TRIGGER approval_policy_added AFTER INSERT ON approval_policy BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'approval_policy'; END;
CREATE TRIGGER approval_policy_changed AFTER UPDATE ON approval_policy BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'approval_policy'; END;
CREATE TRIGGER approval_policy_removed AFTER DELETE ON approval_policy BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'approval_policy'; END;
CREATE TRIGGER proposals_added AFTER INSERT ON proposals BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; END;
CREATE TRIGGER proposals_changed AFTER UPDATE ON proposals BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; END;
CREATE TRIGGER proposals_removed AFTER DELETE ON proposals BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; END;
CREATE TRIGGER approvals_added AFTER INSERT ON approvals BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; END;
CREATE TRIGGER deltas_added AFTER INSERT ON passing_deltas BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'deltas'; END;
CREATE TRIGGER deltas_changed AFTER UPDATE ON passing_deltas BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'deltas'; END;
CREATE TRIGGER deltas_removed AFTER DELETE ON passing_deltas BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'deltas'; END;
-- The list of all names changes with snaps alone.
CREATE TRIGGER catalog_added AFTER INSERT ON catalog_packages WHEN NEW.namespace = 'snap' BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END;
CREATE TRIGGER catalog_changed AFTER UPDATE ON catalog_packages WHEN NEW.namespace = 'snap' BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END;
CREATE TRIGGER catalog_removed AFTER DELETE ON catalog_packages WHEN OLD.namespace = 'snap' BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END;

-- Content that a package keeps adds to its figures; to those of the publisher if no other package of that publisher has it, and to
-- those of the store if no other package has it.
CREATE TRIGGER content_kept AFTER INSERT ON kept_contents BEGIN
  INSERT INTO package_figures (package_id, publisher_id)
    SELECT id, publisher_id FROM packages
    WHERE id = NEW.package_id AND NOT EXISTS (SELECT 1 FROM package_figures WHERE package_id = NEW.package_id);
  UPDATE package_figures SET bytes = bytes + NEW.size WHERE package_id = NEW.package_id;
  UPDATE publisher_figures SET bytes = bytes + NEW.size
    WHERE publisher_id = (SELECT publisher_id FROM package_figures WHERE package_id = NEW.package_id)
      AND NOT EXISTS (
        SELECT 1 FROM kept_contents AS other JOIN package_figures AS owner ON owner.package_id = other.package_id
        WHERE other.sha3_384 = NEW.sha3_384 AND other.package_id <> NEW.package_id
          AND owner.publisher_id = publisher_figures.publisher_id);
  UPDATE noun_versions SET bytes = bytes + NEW.size
    WHERE noun = 'packages'
      AND NOT EXISTS (SELECT 1 FROM kept_contents WHERE sha3_384 = NEW.sha3_384 AND package_id <> NEW.package_id);
END;
CREATE TRIGGER content_gone AFTER DELETE ON kept_contents BEGIN
  UPDATE package_figures SET bytes = bytes - OLD.size WHERE package_id = OLD.package_id;
  UPDATE publisher_figures SET bytes = bytes - OLD.size
    WHERE publisher_id = (SELECT publisher_id FROM package_figures WHERE package_id = OLD.package_id)
      AND NOT EXISTS (
        SELECT 1 FROM kept_contents AS other JOIN package_figures AS owner ON owner.package_id = other.package_id
        WHERE other.sha3_384 = OLD.sha3_384 AND owner.publisher_id = publisher_figures.publisher_id);
  UPDATE noun_versions SET bytes = bytes - OLD.size
    WHERE noun = 'packages' AND NOT EXISTS (SELECT 1 FROM kept_contents WHERE sha3_384 = OLD.sha3_384);
END;

-- After a change of a table of package_contents, the view says what the package keeps of that content.
CREATE VIEW touched_contents (package_id, sha3_384) AS SELECT package_id, sha3_384 FROM kept_contents;
CREATE TRIGGER touch_content INSTEAD OF INSERT ON touched_contents BEGIN
  INSERT INTO kept_contents
    SELECT package_id, sha3_384, size FROM package_contents
    WHERE package_id = NEW.package_id AND sha3_384 = NEW.sha3_384
      AND NOT EXISTS (
        SELECT 1 FROM kept_contents AS known WHERE known.package_id = NEW.package_id AND known.sha3_384 = NEW.sha3_384)
    LIMIT 1;
  DELETE FROM kept_contents
    WHERE package_id = NEW.package_id AND sha3_384 = NEW.sha3_384
      AND NOT EXISTS (
        SELECT 1 FROM package_contents AS held WHERE held.package_id = NEW.package_id AND held.sha3_384 = NEW.sha3_384);
END;
CREATE TRIGGER revision_content_added AFTER INSERT ON revisions BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
  UPDATE package_figures SET revisions = revisions + (NEW.deleted_at IS NULL) WHERE package_id = NEW.package_id;
END;
CREATE TRIGGER revision_content_changed AFTER UPDATE OF deleted_at ON revisions BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
  UPDATE package_figures SET revisions = revisions + (NEW.deleted_at IS NULL) - (OLD.deleted_at IS NULL) WHERE package_id = NEW.package_id;
END;
CREATE TRIGGER revision_content_removed AFTER DELETE ON revisions BEGIN
  INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
  UPDATE package_figures SET revisions = revisions - (OLD.deleted_at IS NULL) WHERE package_id = OLD.package_id;
END;
CREATE TRIGGER resource_content_added AFTER INSERT ON resource_revisions BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER resource_content_changed AFTER UPDATE ON resource_revisions WHEN NEW.package_id = OLD.package_id BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER resource_content_removed AFTER DELETE ON resource_revisions BEGIN
  INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
END;
CREATE TRIGGER image_blob_added AFTER INSERT ON image_blobs BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER image_blob_removed AFTER DELETE ON image_blobs BEGIN
  INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
END;
CREATE TRIGGER image_manifest_added AFTER INSERT ON image_manifests BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER image_manifest_removed AFTER DELETE ON image_manifests BEGIN
  INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
END;
CREATE TRIGGER upload_content_added AFTER INSERT ON uploads WHEN NEW.package_id IS NOT NULL BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER upload_content_changed AFTER UPDATE OF status ON uploads WHEN NEW.package_id IS NOT NULL BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER upload_content_removed AFTER DELETE ON uploads WHEN OLD.status IN ('new', 'scanned') BEGIN
  INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
END;

-- Packages that get another id, are removed, registered or handed over.
CREATE TRIGGER package_renamed AFTER UPDATE OF id ON packages WHEN NEW.id <> OLD.id BEGIN
  UPDATE kept_contents SET package_id = NEW.id WHERE package_id = OLD.id;
  UPDATE package_figures SET package_id = NEW.id WHERE package_id = OLD.id;
END;
CREATE TRIGGER package_gone AFTER DELETE ON packages BEGIN
  DELETE FROM kept_contents WHERE package_id = OLD.id;
  DELETE FROM package_figures WHERE package_id = OLD.id;
END;
CREATE TRIGGER package_counted AFTER INSERT ON packages BEGIN
  UPDATE publisher_figures SET packages = packages + (SELECT publisher_packages FROM noun_versions WHERE noun = 'packages')
    WHERE publisher_id = (
      SELECT last.publisher_id FROM noun_versions AS last WHERE noun = 'packages' AND last.publisher_id <> NEW.publisher_id);
  INSERT INTO publisher_figures (publisher_id)
    SELECT NEW.publisher_id WHERE NOT EXISTS (SELECT 1 FROM publisher_figures WHERE publisher_id = NEW.publisher_id);
  UPDATE noun_versions
    SET publisher_packages = CASE publisher_id WHEN NEW.publisher_id THEN publisher_packages + 1 ELSE 1 END,
      publisher_id = NEW.publisher_id
    WHERE noun = 'packages';
END;
CREATE TRIGGER package_counted_off AFTER DELETE ON packages BEGIN
  UPDATE publisher_figures SET packages = packages - 1 WHERE publisher_id = OLD.publisher_id;
END;
CREATE TRIGGER package_handed_over AFTER UPDATE OF publisher_id ON packages WHEN NEW.publisher_id <> OLD.publisher_id BEGIN
  UPDATE publisher_figures SET packages = packages - 1, bytes = bytes - (
    SELECT coalesce(sum(mine.size), 0) FROM kept_contents AS mine
    WHERE mine.package_id = NEW.id AND NOT EXISTS (
      SELECT 1 FROM kept_contents AS other JOIN package_figures AS owner ON owner.package_id = other.package_id
      WHERE other.sha3_384 = mine.sha3_384 AND other.package_id <> mine.package_id AND owner.publisher_id = OLD.publisher_id))
    WHERE publisher_id = OLD.publisher_id;
  INSERT INTO publisher_figures (publisher_id, packages) VALUES (NEW.publisher_id, 1)
    ON CONFLICT (publisher_id) DO UPDATE SET packages = publisher_figures.packages + 1;
  UPDATE publisher_figures SET bytes = bytes + (
    SELECT coalesce(sum(mine.size), 0) FROM kept_contents AS mine
    WHERE mine.package_id = NEW.id AND NOT EXISTS (
      SELECT 1 FROM kept_contents AS other JOIN package_figures AS owner ON owner.package_id = other.package_id
      WHERE other.sha3_384 = mine.sha3_384 AND other.package_id <> mine.package_id AND owner.publisher_id = NEW.publisher_id))
    WHERE publisher_id = NEW.publisher_id;
  UPDATE package_figures SET publisher_id = NEW.publisher_id WHERE package_id = NEW.id;
END;
CREATE TRIGGER figures_changed AFTER UPDATE OF revisions, bytes ON package_figures BEGIN
  UPDATE packages SET revisions = NEW.revisions, bytes = NEW.bytes WHERE id = NEW.package_id;
END;

-- What makes an entry of the catalog stale. A package that becomes private is hidden at once.
CREATE TRIGGER catalog_release_added AFTER INSERT ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); END;
CREATE TRIGGER catalog_release_changed AFTER UPDATE ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); END;
CREATE TRIGGER catalog_release_removed AFTER DELETE ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = OLD.package_id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = OLD.package_id); END;
CREATE TRIGGER catalog_package_changed AFTER UPDATE OF id, name, type, publisher_id, private, status, title, summary, default_track ON packages WHEN NEW.namespace IN ('snap', 'charm') BEGIN INSERT INTO catalog_stale SELECT NEW.id WHERE NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.id); END;
CREATE TRIGGER catalog_declaration_added AFTER INSERT ON assertions WHEN NEW.type = 'snap-declaration' BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = substr(NEW.name, 21) AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END;
CREATE TRIGGER catalog_declaration_changed AFTER UPDATE ON assertions WHEN NEW.type = 'snap-declaration' BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = substr(NEW.name, 21) AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END;
CREATE TRIGGER catalog_charm_read AFTER UPDATE OF details ON revisions WHEN NEW.details <> OLD.details BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace = 'charm' AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); END;
CREATE TRIGGER catalog_publisher_renamed AFTER UPDATE OF username ON accounts WHEN NEW.username <> OLD.username BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE publisher_id = NEW.id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END;
CREATE TRIGGER catalog_package_hidden AFTER UPDATE OF private ON packages WHEN NEW.private = 1 BEGIN DELETE FROM catalog_packages WHERE package_id = NEW.id; END;

-- Deltas to make after a release. They are removed with the file of their revision.
CREATE TRIGGER delta_release_added AFTER INSERT ON releases BEGIN UPDATE passing_delta_work SET version = version + 1 WHERE package_id = NEW.package_id; INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = NEW.package_id AND namespace = 'snap' AND NOT EXISTS (SELECT 1 FROM passing_delta_work WHERE package_id = NEW.package_id); END;
CREATE TRIGGER delta_release_changed AFTER UPDATE OF revision ON releases BEGIN UPDATE passing_delta_work SET version = version + 1 WHERE package_id = NEW.package_id; INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = NEW.package_id AND namespace = 'snap' AND NOT EXISTS (SELECT 1 FROM passing_delta_work WHERE package_id = NEW.package_id); END;
CREATE TRIGGER delta_release_removed AFTER DELETE ON releases BEGIN UPDATE passing_delta_work SET version = version + 1 WHERE package_id = OLD.package_id; INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = OLD.package_id AND namespace = 'snap' AND NOT EXISTS (SELECT 1 FROM passing_delta_work WHERE package_id = OLD.package_id); END;
CREATE TRIGGER delta_revision_deleted AFTER UPDATE OF deleted_at ON revisions WHEN NEW.deleted_at IS NOT NULL BEGIN DELETE FROM passing_deltas WHERE package_id = NEW.package_id AND (source = NEW.revision OR target = NEW.revision); END;

-- Metadata that was edited here no longer follows uploads. The audit log knows what was edited.
UPDATE packages SET edited = known.edited
FROM (
  SELECT package.id, json_group_array(DISTINCT member.value) AS edited
  FROM audit
  JOIN json_each(audit.details, '$.members') AS member
  JOIN packages AS package
    ON package.namespace = substr(audit.object, 1, instr(audit.object, '/') - 1)
    AND package.name = substr(audit.object, instr(audit.object, '/') + 1)
  WHERE audit.action = 'update_package_metadata' AND audit.at >= package.created_at
    AND (member.value = 'title' AND package.title IS NOT NULL
      OR member.value = 'summary' AND package.summary IS NOT NULL
      OR member.value = 'description' AND package.description IS NOT NULL)
  GROUP BY package.id
) AS known
WHERE known.id = packages.id;
-- Charms are read again for juju.
UPDATE revisions SET sha384 = ''
WHERE deleted_at IS NULL AND package_id IN (SELECT id FROM packages WHERE namespace = 'charm');
-- Sessions of the console, whatever their tokens are called.
UPDATE macaroons SET kind = 'console'
WHERE description = 'Console'
  AND 'session/' || session_id IN (SELECT object FROM audit WHERE action = 'begin_browser_session');
