-- A new store, as the migrations would leave it; made of them, and never edited.
-- `LARDER_KEEP=1 npm test -- test/records/new-store.test.ts` makes it anew.
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
CREATE TABLE account_roles (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON UPDATE CASCADE,
  role       TEXT NOT NULL CHECK (role IN ('transfer-approver', 'auditor')),
  since      TEXT NOT NULL,
  PRIMARY KEY (account_id, role)
) STRICT, WITHOUT ROWID;
CREATE TABLE accounts (
  id           TEXT PRIMARY KEY,
  username     TEXT NOT NULL UNIQUE,
  display_name TEXT NOT NULL,
  email        TEXT NOT NULL UNIQUE,
  validation   TEXT NOT NULL CHECK (validation IN ('unproven', 'verified', 'starred')),
  created_at   TEXT NOT NULL
, disabled_at TEXT, tokens_ended_at TEXT, id_made_here INTEGER NOT NULL DEFAULT 0 CHECK (id_made_here IN (0, 1)), is_foreign INTEGER NOT NULL DEFAULT 0 CHECK (is_foreign IN (0, 1)));
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
CREATE TABLE agents (
  username   TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  public_key TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE TABLE appliance (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
CREATE TABLE approval_policy (
  one    INTEGER PRIMARY KEY CHECK (one = 1),
  policy TEXT NOT NULL CHECK (length(policy) <= 1048576),
  since  TEXT NOT NULL
) STRICT;
CREATE TABLE approvals (
  proposal   INTEGER NOT NULL REFERENCES proposals (number) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON UPDATE CASCADE,
  at         TEXT NOT NULL, key TEXT CHECK (length(key) <= 4200), signature TEXT CHECK (length(signature) <= 8192),
  PRIMARY KEY (proposal, account_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE approver_keys (
  key        TEXT PRIMARY KEY CHECK (length(key) <= 4200),
  account_id TEXT NOT NULL REFERENCES accounts (id) ON UPDATE CASCADE,
  added_at   TEXT NOT NULL,
  added_by   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE assertions (
  name       TEXT PRIMARY KEY,
  type       TEXT NOT NULL,
  account_id TEXT,
  revision   INTEGER NOT NULL CHECK (revision >= 0),
  origin     TEXT NOT NULL CHECK (origin IN ('imported', 'signed')),
  text       TEXT NOT NULL,
  kept_at    TEXT NOT NULL,
  kept_by    TEXT NOT NULL
, snap_name TEXT, set_name TEXT, sequence INTEGER, snap_id TEXT, snap_revision INTEGER);
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
, outcome TEXT CHECK (outcome IN ('done', 'refused')));
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
CREATE TABLE audit_seals (
  seq  INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  at   TEXT NOT NULL,
  mac  TEXT NOT NULL
);
CREATE TABLE brand_administrators (
  brand_account_id TEXT NOT NULL REFERENCES brands (account_id) ON DELETE CASCADE,
  account_id       TEXT NOT NULL REFERENCES accounts (id),
  since            TEXT NOT NULL,
  PRIMARY KEY (brand_account_id, account_id)
);
CREATE TABLE brands (
  account_id  TEXT PRIMARY KEY REFERENCES accounts (id),
  name        TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  created_by  TEXT NOT NULL REFERENCES accounts (id),
  modified_at TEXT,
  modified_by TEXT REFERENCES accounts (id)
);
CREATE TABLE build_sets (
  id             TEXT PRIMARY KEY,
  package_id     TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  commit_hash    TEXT NOT NULL,
  craft_channel  TEXT NOT NULL,
  craft_revision INTEGER NOT NULL,
  craft_version  TEXT NOT NULL,
  platforms      TEXT NOT NULL,
  triggers       TEXT NOT NULL,
  plane          TEXT,
  created_at     TEXT NOT NULL
, seq INTEGER);
CREATE TABLE builds (
  build_set_id     TEXT NOT NULL REFERENCES build_sets (id) ON DELETE CASCADE,
  id               TEXT NOT NULL,
  position         INTEGER NOT NULL,
  package_id       TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  status           TEXT NOT NULL CHECK (status IN ('waiting', 'running', 'succeeded', 'failed')),
  errors           TEXT NOT NULL,
  platform         TEXT NOT NULL,
  logs             TEXT,
  released_channel  TEXT,
  released_revision INTEGER,
  created_at       TEXT NOT NULL,
  completed_at     TEXT,
  PRIMARY KEY (build_set_id, id),
  CHECK ((released_channel IS NULL) = (released_revision IS NULL)),
  CHECK ((completed_at IS NULL) = (status IN ('waiting', 'running')))
);
CREATE TABLE "catalog_packages" (
  package_id  TEXT NOT NULL PRIMARY KEY REFERENCES packages (id) ON DELETE CASCADE ON UPDATE CASCADE,
  name        TEXT NOT NULL,
  confinement TEXT NOT NULL,
  -- What the list of all names says of it, as JSON.
  entry       TEXT NOT NULL
, namespace TEXT NOT NULL DEFAULT 'snap') STRICT, WITHOUT ROWID;
CREATE TABLE catalog_stale (package_id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE catalog_words (
  word       TEXT NOT NULL,
  package_id TEXT NOT NULL REFERENCES "catalog_packages" (package_id) ON DELETE CASCADE ON UPDATE CASCADE,
  weight     INTEGER NOT NULL,
  PRIMARY KEY (word, package_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE charm_libraries (
  id         TEXT PRIMARY KEY,
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  name       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (package_id, name)
);
CREATE TABLE charm_library_versions (
  library_id TEXT NOT NULL REFERENCES charm_libraries (id) ON DELETE CASCADE,
  api        INTEGER NOT NULL,
  patch      INTEGER NOT NULL,
  hash       TEXT NOT NULL,
  content    TEXT NOT NULL,
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL REFERENCES accounts (id),
  PRIMARY KEY (library_id, api, patch)
);
CREATE TABLE collaborators (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL REFERENCES accounts (id),
  PRIMARY KEY (package_id, account_id)
);
CREATE TABLE commit_workflows (
  id             TEXT PRIMARY KEY,
  package_id     TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  commit_hash    TEXT,
  craft_channel  TEXT NOT NULL,
  craft_revision INTEGER NOT NULL,
  build_sets     TEXT NOT NULL,
  status         TEXT CHECK (status IN ('in-progress', 'completed', 'failed')),
  errors         TEXT NOT NULL,
  plane          TEXT,
  domain         TEXT,
  created_at     TEXT NOT NULL,
  completed_at   TEXT
, seq INTEGER);
CREATE TABLE damaged_blobs (
  sha3_384 TEXT PRIMARY KEY,
  size     INTEGER NOT NULL,
  found_at TEXT NOT NULL
);
CREATE TABLE declared_resources (
  package_id TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  name       TEXT NOT NULL,
  type       TEXT NOT NULL,
  optional   INTEGER NOT NULL CHECK (optional IN (0, 1)),
  PRIMARY KEY (package_id, revision, name),
  FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON DELETE CASCADE
);
CREATE TABLE device_grants (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  brand_id   TEXT NOT NULL,
  model      TEXT NOT NULL,
  serial     TEXT NOT NULL CHECK (serial = '' OR model <> ''),
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL,
  PRIMARY KEY (brand_id, model, serial, package_id)
);
CREATE TABLE discharger_keys (
  public_key TEXT PRIMARY KEY,
  sealed     TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE TABLE exports (
  seq    INTEGER PRIMARY KEY,
  at     TEXT NOT NULL,
  actor  TEXT NOT NULL,
  what   TEXT NOT NULL,
  name   TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  bytes  INTEGER NOT NULL
, label TEXT, media TEXT);
CREATE TABLE external_images (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  resource   TEXT NOT NULL,
  registry   TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  told_at    TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, sha256, registry)
);
CREATE TABLE fleet_channels (
  fleet      TEXT NOT NULL REFERENCES fleets (name) ON DELETE CASCADE,
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  channel    TEXT NOT NULL,
  slot       TEXT NOT NULL,
  mode       TEXT NOT NULL CHECK (mode IN ('pin', 'hold', 'follow')),
  revision   INTEGER CHECK ((revision IS NULL) = (mode = 'follow')),
  follows    TEXT CHECK ((follows IS NOT NULL) = (mode = 'follow')),
  resources  TEXT NOT NULL,
  -- Whether the revision was withdrawn since. A restore of the revision does not undo this.
  withdrawn  INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1)),
  set_at     TEXT NOT NULL,
  set_by     TEXT NOT NULL,
  PRIMARY KEY (fleet, package_id, channel, slot)
);
CREATE TABLE fleet_hidden_snaps (
  fleet      TEXT NOT NULL REFERENCES fleets (name) ON DELETE CASCADE,
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  hidden_at  TEXT NOT NULL,
  hidden_by  TEXT NOT NULL,
  PRIMARY KEY (fleet, package_id)
);
CREATE TABLE fleet_selectors (
  selector TEXT NOT NULL,
  fleet    TEXT NOT NULL REFERENCES fleets (name) ON DELETE CASCADE,
  model    TEXT NOT NULL,
  serial   TEXT NOT NULL,
  PRIMARY KEY (selector, fleet)
);
CREATE TABLE fleets (
  name           TEXT PRIMARY KEY,
  -- The specificity of the fleet: of two fleets with one device, the one with the more specific kind decides.
  kind           TEXT NOT NULL CHECK (kind IN ('serial', 'model', 'brand', 'store')),
  refresh_window TEXT,
  created_at     TEXT NOT NULL,
  created_by     TEXT NOT NULL
, source TEXT, source_text TEXT);
CREATE TABLE former_usernames (
  username   TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  until      TEXT NOT NULL
);
CREATE TABLE group_roles (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  role       TEXT NOT NULL CHECK (length(role) <= 96),
  group_name TEXT NOT NULL CHECK (length(group_name) <= 1024),
  since      TEXT NOT NULL,
  in_force   INTEGER NOT NULL CHECK (in_force IN (0, 1)),
  PRIMARY KEY (account_id, role)
);
CREATE TABLE image_bills (
  package_id TEXT NOT NULL,
  resource   TEXT NOT NULL,
  manifest   TEXT NOT NULL,
  bill       TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, manifest),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE image_blobs (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  resource   TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  sha3_384   TEXT NOT NULL,
  size       INTEGER NOT NULL,
  pushed_at  TEXT NOT NULL, sha512 TEXT,
  PRIMARY KEY (package_id, resource, sha256)
);
CREATE TABLE image_children (
  package_id TEXT NOT NULL,
  resource   TEXT NOT NULL,
  manifest   TEXT NOT NULL,
  child      TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, manifest, child),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON DELETE CASCADE
);
CREATE TABLE image_credentials (
  id            TEXT PRIMARY KEY,
  package_id    TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  resource      TEXT NOT NULL,
  kind          TEXT NOT NULL CHECK (kind IN ('push', 'pull')),
  secret_sha256 TEXT NOT NULL,
  sealed_secret TEXT,
  account_id    TEXT REFERENCES accounts (id),
  session_id    TEXT,
  issued_at     TEXT NOT NULL,
  first_used_at TEXT, ends_at TEXT,
  CHECK ((kind = 'pull') = (sealed_secret IS NOT NULL)),
  CHECK ((kind = 'push') = (account_id IS NOT NULL)),
  CHECK ((kind = 'push') = (session_id IS NOT NULL))
);
CREATE TABLE image_manifests (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  resource   TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  sha3_384   TEXT NOT NULL,
  size       INTEGER NOT NULL,
  media_type TEXT NOT NULL,
  pushed_at  TEXT NOT NULL, sha512 TEXT,
  PRIMARY KEY (package_id, resource, sha256)
);
CREATE TABLE image_mentions (
  content  TEXT PRIMARY KEY,
  manifest TEXT
);
CREATE TABLE image_parts (
  package_id TEXT NOT NULL,
  resource   TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  manifest   TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, sha256, manifest),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON DELETE CASCADE
);
CREATE TABLE image_referrers (
  package_id    TEXT NOT NULL,
  resource      TEXT NOT NULL,
  manifest      TEXT NOT NULL,
  subject       TEXT NOT NULL,
  artifact_type TEXT NOT NULL,
  annotations   TEXT,
  PRIMARY KEY (package_id, resource, manifest),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON DELETE CASCADE
);
CREATE TABLE image_tags (
  package_id TEXT NOT NULL,
  resource   TEXT NOT NULL,
  tag        TEXT NOT NULL,
  manifest   TEXT NOT NULL,
  tagged_at  TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, tag),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON DELETE CASCADE
);
CREATE TABLE invites (
  token_sha256 TEXT PRIMARY KEY,
  package_id   TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  account_id   TEXT NOT NULL REFERENCES accounts (id),
  email        TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  created_by   TEXT NOT NULL REFERENCES accounts (id),
  expires_at   TEXT NOT NULL,
  accepted_at  TEXT,
  revoked_at   TEXT,
  revoked_by   TEXT REFERENCES accounts (id), seq INTEGER,
  CHECK (accepted_at IS NULL OR revoked_at IS NULL),
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
CREATE TABLE kept_contents (
  package_id TEXT NOT NULL,
  sha3_384   TEXT NOT NULL,
  size       INTEGER NOT NULL,
  PRIMARY KEY (package_id, sha3_384)
) STRICT, WITHOUT ROWID;
CREATE TABLE larder_release_files (
  version  TEXT NOT NULL REFERENCES larder_releases (version) ON DELETE CASCADE,
  name     TEXT NOT NULL CHECK (length(name) <= 128),
  sha3_384 TEXT NOT NULL CHECK (length(sha3_384) = 96),
  size     INTEGER NOT NULL,
  PRIMARY KEY (version, name)
);
CREATE TABLE larder_releases (
  version     TEXT PRIMARY KEY CHECK (length(version) <= 64),
  commit_id   TEXT CHECK (length(commit_id) <= 64),
  released    TEXT NOT NULL CHECK (length(released) <= 10),
  -- The SHA-256 of its signed manifest.
  manifest    TEXT NOT NULL CHECK (length(manifest) = 64),
  source      TEXT NOT NULL,
  accepted_at TEXT NOT NULL,
  accepted_by TEXT NOT NULL
);
CREATE TABLE last_logins (
  account_id      TEXT PRIMARY KEY REFERENCES accounts (id),
  at              TEXT NOT NULL,
  address         TEXT NOT NULL,
  -- All failed logins of the account until this login.
  failed_count    INTEGER NOT NULL,
  -- The login before this one, and the failed logins between the two.
  earlier_at      TEXT,
  earlier_address TEXT,
  failed_between  INTEGER NOT NULL
);
CREATE TABLE macaroons (
  session_id  TEXT PRIMARY KEY,
  account_id  TEXT NOT NULL REFERENCES accounts (id),
  root_key_id TEXT NOT NULL,
  description TEXT,
  valid_since TEXT NOT NULL,
  valid_until TEXT NOT NULL,
  revoked_at  TEXT,
  revoked_by  TEXT
, conditions TEXT, replaced_by TEXT, kind TEXT NOT NULL DEFAULT 'token' CHECK (kind IN ('token', 'console')), proven_at TEXT, proven_by TEXT CHECK (proven_by IN ('certificate', 'host')));
CREATE TABLE made_requests (
  number  INTEGER PRIMARY KEY,
  id      TEXT NOT NULL,
  bytes   INTEGER NOT NULL,
  made_at TEXT NOT NULL,
  made_by TEXT NOT NULL
) STRICT;
CREATE TABLE made_texts (
  sha3_384 TEXT NOT NULL,
  sequence INTEGER NOT NULL REFERENCES made_transfers (sequence),
  PRIMARY KEY (sha3_384, sequence)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE models (
  brand_account_id TEXT NOT NULL REFERENCES brands (account_id),
  name             TEXT NOT NULL,
  series           TEXT NOT NULL,
  api_key          TEXT,
  policies_made    INTEGER NOT NULL DEFAULT 0 CHECK (policies_made >= 0),
  created_at       TEXT NOT NULL,
  created_by       TEXT NOT NULL REFERENCES accounts (id),
  modified_at      TEXT,
  modified_by      TEXT REFERENCES accounts (id),
  PRIMARY KEY (brand_account_id, name)
);
CREATE TABLE notes (
  kind    TEXT NOT NULL CHECK (length(kind) <= 32),
  key     TEXT NOT NULL CHECK (length(key) <= 256),
  count   INTEGER NOT NULL CHECK (count > 0),
  last_at TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE noun_versions (
  noun    TEXT NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL DEFAULT 0
, row_count INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, hash TEXT, mac TEXT, publisher_id TEXT, publisher_packages INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE openid_identities (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  issuer     TEXT NOT NULL CHECK (length(issuer) <= 1024),
  subject    TEXT NOT NULL CHECK (length(subject) <= 255),
  linked_at  TEXT NOT NULL,
  UNIQUE (issuer, subject)
);
CREATE TABLE package_days (
  day        TEXT NOT NULL CHECK (length(day) = 10),
  package_id TEXT NOT NULL,
  downloads  INTEGER NOT NULL DEFAULT 0 CHECK (downloads >= 0),
  devices    INTEGER NOT NULL DEFAULT 0 CHECK (devices >= 0),
  refreshes  INTEGER NOT NULL DEFAULT 0 CHECK (refreshes >= 0),
  PRIMARY KEY (day, package_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE package_figures (
  package_id   TEXT NOT NULL PRIMARY KEY,
  publisher_id TEXT NOT NULL,
  revisions    INTEGER NOT NULL DEFAULT 0,
  bytes        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE package_findings (
  package_id    TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  vulnerability TEXT NOT NULL,
  severity      TEXT NOT NULL,
  is_exploited  INTEGER NOT NULL CHECK (is_exploited IN (0, 1)),
  state         TEXT NOT NULL CHECK (state IN ('open', 'not_affected', 'fixed')),
  since         TEXT NOT NULL,
  PRIMARY KEY (package_id, vulnerability)
);
CREATE TABLE package_offers (
  package_id TEXT PRIMARY KEY REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  offered_by TEXT NOT NULL REFERENCES accounts (id),
  offered_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
);
CREATE TABLE packages (
  id            TEXT PRIMARY KEY,
  namespace     TEXT NOT NULL,
  name          TEXT NOT NULL,
  type          TEXT NOT NULL,
  publisher_id  TEXT NOT NULL REFERENCES accounts (id),
  private       INTEGER NOT NULL CHECK (private IN (0, 1)),
  status        TEXT NOT NULL CHECK (status IN ('registered', 'published')),
  title         TEXT,
  summary       TEXT,
  description   TEXT,
  default_track TEXT,
  links         TEXT NOT NULL,
  icon          TEXT,
  created_at    TEXT NOT NULL, manual_review INTEGER NOT NULL DEFAULT 0 CHECK (manual_review IN (0, 1)), edited TEXT NOT NULL DEFAULT '[]', revisions INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, license TEXT,
  UNIQUE (namespace, name)
);
CREATE TABLE passing_advisories (
  feed_index   INTEGER NOT NULL,
  advisory     TEXT NOT NULL,
  severity     TEXT NOT NULL,
  score        TEXT,
  published_at TEXT,
  modified_at  TEXT NOT NULL,
  summary      TEXT NOT NULL,
  names        TEXT NOT NULL,
  PRIMARY KEY (feed_index, advisory)
);
CREATE TABLE passing_advisory_binaries (
  feed_index     INTEGER NOT NULL,
  release        TEXT NOT NULL,
  package        TEXT NOT NULL,
  source_package TEXT NOT NULL,
  PRIMARY KEY (feed_index, release, package, source_package)
);
CREATE TABLE passing_advisory_packages (
  feed_index INTEGER NOT NULL,
  release    TEXT NOT NULL,
  package    TEXT NOT NULL,
  part       INTEGER NOT NULL,
  advisories TEXT NOT NULL,
  PRIMARY KEY (feed_index, release, package, part)
);
CREATE TABLE passing_certificate_sessions (
  session_id   TEXT NOT NULL PRIMARY KEY CHECK (length(session_id) <= 64),
  account_id   TEXT NOT NULL CHECK (length(account_id) <= 64),
  -- DER in base64.
  certificate  TEXT NOT NULL CHECK (length(certificate) <= 32768),
  confirmed_at TEXT NOT NULL,
  ends_at      TEXT NOT NULL
) STRICT;
CREATE TABLE passing_codes (
  seq     INTEGER PRIMARY KEY,
  digest  TEXT NOT NULL UNIQUE CHECK (length(digest) <= 64),
  token   TEXT NOT NULL CHECK (length(token) <= 256),
  ends_at TEXT NOT NULL
) STRICT;
CREATE TABLE passing_component_advisories (
  component INTEGER NOT NULL REFERENCES passing_vulnerable_components (id) ON DELETE CASCADE,
  feed      TEXT NOT NULL,
  advisory  TEXT NOT NULL,
  severity  TEXT NOT NULL,
  fixed     TEXT,
  PRIMARY KEY (component, feed, advisory)
);
CREATE TABLE passing_delta_work (
  package_id TEXT NOT NULL PRIMARY KEY,
  version    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE passing_device_nonces (
  nonce   TEXT PRIMARY KEY CHECK (length(nonce) <= 64),
  ends_at TEXT NOT NULL
, device TEXT NOT NULL DEFAULT '' CHECK (length(device) <= 64)) STRICT, WITHOUT ROWID;
CREATE TABLE passing_exploited_vulnerabilities (
  feed_index    INTEGER NOT NULL,
  cve           TEXT NOT NULL,
  PRIMARY KEY (feed_index, cve)
);
CREATE TABLE passing_failures (
  seq     INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL CHECK (kind IN ('login', 'exchange')),
  key     TEXT NOT NULL CHECK (length(key) <= 64),
  count   INTEGER NOT NULL CHECK (count > 0),
  ends_at TEXT NOT NULL,
  UNIQUE (kind, key)
) STRICT;
CREATE TABLE passing_familiar_places (
  seq     INTEGER PRIMARY KEY,
  key     TEXT NOT NULL UNIQUE CHECK (length(key) <= 64),
  ends_at TEXT NOT NULL
) STRICT;
CREATE TABLE passing_feed_indexes (
  id         INTEGER NOT NULL PRIMARY KEY,
  source     TEXT NOT NULL,
  format     TEXT NOT NULL,
  made_from  TEXT NOT NULL,
  releases   TEXT NOT NULL,
  in_force   INTEGER NOT NULL CHECK (in_force IN (0, 1)),
  started_at TEXT NOT NULL
);
CREATE TABLE passing_image_components (
  package_id TEXT NOT NULL,
  resource   TEXT NOT NULL,
  manifest   TEXT NOT NULL,
  component  INTEGER NOT NULL REFERENCES passing_vulnerable_components (id) ON DELETE CASCADE,
  PRIMARY KEY (package_id, resource, manifest, component),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_bills (package_id, resource, manifest) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE passing_leases (
  name    TEXT NOT NULL PRIMARY KEY CHECK (length(name) <= 128),
  holder  TEXT NOT NULL CHECK (length(holder) <= 64),
  ends_at TEXT NOT NULL
) STRICT;
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
CREATE TABLE passing_matched_images (
  package_id TEXT NOT NULL,
  resource   TEXT NOT NULL,
  manifest   TEXT NOT NULL,
  release    TEXT,
  coverage   TEXT NOT NULL,
  unchecked  TEXT NOT NULL,
  incomplete INTEGER NOT NULL CHECK (incomplete IN (0, 1)),
  indexes    TEXT NOT NULL,
  PRIMARY KEY (package_id, resource, manifest),
  FOREIGN KEY (package_id, resource, manifest) REFERENCES image_bills (package_id, resource, manifest) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE passing_matched_revisions (
  package_id TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  release    TEXT,
  coverage   TEXT NOT NULL,
  unchecked  TEXT NOT NULL,
  incomplete INTEGER NOT NULL CHECK (incomplete IN (0, 1)),
  indexes    TEXT NOT NULL,
  PRIMARY KEY (package_id, revision),
  FOREIGN KEY (package_id, revision) REFERENCES revision_bills (package_id, revision) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE passing_openid_confirmations (
  account_id    TEXT NOT NULL PRIMARY KEY CHECK (length(account_id) <= 64),
  refresh_token TEXT CHECK (length(refresh_token) <= 16384),
  confirmed_at  TEXT NOT NULL,
  ends_at       TEXT NOT NULL
) STRICT;
CREATE TABLE passing_openid_sessions (
  session_id  TEXT NOT NULL PRIMARY KEY CHECK (length(session_id) <= 64),
  account_id  TEXT NOT NULL CHECK (length(account_id) <= 64),
  provider_id TEXT CHECK (length(provider_id) <= 255),
  ends_at     TEXT NOT NULL
) STRICT;
CREATE TABLE passing_proofs (
  seq        INTEGER PRIMARY KEY,
  digest     TEXT NOT NULL UNIQUE CHECK (length(digest) <= 64),
  account_id TEXT NOT NULL CHECK (length(account_id) <= 64),
  caveat     TEXT CHECK (length(caveat) <= 64),
  ends_at    TEXT NOT NULL
, proven_by TEXT CHECK (proven_by IN ('certificate', 'host'))) STRICT;
CREATE TABLE passing_registry_uploads (
  id            TEXT NOT NULL PRIMARY KEY CHECK (length(id) <= 64),
  repository    TEXT NOT NULL CHECK (length(repository) <= 400),
  account_id    TEXT CHECK (length(account_id) <= 64),
  size          INTEGER NOT NULL CHECK (size >= 0),
  sender        TEXT CHECK (length(sender) <= 64),
  sending_until TEXT,
  ends_at       TEXT NOT NULL
) STRICT;
CREATE TABLE passing_revision_components (
  package_id TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  component  INTEGER NOT NULL REFERENCES passing_vulnerable_components (id) ON DELETE CASCADE,
  PRIMARY KEY (package_id, revision, component),
  FOREIGN KEY (package_id, revision) REFERENCES revision_bills (package_id, revision) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE passing_rollout_devices (
  brand_id TEXT NOT NULL,
  model    TEXT NOT NULL,
  serial   TEXT NOT NULL,
  rollout  INTEGER NOT NULL,
  step     INTEGER NOT NULL,
  had      INTEGER NOT NULL,
  state    TEXT NOT NULL CHECK (state IN ('offered', 'took', 'held', 'failed', 'back')),
  since    TEXT NOT NULL,
  PRIMARY KEY (brand_id, model, serial, rollout)
) STRICT, WITHOUT ROWID;
CREATE TABLE passing_rollout_watches (
  rollout    INTEGER NOT NULL PRIMARY KEY,
  step_at    TEXT NOT NULL,
  checked_at TEXT NOT NULL,
  served_ms  INTEGER NOT NULL,
  away_ms    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE passing_seen_snaps (
  number     INTEGER PRIMARY KEY,
  package_id TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE passing_shares (
  name   TEXT NOT NULL CHECK (length(name) <= 512),
  holder TEXT NOT NULL CHECK (length(holder) <= 64),
  amount INTEGER NOT NULL CHECK (amount > 0),
  PRIMARY KEY (name, holder)
) STRICT, WITHOUT ROWID;
CREATE TABLE passing_transfer_contents (
  transfer TEXT NOT NULL,
  sha3_384 TEXT NOT NULL,
  ends_at  TEXT NOT NULL,
  PRIMARY KEY (transfer, sha3_384)
);
CREATE TABLE passing_transfer_findings (
  transfer TEXT NOT NULL,
  subject  TEXT NOT NULL,
  findings TEXT,
  refused  TEXT,
  ends_at  TEXT NOT NULL,
  PRIMARY KEY (transfer, subject),
  CHECK ((findings IS NULL) <> (refused IS NULL))
);
CREATE TABLE passing_used_values (
  digest  TEXT NOT NULL PRIMARY KEY CHECK (length(digest) <= 64),
  ends_at TEXT NOT NULL
) STRICT;
CREATE TABLE passing_vex_statements (
  feed_index    INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  vulnerability TEXT NOT NULL,
  products      TEXT NOT NULL,
  status        TEXT NOT NULL,
  justification TEXT,
  impact        TEXT,
  stated_at     TEXT NOT NULL,
  PRIMARY KEY (feed_index, vulnerability, number)
);
CREATE TABLE passing_vulnerable_components (
  id             INTEGER NOT NULL PRIMARY KEY,
  release        TEXT NOT NULL,
  ecosystem      TEXT NOT NULL,
  name           TEXT NOT NULL,
  version        TEXT NOT NULL,
  source_name    TEXT NOT NULL,
  source_version TEXT NOT NULL
);
CREATE TABLE passwords (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  hash       TEXT NOT NULL,
  changed_at TEXT NOT NULL
);
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
  released_by TEXT, resources TEXT, expires_at TEXT,
  PRIMARY KEY (package_id, seq)
) WITHOUT ROWID;
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
CREATE TABLE publisher_figures (
  publisher_id TEXT NOT NULL PRIMARY KEY,
  bytes        INTEGER NOT NULL DEFAULT 0
, packages INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE quotas (
  account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id),
  bytes      INTEGER CHECK (bytes >= 0),
  packages   INTEGER CHECK (packages >= 0)
);
CREATE TABLE "releases" (
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
  expires_at             TEXT, rollout INTEGER,
  PRIMARY KEY (package_id, channel, slot, progressive),
  FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON DELETE CASCADE
);
CREATE TABLE remodel_allowlist (
  brand_account_id TEXT NOT NULL,
  from_model       TEXT NOT NULL,
  from_serial      TEXT NOT NULL,
  to_model         TEXT NOT NULL,
  description      TEXT,
  created_at       TEXT NOT NULL,
  created_by       TEXT NOT NULL REFERENCES accounts (id),
  modified_at      TEXT,
  modified_by      TEXT REFERENCES accounts (id),
  PRIMARY KEY (brand_account_id, from_model, from_serial, to_model),
  FOREIGN KEY (brand_account_id, from_model) REFERENCES models (brand_account_id, name),
  FOREIGN KEY (brand_account_id, to_model) REFERENCES models (brand_account_id, name)
);
CREATE TABLE resource_pairs (
  package_id       TEXT NOT NULL,
  name             TEXT NOT NULL,
  revision         INTEGER NOT NULL,
  package_revision INTEGER NOT NULL,
  PRIMARY KEY (package_id, name, revision, package_revision),
  FOREIGN KEY (package_id, name, revision) REFERENCES resource_revisions (package_id, name, revision)
    ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE resource_revisions (
  package_id       TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  name             TEXT NOT NULL,
  revision         INTEGER NOT NULL CHECK (revision > 0),
  type             TEXT NOT NULL,
  sha256           TEXT NOT NULL,
  sha3_384         TEXT NOT NULL,
  sha384           TEXT NOT NULL,
  sha512           TEXT NOT NULL,
  size             INTEGER NOT NULL,
  bases            TEXT,
  architectures    TEXT,
  package_revision INTEGER,
  created_at       TEXT NOT NULL,
  created_by       TEXT NOT NULL REFERENCES accounts (id),
  updated_at       TEXT,
  updated_by       TEXT REFERENCES accounts (id), deleted_at TEXT,
  PRIMARY KEY (package_id, name, revision),
  UNIQUE (package_id, name, sha3_384),
  CHECK ((bases IS NULL) <> (architectures IS NULL))
);
CREATE TABLE revision_bills (
  package_id TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  bill       TEXT NOT NULL,
  PRIMARY KEY (package_id, revision),
  FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE revisions (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  revision   INTEGER NOT NULL CHECK (revision > 0),
  sha3_384   TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  size       INTEGER NOT NULL,
  version    TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('approved', 'released', 'rejected')),
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL REFERENCES accounts (id),
  details    TEXT NOT NULL,
  package_yaml TEXT,
  craft_yaml   TEXT, assertion TEXT, withdrawn_at TEXT, withdrawn_by TEXT, withdrawn_because TEXT, deleted_at TEXT, deleted_by TEXT, deleted_because TEXT, sha384 TEXT, config_yaml TEXT, actions_yaml TEXT,
  PRIMARY KEY (package_id, revision),
  UNIQUE (package_id, sha3_384)
);
CREATE TABLE revoked_serials (
  brand_id   TEXT NOT NULL,
  model      TEXT NOT NULL,
  serial     TEXT NOT NULL,
  because    TEXT NOT NULL,
  revoked_at TEXT NOT NULL,
  revoked_by TEXT NOT NULL,
  PRIMARY KEY (brand_id, model, serial)
);
CREATE TABLE rollouts (
  number      INTEGER NOT NULL PRIMARY KEY,
  package_id  TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  channel     TEXT NOT NULL,
  revision    INTEGER NOT NULL,
  -- JSON: the steps, the interval, the bound of failures and the people to notify.
  plan        TEXT NOT NULL CHECK (length(plan) <= 8192),
  state       TEXT NOT NULL CHECK (state IN ('running', 'paused', 'done', 'rolled-back', 'ended')),
  step        INTEGER NOT NULL,
  step_at     TEXT NOT NULL,
  -- Results before this time do not count: the start, or the last time that a person resumed it.
  judged_from TEXT NOT NULL,
  because     TEXT,
  -- The vulnerabilities in its revision that people saw when it started or was resumed, as a JSON list of lines.
  accepted_vulnerabilities TEXT NOT NULL,
  started_at  TEXT NOT NULL,
  started_by  TEXT NOT NULL,
  changed_at  TEXT NOT NULL,
  changed_by  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE root_keys (
  id         TEXT PRIMARY KEY,
  sealed     TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE TABLE row_digest_tables (
  of_table TEXT PRIMARY KEY,
  columns  TEXT NOT NULL
);
CREATE TABLE row_digests (
  row      TEXT NOT NULL,
  of_table TEXT NOT NULL,
  digest   BLOB NOT NULL,
  PRIMARY KEY (row, of_table)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE serial_log (
  seq                    INTEGER PRIMARY KEY,
  brand_account_id       TEXT NOT NULL,
  model_name             TEXT NOT NULL,
  serial                 TEXT NOT NULL,
  device_key_sha3_384    TEXT NOT NULL,
  signing_key_sha3_384   TEXT NOT NULL,
  serial_assertion       TEXT NOT NULL,
  serial_request         TEXT NOT NULL,
  created_at             TEXT NOT NULL,
  UNIQUE (brand_account_id, model_name, serial),
  UNIQUE (brand_account_id, device_key_sha3_384, model_name)
);
CREATE TABLE serial_policies (
  brand_account_id     TEXT NOT NULL,
  model_name           TEXT NOT NULL,
  revision             INTEGER NOT NULL CHECK (revision > 0),
  signing_key_sha3_384 TEXT NOT NULL REFERENCES signing_keys (sha3_384),
  created_at           TEXT NOT NULL,
  created_by           TEXT NOT NULL REFERENCES accounts (id),
  PRIMARY KEY (brand_account_id, model_name, revision),
  FOREIGN KEY (brand_account_id, model_name) REFERENCES models (brand_account_id, name)
);
CREATE TABLE set_up_links (
  digest     TEXT PRIMARY KEY,
  account_id TEXT NOT NULL UNIQUE REFERENCES accounts (id),
  expires_at TEXT NOT NULL
, from_init INTEGER NOT NULL DEFAULT 0 CHECK (from_init IN (0, 1)));
CREATE TABLE signing_keys (
  sha3_384         TEXT PRIMARY KEY,
  brand_account_id TEXT NOT NULL REFERENCES brands (account_id),
  name             TEXT NOT NULL,
  fingerprint      TEXT NOT NULL,
  public_key       TEXT NOT NULL,
  sealed           TEXT NOT NULL,
  created_at       TEXT NOT NULL,
  created_by       TEXT NOT NULL REFERENCES accounts (id),
  modified_at      TEXT,
  modified_by      TEXT REFERENCES accounts (id), requested_at TEXT,
  UNIQUE (brand_account_id, name)
);
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
CREATE TABLE store_administrators (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  since      TEXT NOT NULL
);
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
CREATE TABLE totp_secrets (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  sealed     TEXT NOT NULL,
  since      TEXT NOT NULL,
  used_step  INTEGER NOT NULL DEFAULT 0
, recovery TEXT NOT NULL DEFAULT '[]');
CREATE TABLE touched_accounts (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id) ON UPDATE CASCADE,
  at         TEXT NOT NULL,
  by         TEXT NOT NULL,
  what       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE track_guardrails (
  package_id TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  pattern    TEXT NOT NULL,
  created_at TEXT NOT NULL, seq INTEGER,
  PRIMARY KEY (package_id, pattern)
);
CREATE TABLE "tracks" (
  package_id                   TEXT NOT NULL REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  name                         TEXT NOT NULL,
  version_pattern              TEXT,
  automatic_phasing_percentage REAL,
  created_at                   TEXT NOT NULL, rollout TEXT,
  PRIMARY KEY (package_id, name)
) WITHOUT ROWID;
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
, floor_in_doubt INTEGER NOT NULL DEFAULT 0 CHECK (floor_in_doubt IN (0, 1)), scanners TEXT NOT NULL DEFAULT '[]', scans INTEGER NOT NULL DEFAULT 0 CHECK (scans >= 0), rotation INTEGER NOT NULL DEFAULT 0, accept TEXT NOT NULL DEFAULT 'people' CHECK (accept IN ('people', 'automatic')), keys_before TEXT NOT NULL DEFAULT '[]', key_copied_at TEXT);
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
, media TEXT NOT NULL DEFAULT '[]', unsigned INTEGER NOT NULL DEFAULT 0 CHECK (unsigned IN (0, 1)), answers TEXT, beyond_floor INTEGER NOT NULL DEFAULT 0 CHECK (beyond_floor IN (0, 1)));
CREATE TABLE uploads (
  id          TEXT PRIMARY KEY,
  sha3_384    TEXT NOT NULL,
  sha256      TEXT NOT NULL,
  size        INTEGER NOT NULL,
  address     TEXT NOT NULL,
  received_at TEXT NOT NULL,
  package_id  TEXT REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE,
  pushed_by   TEXT REFERENCES accounts (id),
  pushed_at   TEXT,
  status      TEXT CHECK (status IN ('new', 'scanned', 'approved', 'rejected')),
  revision    INTEGER,
  errors      TEXT, findings TEXT, icon TEXT, resource TEXT, request TEXT, seq INTEGER,
  CHECK ((package_id IS NULL) = (status IS NULL)),
  CHECK ((revision IS NULL) OR (status = 'approved')),
  CHECK ((errors IS NULL) OR (status = 'rejected'))
);
CREATE TABLE vulnerability_feeds (
  source      TEXT NOT NULL PRIMARY KEY,
  format      TEXT NOT NULL,
  dated_at    TEXT NOT NULL,
  sha256      TEXT NOT NULL,
  sha3_384    TEXT NOT NULL,
  size        INTEGER NOT NULL,
  entries     INTEGER NOT NULL,
  skipped     INTEGER NOT NULL,
  releases    TEXT NOT NULL,
  imported_at TEXT NOT NULL,
  imported_by TEXT NOT NULL
);
CREATE INDEX accepted_findings_by_end ON accepted_findings (until, package_id, vulnerability);
CREATE INDEX account_roles_by_role ON account_roles (role);
CREATE INDEX accounts_by_email ON accounts (lower(email));
CREATE INDEX after_review_waiting ON after_review (upload_id) WHERE settled = 0;
CREATE INDEX agents_by_account ON agents (account_id);
CREATE INDEX approver_keys_by_account ON approver_keys (account_id);
CREATE INDEX assertions_by_account ON assertions (account_id, type) WHERE account_id IS NOT NULL;
CREATE INDEX assertions_by_revision ON assertions (snap_id, snap_revision) WHERE snap_id IS NOT NULL;
CREATE INDEX assertions_by_snap_name ON assertions (snap_name) WHERE snap_name IS NOT NULL;
CREATE INDEX audit_seals_left_behind ON audit_seal_chain (left_mac) WHERE left_mac IS NOT NULL;
CREATE INDEX brands_by_administrator ON brand_administrators (account_id, brand_account_id);
CREATE UNIQUE INDEX build_sets_in_order ON build_sets (seq);
CREATE INDEX build_sets_of_package ON build_sets (package_id, created_at, seq);
CREATE INDEX builds_by_revision ON builds (package_id, released_revision);
CREATE INDEX catalog_packages_by_name ON catalog_packages (namespace, name);
CREATE INDEX catalog_words_by_package ON catalog_words (package_id, word);
CREATE INDEX collaborators_by_account ON collaborators (account_id, package_id);
CREATE UNIQUE INDEX commit_workflows_in_order ON commit_workflows (seq);
CREATE INDEX commit_workflows_of_package ON commit_workflows (package_id, created_at, seq);
CREATE INDEX console_sessions ON macaroons (valid_until, session_id) WHERE kind = 'console';
CREATE INDEX declared_resources_by_name ON declared_resources (package_id, name, revision);
CREATE INDEX device_grants_of_package ON device_grants (package_id);
CREATE INDEX exports_by_time ON exports (at);
CREATE INDEX external_images_by_registry ON external_images (registry);
CREATE INDEX fleet_channels_of_package ON fleet_channels (package_id, revision);
CREATE INDEX fleet_hidden_snaps_of_package ON fleet_hidden_snaps (package_id);
CREATE INDEX fleet_selectors_by_serial ON fleet_selectors (serial) WHERE serial <> '';
CREATE INDEX fleet_selectors_of_fleet ON fleet_selectors (fleet, selector);
CREATE INDEX group_roles_in_force ON group_roles (in_force, account_id);
CREATE INDEX image_blobs_by_age ON image_blobs (pushed_at);
CREATE INDEX image_blobs_by_content ON image_blobs (sha3_384);
CREATE INDEX image_blobs_by_sha512 ON image_blobs (package_id, resource, sha512) WHERE sha512 IS NOT NULL;
CREATE INDEX image_children_by_child ON image_children (package_id, resource, child);
CREATE INDEX image_credentials_by_account ON image_credentials (account_id) WHERE kind = 'push';
CREATE INDEX image_credentials_by_end ON image_credentials (ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX image_credentials_of_repository ON image_credentials (package_id, resource, issued_at);
CREATE UNIQUE INDEX image_credentials_to_pull ON image_credentials (package_id, resource)
  WHERE kind = 'pull' AND ends_at IS NULL;
CREATE INDEX image_manifests_by_age ON image_manifests (pushed_at);
CREATE INDEX image_manifests_by_content ON image_manifests (sha3_384);
CREATE INDEX image_manifests_by_sha512 ON image_manifests (package_id, resource, sha512) WHERE sha512 IS NOT NULL;
CREATE INDEX image_manifests_by_type ON image_manifests (media_type);
CREATE INDEX image_mentions_by_manifest ON image_mentions (manifest);
CREATE INDEX image_parts_of_manifest ON image_parts (package_id, resource, manifest);
CREATE INDEX image_referrers_by_subject ON image_referrers (package_id, resource, subject, manifest);
CREATE INDEX image_tags_of_manifest ON image_tags (package_id, resource, manifest);
CREATE INDEX invites_by_account ON invites (account_id) WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE INDEX invites_by_end ON invites (expires_at) WHERE accepted_at IS NULL;
CREATE UNIQUE INDEX invites_in_order ON invites (seq);
CREATE INDEX invites_of_package ON invites (package_id, created_at, seq);
CREATE UNIQUE INDEX invites_open ON invites (package_id, account_id) WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE INDEX kept_contents_by_content ON kept_contents (sha3_384, package_id);
CREATE INDEX larder_release_files_by_content ON larder_release_files (sha3_384);
CREATE INDEX macaroons_by_account ON macaroons (account_id, valid_since);
CREATE INDEX macaroons_by_end ON macaroons (valid_until, session_id);
CREATE INDEX macaroons_by_root_key ON macaroons (root_key_id);
CREATE INDEX macaroons_by_start ON macaroons (valid_since, session_id);
CREATE INDEX made_texts_by_transfer ON made_texts (sequence);
CREATE INDEX made_transfers_by_statement ON made_transfers (statement);
CREATE INDEX package_figures_by_bytes ON package_figures (bytes, package_id);
CREATE INDEX package_findings_by_state ON package_findings (state, package_id, vulnerability);
CREATE INDEX package_offers_by_account ON package_offers (account_id, package_id);
CREATE INDEX package_offers_by_end ON package_offers (expires_at);
CREATE INDEX packages_bundles ON packages (id) WHERE type = 'bundle';
CREATE INDEX packages_by_icon ON packages (substr(icon, 1, 96)) WHERE icon IS NOT NULL;
CREATE INDEX packages_by_publisher ON packages (publisher_id, namespace, name);
CREATE INDEX passing_certificate_sessions_by_end ON passing_certificate_sessions (ends_at);
CREATE INDEX passing_certificate_sessions_by_time ON passing_certificate_sessions (confirmed_at);
CREATE INDEX passing_codes_by_end ON passing_codes (ends_at);
CREATE INDEX passing_component_advisories_by_advisory ON passing_component_advisories (feed, advisory);
CREATE INDEX passing_deltas_by_content ON passing_deltas (sha3_384);
CREATE INDEX passing_deltas_by_release ON passing_deltas (released_at);
CREATE INDEX passing_device_nonces_by_end ON passing_device_nonces (ends_at);
CREATE INDEX passing_device_nonces_of_device ON passing_device_nonces (device, ends_at);
CREATE INDEX passing_failures_by_end ON passing_failures (ends_at);
CREATE INDEX passing_failures_in_order ON passing_failures (kind, seq);
CREATE INDEX passing_familiar_places_by_end ON passing_familiar_places (ends_at);
CREATE UNIQUE INDEX passing_feed_indexes_in_force ON passing_feed_indexes (source) WHERE in_force = 1;
CREATE INDEX passing_image_components_by_component ON passing_image_components (component);
CREATE INDEX passing_leases_by_end ON passing_leases (ends_at);
CREATE INDEX passing_logins_by_end ON passing_logins (ends_at);
CREATE INDEX passing_logins_of_client ON passing_logins (client, ends_at, size);
CREATE INDEX passing_matched_images_by_coverage ON passing_matched_images (coverage, release);
CREATE INDEX passing_matched_revisions_by_coverage ON passing_matched_revisions (coverage, release);
CREATE INDEX passing_openid_confirmations_by_end ON passing_openid_confirmations (ends_at);
CREATE INDEX passing_openid_confirmations_by_time ON passing_openid_confirmations (confirmed_at);
CREATE INDEX passing_openid_sessions_by_end ON passing_openid_sessions (ends_at);
CREATE INDEX passing_openid_sessions_of_account ON passing_openid_sessions (account_id, session_id);
CREATE INDEX passing_openid_sessions_of_login ON passing_openid_sessions (provider_id, session_id);
CREATE INDEX passing_proofs_by_end ON passing_proofs (ends_at);
CREATE INDEX passing_registry_uploads_by_end ON passing_registry_uploads (ends_at);
CREATE INDEX passing_registry_uploads_of_repository ON passing_registry_uploads (repository, ends_at);
CREATE INDEX passing_revision_components_by_component ON passing_revision_components (component);
CREATE INDEX passing_rollout_devices_by_rollout ON passing_rollout_devices (rollout);
CREATE INDEX passing_rollout_watches_by_check ON passing_rollout_watches (checked_at);
CREATE INDEX passing_seen_devices_by_contact ON passing_seen_devices (last_at);
CREATE INDEX passing_transfer_contents_by_content ON passing_transfer_contents (sha3_384);
CREATE INDEX passing_transfer_contents_by_end ON passing_transfer_contents (ends_at);
CREATE INDEX passing_transfer_findings_by_end ON passing_transfer_findings (ends_at);
CREATE INDEX passing_used_values_by_end ON passing_used_values (ends_at);
CREATE UNIQUE INDEX passing_vulnerable_components_by_name
  ON passing_vulnerable_components (name, version, release, ecosystem, source_name, source_version);
CREATE INDEX proposals_by_digest ON proposals (digest, number);
CREATE INDEX proposals_open ON proposals (asked) WHERE state = 'open';
CREATE INDEX publisher_figures_by_bytes ON publisher_figures (bytes, publisher_id);
CREATE INDEX releases_by_channel ON releases (channel, package_id);
CREATE INDEX releases_expiring ON releases (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX remodel_allowlist_by_target ON remodel_allowlist (brand_account_id, to_model, from_model, from_serial);
CREATE INDEX resource_revisions_by_content ON resource_revisions (sha3_384);
CREATE INDEX resource_revisions_by_size ON resource_revisions (package_id, sha3_384, size) WHERE deleted_at IS NULL;
CREATE INDEX resource_revisions_by_type ON resource_revisions (type, sha3_384);
CREATE INDEX revisions_by_content ON revisions (sha3_384) WHERE deleted_at IS NULL;
CREATE INDEX revisions_to_read ON revisions (package_id, revision) WHERE sha384 = '' AND deleted_at IS NULL;
CREATE INDEX revisions_to_sign ON revisions (package_id, revision)
  WHERE assertion IS NULL AND withdrawn_at IS NULL AND deleted_at IS NULL AND package_yaml LIKE '%provenance:%';
CREATE INDEX rollouts_by_package ON rollouts (package_id, number);
CREATE INDEX rollouts_open ON rollouts (number) WHERE state IN ('running', 'paused');
CREATE INDEX serial_log_by_model ON serial_log (brand_account_id, model_name, seq);
CREATE INDEX serial_log_by_serial ON serial_log (serial);
CREATE INDEX serial_policies_by_key ON serial_policies (signing_key_sha3_384);
CREATE INDEX set_up_links_by_end ON set_up_links (expires_at);
CREATE UNIQUE INDEX track_guardrails_in_order ON track_guardrails (seq);
CREATE INDEX transfers_by_arrival ON transfers (received_at);
CREATE INDEX transfers_by_sequence ON transfers (source, sequence);
CREATE INDEX transfers_by_settling ON transfers (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX transfers_by_statement ON transfers (statement) WHERE status <> 'discarded';
CREATE INDEX transfers_unsigned ON transfers (sequence) WHERE unsigned = 1;
CREATE INDEX transfers_waiting ON transfers (id) WHERE status = 'waiting';
CREATE INDEX uploads_by_content ON uploads (sha3_384);
CREATE INDEX uploads_by_icon ON uploads (substr(icon, 1, 96)) WHERE icon IS NOT NULL;
CREATE UNIQUE INDEX uploads_in_order ON uploads (seq);
CREATE INDEX uploads_in_review ON uploads (pushed_at, seq) WHERE status IN ('new', 'scanned');
CREATE INDEX uploads_of_package ON uploads (package_id, pushed_at, seq);
CREATE INDEX uploads_rejected ON uploads (seq) WHERE status = 'rejected';
CREATE INDEX uploads_unclaimed ON uploads (address, received_at) WHERE package_id IS NULL;
CREATE INDEX validation_sets ON assertions (account_id, set_name, sequence) WHERE set_name IS NOT NULL;
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
  UNION ALL SELECT sha3_384 FROM passing_deltas WHERE sha3_384 IS NOT NULL
  UNION ALL SELECT sha3_384 FROM vulnerability_feeds
  UNION ALL SELECT sha3_384 FROM larder_release_files;
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
CREATE VIEW package_tracks (package_id, name, version_pattern, automatic_phasing_percentage, created_at) AS
SELECT package_id, name, version_pattern, automatic_phasing_percentage, created_at FROM tracks
UNION ALL
SELECT id, 'latest', NULL, NULL, created_at FROM packages
WHERE NOT EXISTS (SELECT 1 FROM tracks WHERE package_id = packages.id AND name = 'latest');
CREATE VIEW publishers (publisher_id, bytes, packages) AS
SELECT publisher_id, bytes, packages + CASE publisher_id
    WHEN (SELECT last.publisher_id FROM noun_versions AS last WHERE noun = 'packages')
    THEN (SELECT publisher_packages FROM noun_versions WHERE noun = 'packages') ELSE 0 END
FROM publisher_figures;
CREATE VIEW touched_contents (package_id, sha3_384) AS SELECT package_id, sha3_384 FROM kept_contents;
INSERT INTO migrations (name) VALUES ('0001-accounts');
INSERT INTO migrations (name) VALUES ('0002-tokens');
INSERT INTO migrations (name) VALUES ('0003-packages');
INSERT INTO migrations (name) VALUES ('0004-revisions');
INSERT INTO migrations (name) VALUES ('0005-signing-keys');
INSERT INTO migrations (name) VALUES ('0006-audit');
INSERT INTO migrations (name) VALUES ('0007-credentials');
INSERT INTO migrations (name) VALUES ('0008-audit-end');
INSERT INTO migrations (name) VALUES ('0009-finding-accounts');
INSERT INTO migrations (name) VALUES ('0010-models');
INSERT INTO migrations (name) VALUES ('0011-assertions');
INSERT INTO migrations (name) VALUES ('0012-serial-log');
INSERT INTO migrations (name) VALUES ('0013-revision-assertions');
INSERT INTO migrations (name) VALUES ('0014-track-guardrails');
INSERT INTO migrations (name) VALUES ('0015-invites');
INSERT INTO migrations (name) VALUES ('0016-findings');
INSERT INTO migrations (name) VALUES ('0017-resources');
INSERT INTO migrations (name) VALUES ('0018-builds');
INSERT INTO migrations (name) VALUES ('0019-charm-libraries');
INSERT INTO migrations (name) VALUES ('0020-integrity');
INSERT INTO migrations (name) VALUES ('0021-images');
INSERT INTO migrations (name) VALUES ('0022-ended-sessions');
INSERT INTO migrations (name) VALUES ('0023-external-images');
INSERT INTO migrations (name) VALUES ('0024-image-references');
INSERT INTO migrations (name) VALUES ('0025-audit-outcome');
INSERT INTO migrations (name) VALUES ('0026-ended-invites');
INSERT INTO migrations (name) VALUES ('0095-since-first-release');
INSERT INTO migrations (name) VALUES ('0096-components-and-licenses');
INSERT INTO migrations (name) VALUES ('0097-bills-of-materials');
INSERT INTO migrations (name) VALUES ('0098-vulnerability-feeds');
INSERT INTO migrations (name) VALUES ('0099-accepted-findings');
INSERT INTO migrations (name) VALUES ('0100-rollouts');
INSERT INTO migrations (name) VALUES ('0101-fleets');
INSERT INTO migrations (name) VALUES ('0102-session-rules');
INSERT INTO migrations (name) VALUES ('0103-fleet-sources');
INSERT INTO migrations (name) VALUES ('0104-searched-advisories');
INSERT INTO migrations (name) VALUES ('0105-openid');
INSERT INTO migrations (name) VALUES ('0106-certificate-logins');
INSERT INTO migrations (name) VALUES ('0107-larder-releases');
INSERT INTO migrations (name) VALUES ('0108-finding-versions');
INSERT INTO migrations (name) VALUES ('0109-triggers-without-copies');
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('accounts', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('approval_policy', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('audit', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('catalog', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('collaborators', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('damaged_blobs', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('deltas', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('device_grants', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('fleet_channels', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('fleet_hidden_snaps', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('fleet_selectors', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('fleets', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('macaroons', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('matched_revisions', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('package_findings', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('packages', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('proposals', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('releases', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('revisions', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('revoked_serials', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('root_keys', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('store_administrators', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('totp_secrets', 0, 0, 0, null, null, null, 0);
INSERT INTO noun_versions (noun, version, row_count, bytes, hash, mac, publisher_id, publisher_packages) VALUES ('uploads', 0, 0, 0, null, null, null, 0);
INSERT INTO appliance (name, value) VALUES ('store-epoch', lower(hex(randomblob(16))));
CREATE TRIGGER accounts_changed AFTER UPDATE ON accounts BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'accounts'; END;
CREATE TRIGGER accounts_removed AFTER DELETE ON accounts BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'accounts'; END;
CREATE TRIGGER approval_policy_added AFTER INSERT ON approval_policy BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'approval_policy'; END;
CREATE TRIGGER approval_policy_changed AFTER UPDATE ON approval_policy BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'approval_policy'; END;
CREATE TRIGGER approval_policy_removed AFTER DELETE ON approval_policy BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'approval_policy'; END;
CREATE TRIGGER approvals_added AFTER INSERT ON approvals BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; END;
CREATE TRIGGER audit_added AFTER INSERT ON audit BEGIN INSERT INTO noun_versions (noun, version, hash) VALUES ('audit', NEW.seq, NEW.hash) ON CONFLICT (noun) DO UPDATE SET version = excluded.version, hash = excluded.hash, mac = NULL WHERE noun = 'audit'; END;
CREATE TRIGGER audit_is_append_only_delete BEFORE DELETE ON audit
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER audit_is_append_only_insert BEFORE INSERT ON audit
WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq), 0) + 1 FROM audit)
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only: a row goes to its end');
END;
CREATE TRIGGER audit_is_append_only_update BEFORE UPDATE ON audit
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER catalog_added AFTER INSERT ON catalog_packages WHEN NEW.namespace = 'snap' BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END;
CREATE TRIGGER catalog_changed AFTER UPDATE ON catalog_packages WHEN NEW.namespace = 'snap' BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END;
CREATE TRIGGER catalog_charm_read AFTER UPDATE OF details ON revisions WHEN NEW.details <> OLD.details BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace = 'charm' AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); END;
CREATE TRIGGER catalog_declaration_added AFTER INSERT ON assertions WHEN NEW.type = 'snap-declaration' BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = substr(NEW.name, 21) AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END;
CREATE TRIGGER catalog_declaration_changed AFTER UPDATE ON assertions WHEN NEW.type = 'snap-declaration' BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = substr(NEW.name, 21) AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END;
CREATE TRIGGER catalog_package_changed AFTER UPDATE OF id, name, type, publisher_id, private, status, title, summary, default_track ON packages WHEN NEW.namespace IN ('snap', 'charm') BEGIN INSERT INTO catalog_stale SELECT NEW.id WHERE NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.id); END;
CREATE TRIGGER catalog_package_hidden AFTER UPDATE OF private ON packages WHEN NEW.private = 1 BEGIN DELETE FROM catalog_packages WHERE package_id = NEW.id; END;
CREATE TRIGGER catalog_publisher_renamed AFTER UPDATE OF username ON accounts WHEN NEW.username <> OLD.username BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE publisher_id = NEW.id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END;
CREATE TRIGGER catalog_release_added AFTER INSERT ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') ON CONFLICT (package_id) DO NOTHING; END;
CREATE TRIGGER catalog_release_changed AFTER UPDATE ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') ON CONFLICT (package_id) DO NOTHING; END;
CREATE TRIGGER catalog_release_removed AFTER DELETE ON releases BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = OLD.package_id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = OLD.package_id); END;
CREATE TRIGGER catalog_removed AFTER DELETE ON catalog_packages WHEN OLD.namespace = 'snap' BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END;
CREATE TRIGGER collaborators_added AFTER INSERT ON collaborators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'collaborators'; END;
CREATE TRIGGER collaborators_changed AFTER UPDATE ON collaborators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'collaborators'; END;
CREATE TRIGGER collaborators_removed AFTER DELETE ON collaborators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'collaborators'; END;
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
CREATE TRIGGER damaged_blobs_added AFTER INSERT ON damaged_blobs BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'damaged_blobs'; END;
CREATE TRIGGER damaged_blobs_changed AFTER UPDATE ON damaged_blobs BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'damaged_blobs'; END;
CREATE TRIGGER damaged_blobs_removed AFTER DELETE ON damaged_blobs BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'damaged_blobs'; END;
CREATE TRIGGER delta_release_added AFTER INSERT ON releases BEGIN INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = NEW.package_id AND namespace = 'snap' ON CONFLICT (package_id) DO UPDATE SET version = passing_delta_work.version + 1; END;
CREATE TRIGGER delta_release_changed AFTER UPDATE OF revision ON releases BEGIN INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = NEW.package_id AND namespace = 'snap' ON CONFLICT (package_id) DO UPDATE SET version = passing_delta_work.version + 1; END;
CREATE TRIGGER delta_release_removed AFTER DELETE ON releases BEGIN UPDATE passing_delta_work SET version = version + 1 WHERE package_id = OLD.package_id; INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = OLD.package_id AND namespace = 'snap' AND NOT EXISTS (SELECT 1 FROM passing_delta_work WHERE package_id = OLD.package_id); END;
CREATE TRIGGER delta_revision_deleted AFTER UPDATE OF deleted_at ON revisions WHEN NEW.deleted_at IS NOT NULL BEGIN DELETE FROM passing_deltas WHERE package_id = NEW.package_id AND (source = NEW.revision OR target = NEW.revision); END;
CREATE TRIGGER deltas_added AFTER INSERT ON passing_deltas BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'deltas'; END;
CREATE TRIGGER deltas_changed AFTER UPDATE ON passing_deltas BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'deltas'; END;
CREATE TRIGGER deltas_removed AFTER DELETE ON passing_deltas BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'deltas'; END;
CREATE TRIGGER device_grants_added AFTER INSERT ON device_grants BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'device_grants'; END;
CREATE TRIGGER device_grants_changed AFTER UPDATE ON device_grants BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'device_grants'; END;
CREATE TRIGGER device_grants_removed AFTER DELETE ON device_grants BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'device_grants'; END;
CREATE TRIGGER figures_changed AFTER UPDATE OF revisions, bytes ON package_figures BEGIN
  UPDATE packages SET revisions = NEW.revisions, bytes = NEW.bytes WHERE id = NEW.package_id;
END;
CREATE TRIGGER fleet_channels_added AFTER INSERT ON fleet_channels BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_channels'; END;
CREATE TRIGGER fleet_channels_changed AFTER UPDATE ON fleet_channels BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_channels'; END;
CREATE TRIGGER fleet_channels_removed AFTER DELETE ON fleet_channels BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_channels'; END;
CREATE TRIGGER fleet_hidden_snaps_added AFTER INSERT ON fleet_hidden_snaps BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_hidden_snaps'; END;
CREATE TRIGGER fleet_hidden_snaps_changed AFTER UPDATE ON fleet_hidden_snaps BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_hidden_snaps'; END;
CREATE TRIGGER fleet_hidden_snaps_removed AFTER DELETE ON fleet_hidden_snaps BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_hidden_snaps'; END;
CREATE TRIGGER fleet_selectors_added AFTER INSERT ON fleet_selectors BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_selectors'; END;
CREATE TRIGGER fleet_selectors_changed AFTER UPDATE ON fleet_selectors BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_selectors'; END;
CREATE TRIGGER fleet_selectors_removed AFTER DELETE ON fleet_selectors BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_selectors'; END;
CREATE TRIGGER fleets_added AFTER INSERT ON fleets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleets'; END;
CREATE TRIGGER fleets_changed AFTER UPDATE ON fleets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleets'; END;
CREATE TRIGGER fleets_removed AFTER DELETE ON fleets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleets'; END;
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
CREATE TRIGGER macaroons_added AFTER INSERT ON macaroons BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'macaroons'; END;
CREATE TRIGGER macaroons_changed AFTER UPDATE ON macaroons BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'macaroons'; END;
CREATE TRIGGER macaroons_removed AFTER DELETE ON macaroons BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'macaroons'; END;
CREATE TRIGGER matched_revisions_added AFTER INSERT ON passing_matched_revisions BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'matched_revisions'; END;
CREATE TRIGGER matched_revisions_changed AFTER UPDATE ON passing_matched_revisions BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'matched_revisions'; END;
CREATE TRIGGER matched_revisions_removed AFTER DELETE ON passing_matched_revisions BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'matched_revisions'; END;
CREATE TRIGGER package_counted AFTER INSERT ON packages BEGIN
  UPDATE publisher_figures SET packages = packages + (SELECT publisher_packages FROM noun_versions WHERE noun = 'packages')
    WHERE publisher_id = (
      SELECT last.publisher_id FROM noun_versions AS last WHERE noun = 'packages' AND last.publisher_id <> NEW.publisher_id);
  INSERT INTO publisher_figures (publisher_id) VALUES (NEW.publisher_id) ON CONFLICT (publisher_id) DO NOTHING;
  UPDATE noun_versions
    SET publisher_packages = CASE publisher_id WHEN NEW.publisher_id THEN publisher_packages + 1 ELSE 1 END,
      publisher_id = NEW.publisher_id
    WHERE noun = 'packages';
END;
CREATE TRIGGER package_counted_off AFTER DELETE ON packages BEGIN
  UPDATE publisher_figures SET packages = packages - 1 WHERE publisher_id = OLD.publisher_id;
END;
CREATE TRIGGER package_findings_added AFTER INSERT ON package_findings BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'package_findings'; END;
CREATE TRIGGER package_findings_changed AFTER UPDATE ON package_findings BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'package_findings'; END;
CREATE TRIGGER package_findings_removed AFTER DELETE ON package_findings BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'package_findings'; END;
CREATE TRIGGER package_gone AFTER DELETE ON packages BEGIN
  DELETE FROM kept_contents WHERE package_id = OLD.id;
  DELETE FROM package_figures WHERE package_id = OLD.id;
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
CREATE TRIGGER package_renamed AFTER UPDATE OF id ON packages WHEN NEW.id <> OLD.id BEGIN
  UPDATE kept_contents SET package_id = NEW.id WHERE package_id = OLD.id;
  UPDATE package_figures SET package_id = NEW.id WHERE package_id = OLD.id;
END;
CREATE TRIGGER packages_added AFTER INSERT ON packages BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + 1 WHERE noun = 'packages'; END;
CREATE TRIGGER packages_changed AFTER UPDATE OF id, namespace, name, type, publisher_id, private, status, title, summary, description, default_track, links, license, icon, created_at, manual_review, edited ON packages BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'packages'; END;
CREATE TRIGGER packages_removed AFTER DELETE ON packages BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count - 1 WHERE noun = 'packages'; END;
CREATE TRIGGER proposals_added AFTER INSERT ON proposals BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; END;
CREATE TRIGGER proposals_changed AFTER UPDATE ON proposals BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; END;
CREATE TRIGGER proposals_removed AFTER DELETE ON proposals BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; END;
CREATE TRIGGER releases_added AFTER INSERT ON releases BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'releases'; END;
CREATE TRIGGER releases_changed AFTER UPDATE ON releases BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'releases'; END;
CREATE TRIGGER releases_removed AFTER DELETE ON releases BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'releases'; END;
CREATE TRIGGER resource_content_added AFTER INSERT ON resource_revisions BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER resource_content_changed AFTER UPDATE ON resource_revisions WHEN NEW.package_id = OLD.package_id BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER resource_content_removed AFTER DELETE ON resource_revisions BEGIN
  INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
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
CREATE TRIGGER revisions_added AFTER INSERT ON revisions BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + (NEW.deleted_at IS NULL) WHERE noun = 'revisions'; END;
CREATE TRIGGER revisions_changed AFTER UPDATE ON revisions BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + (NEW.deleted_at IS NULL) - (OLD.deleted_at IS NULL) WHERE noun = 'revisions'; END;
CREATE TRIGGER revisions_removed AFTER DELETE ON revisions BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count - (OLD.deleted_at IS NULL) WHERE noun = 'revisions'; END;
CREATE TRIGGER revoked_serials_added AFTER INSERT ON revoked_serials BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revoked_serials'; END;
CREATE TRIGGER revoked_serials_changed AFTER UPDATE ON revoked_serials BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revoked_serials'; END;
CREATE TRIGGER revoked_serials_removed AFTER DELETE ON revoked_serials BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revoked_serials'; END;
CREATE TRIGGER root_keys_added AFTER INSERT ON root_keys BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'root_keys'; END;
CREATE TRIGGER root_keys_changed AFTER UPDATE ON root_keys BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'root_keys'; END;
CREATE TRIGGER root_keys_removed AFTER DELETE ON root_keys BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'root_keys'; END;
CREATE TRIGGER store_administrators_added AFTER INSERT ON store_administrators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'store_administrators'; END;
CREATE TRIGGER store_administrators_changed AFTER UPDATE ON store_administrators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'store_administrators'; END;
CREATE TRIGGER store_administrators_removed AFTER DELETE ON store_administrators BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'store_administrators'; END;
CREATE TRIGGER totp_secrets_added AFTER INSERT ON totp_secrets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; END;
CREATE TRIGGER totp_secrets_changed AFTER UPDATE ON totp_secrets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; END;
CREATE TRIGGER totp_secrets_removed AFTER DELETE ON totp_secrets BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; END;
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
CREATE TRIGGER upload_content_added AFTER INSERT ON uploads WHEN NEW.package_id IS NOT NULL BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER upload_content_changed AFTER UPDATE OF status ON uploads WHEN NEW.package_id IS NOT NULL BEGIN
  INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
END;
CREATE TRIGGER upload_content_removed AFTER DELETE ON uploads WHEN OLD.status IN ('new', 'scanned') BEGIN
  INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
END;
CREATE TRIGGER uploads_added AFTER INSERT ON uploads BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + 1 WHERE noun = 'uploads'; END;
CREATE TRIGGER uploads_changed AFTER UPDATE ON uploads BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'uploads'; END;
CREATE TRIGGER uploads_removed AFTER DELETE ON uploads BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count - 1 WHERE noun = 'uploads'; END;
