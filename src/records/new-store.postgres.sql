-- The tables of a new store as PostgreSQL reads them; made of new-store.sql, and never edited.
-- `LARDER_KEEP=1 npm test -- test/records/new-store.test.ts` makes it anew.
CREATE FUNCTION next_number() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE number BIGINT;
BEGIN
  EXECUTE format('SELECT coalesce(max(%I), 0) + 1 FROM %I.%I', TG_ARGV[0], TG_TABLE_SCHEMA, TG_TABLE_NAME) INTO number;
  NEW := jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[0], number));
  RETURN NEW;
END $$;
CREATE TABLE accepted_findings (
  package_id    TEXT COLLATE "C" NOT NULL,
  vulnerability TEXT COLLATE "C" NOT NULL,
  severity      TEXT COLLATE "C" NOT NULL,
  is_exploited  BIGINT NOT NULL CHECK (is_exploited IN (0, 1)),
  reason        TEXT COLLATE "C" NOT NULL,
  until         TEXT COLLATE "C" NOT NULL,
  accepted_at   TEXT COLLATE "C" NOT NULL,
  accepted_by   TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, vulnerability)
);
CREATE TABLE account_roles (
  account_id TEXT COLLATE "C" NOT NULL,
  role       TEXT COLLATE "C" NOT NULL CHECK (role IN ('transfer-approver', 'auditor')),
  since      TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, role)
);
CREATE TABLE accounts (
  id           TEXT COLLATE "C" PRIMARY KEY,
  username     TEXT COLLATE "C" NOT NULL UNIQUE,
  display_name TEXT COLLATE "C" NOT NULL,
  email        TEXT COLLATE "C" NOT NULL UNIQUE,
  validation   TEXT COLLATE "C" NOT NULL CHECK (validation IN ('unproven', 'verified', 'starred')),
  created_at   TEXT COLLATE "C" NOT NULL
, disabled_at TEXT COLLATE "C", tokens_ended_at TEXT COLLATE "C", id_made_here BIGINT NOT NULL DEFAULT 0 CHECK (id_made_here IN (0, 1)), is_foreign BIGINT NOT NULL DEFAULT 0 CHECK (is_foreign IN (0, 1)));
CREATE TABLE after_review (
  upload_id     TEXT COLLATE "C" NOT NULL,
  kind          TEXT COLLATE "C" NOT NULL CHECK (kind IN ('component', 'channel')),
  name          TEXT COLLATE "C" NOT NULL,
  component     TEXT COLLATE "C",
  only_if_newer BIGINT NOT NULL CHECK (only_if_newer IN (0, 1)),
  wanted_by     TEXT COLLATE "C" NOT NULL,
  session_id    TEXT COLLATE "C",
  request_id    TEXT COLLATE "C",
  settled       BIGINT NOT NULL DEFAULT 0 CHECK (settled IN (0, 1)),
  error         TEXT COLLATE "C",
  PRIMARY KEY (upload_id, kind, name)
);
CREATE TABLE agents (
  username   TEXT COLLATE "C" PRIMARY KEY,
  account_id TEXT COLLATE "C" NOT NULL,
  public_key TEXT COLLATE "C" NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL
);
CREATE TABLE appliance (
  name  TEXT COLLATE "C" PRIMARY KEY,
  value TEXT COLLATE "C" NOT NULL
);
CREATE TABLE approval_policy (
  one    BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
  policy TEXT COLLATE "C" NOT NULL CHECK (length(policy) <= 1048576),
  since  TEXT COLLATE "C" NOT NULL
);
CREATE TABLE approvals (
  proposal   BIGINT NOT NULL,
  account_id TEXT COLLATE "C" NOT NULL,
  at         TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" CHECK (length(key) <= 4200), signature TEXT COLLATE "C" CHECK (length(signature) <= 8192),
  PRIMARY KEY (proposal, account_id)
);
CREATE TABLE approver_keys (
  key        TEXT COLLATE "C" PRIMARY KEY CHECK (length(key) <= 4200),
  account_id TEXT COLLATE "C" NOT NULL,
  added_at   TEXT COLLATE "C" NOT NULL,
  added_by   TEXT COLLATE "C" NOT NULL
);
CREATE TABLE assertions (
  name       TEXT COLLATE "C" PRIMARY KEY,
  type       TEXT COLLATE "C" NOT NULL,
  account_id TEXT COLLATE "C",
  revision   BIGINT NOT NULL CHECK (revision >= 0),
  origin     TEXT COLLATE "C" NOT NULL CHECK (origin IN ('imported', 'signed')),
  text       TEXT COLLATE "C" NOT NULL,
  kept_at    TEXT COLLATE "C" NOT NULL,
  kept_by    TEXT COLLATE "C" NOT NULL
, snap_name TEXT COLLATE "C", set_name TEXT COLLATE "C", sequence BIGINT, snap_id TEXT COLLATE "C", snap_revision BIGINT);
CREATE TABLE audit (
  seq        BIGINT NOT NULL PRIMARY KEY,
  at         TEXT COLLATE "C" NOT NULL,
  actor      TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C",
  action     TEXT COLLATE "C" NOT NULL,
  object     TEXT COLLATE "C" NOT NULL,
  request_id TEXT COLLATE "C",
  details    TEXT COLLATE "C" NOT NULL,
  previous   TEXT COLLATE "C" NOT NULL,
  hash       TEXT COLLATE "C" NOT NULL
, outcome TEXT COLLATE "C" CHECK (outcome IN ('done', 'refused')));
CREATE TABLE audit_seal_chain (
  number   BIGINT NOT NULL PRIMARY KEY,
  seq      BIGINT NOT NULL,
  hash     TEXT COLLATE "C" NOT NULL,
  at       TEXT COLLATE "C" NOT NULL,
  previous TEXT COLLATE "C" NOT NULL,
  anew     TEXT COLLATE "C",
  left_seq  BIGINT,
  left_hash TEXT COLLATE "C",
  left_mac  TEXT COLLATE "C",
  mac      TEXT COLLATE "C" NOT NULL
);
CREATE TABLE audit_seals (
  seq  BIGINT NOT NULL PRIMARY KEY,
  hash TEXT COLLATE "C" NOT NULL,
  at   TEXT COLLATE "C" NOT NULL,
  mac  TEXT COLLATE "C" NOT NULL
);
CREATE TABLE brand_administrators (
  brand_account_id TEXT COLLATE "C" NOT NULL,
  account_id       TEXT COLLATE "C" NOT NULL,
  since            TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (brand_account_id, account_id)
);
CREATE TABLE brands (
  account_id  TEXT COLLATE "C" PRIMARY KEY,
  name        TEXT COLLATE "C" NOT NULL,
  created_at  TEXT COLLATE "C" NOT NULL,
  created_by  TEXT COLLATE "C" NOT NULL,
  modified_at TEXT COLLATE "C",
  modified_by TEXT COLLATE "C"
);
CREATE TABLE build_sets (
  id             TEXT COLLATE "C" PRIMARY KEY,
  package_id     TEXT COLLATE "C" NOT NULL,
  commit_hash    TEXT COLLATE "C" NOT NULL,
  craft_channel  TEXT COLLATE "C" NOT NULL,
  craft_revision BIGINT NOT NULL,
  craft_version  TEXT COLLATE "C" NOT NULL,
  platforms      TEXT COLLATE "C" NOT NULL,
  triggers       TEXT COLLATE "C" NOT NULL,
  plane          TEXT COLLATE "C",
  created_at     TEXT COLLATE "C" NOT NULL
, seq BIGINT);
CREATE TABLE builds (
  build_set_id     TEXT COLLATE "C" NOT NULL,
  id               TEXT COLLATE "C" NOT NULL,
  position         BIGINT NOT NULL,
  package_id       TEXT COLLATE "C" NOT NULL,
  status           TEXT COLLATE "C" NOT NULL CHECK (status IN ('waiting', 'running', 'succeeded', 'failed')),
  errors           TEXT COLLATE "C" NOT NULL,
  platform         TEXT COLLATE "C" NOT NULL,
  logs             TEXT COLLATE "C",
  released_channel  TEXT COLLATE "C",
  released_revision BIGINT,
  created_at       TEXT COLLATE "C" NOT NULL,
  completed_at     TEXT COLLATE "C",
  PRIMARY KEY (build_set_id, id),
  CHECK ((released_channel IS NULL) = (released_revision IS NULL)),
  CHECK ((completed_at IS NULL) = (status IN ('waiting', 'running')))
);
CREATE TABLE catalog_packages (
  package_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  name        TEXT COLLATE "C" NOT NULL,
  confinement TEXT COLLATE "C" NOT NULL,
  entry       TEXT COLLATE "C" NOT NULL
, namespace TEXT COLLATE "C" NOT NULL DEFAULT 'snap');
CREATE TABLE catalog_stale (package_id TEXT COLLATE "C" NOT NULL PRIMARY KEY);
CREATE TABLE catalog_words (
  word       TEXT COLLATE "C" NOT NULL,
  package_id TEXT COLLATE "C" NOT NULL,
  weight     BIGINT NOT NULL,
  PRIMARY KEY (word, package_id)
);
CREATE TABLE charm_libraries (
  id         TEXT COLLATE "C" PRIMARY KEY,
  package_id TEXT COLLATE "C" NOT NULL,
  name       TEXT COLLATE "C" NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL,
  UNIQUE (package_id, name)
);
CREATE TABLE charm_library_versions (
  library_id TEXT COLLATE "C" NOT NULL,
  api        BIGINT NOT NULL,
  patch      BIGINT NOT NULL,
  hash       TEXT COLLATE "C" NOT NULL,
  content    TEXT COLLATE "C" NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (library_id, api, patch)
);
CREATE TABLE collaborators (
  package_id TEXT COLLATE "C" NOT NULL,
  account_id TEXT COLLATE "C" NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, account_id)
);
CREATE TABLE commit_workflows (
  id             TEXT COLLATE "C" PRIMARY KEY,
  package_id     TEXT COLLATE "C" NOT NULL,
  commit_hash    TEXT COLLATE "C",
  craft_channel  TEXT COLLATE "C" NOT NULL,
  craft_revision BIGINT NOT NULL,
  build_sets     TEXT COLLATE "C" NOT NULL,
  status         TEXT COLLATE "C" CHECK (status IN ('in-progress', 'completed', 'failed')),
  errors         TEXT COLLATE "C" NOT NULL,
  plane          TEXT COLLATE "C",
  domain         TEXT COLLATE "C",
  created_at     TEXT COLLATE "C" NOT NULL,
  completed_at   TEXT COLLATE "C"
, seq BIGINT);
CREATE TABLE damaged_blobs (
  sha3_384 TEXT COLLATE "C" PRIMARY KEY,
  size     BIGINT NOT NULL,
  found_at TEXT COLLATE "C" NOT NULL
);
CREATE TABLE declared_resources (
  package_id TEXT COLLATE "C" NOT NULL,
  revision   BIGINT NOT NULL,
  name       TEXT COLLATE "C" NOT NULL,
  type       TEXT COLLATE "C" NOT NULL,
  optional   BIGINT NOT NULL CHECK (optional IN (0, 1)),
  PRIMARY KEY (package_id, revision, name)
);
CREATE TABLE device_grants (
  package_id TEXT COLLATE "C" NOT NULL,
  brand_id   TEXT COLLATE "C" NOT NULL,
  model      TEXT COLLATE "C" NOT NULL,
  serial     TEXT COLLATE "C" NOT NULL CHECK (serial = '' OR model <> ''),
  created_at TEXT COLLATE "C" NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (brand_id, model, serial, package_id)
);
CREATE TABLE discharger_keys (
  public_key TEXT COLLATE "C" PRIMARY KEY,
  sealed     TEXT COLLATE "C" NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL
);
CREATE TABLE exports (
  seq    BIGINT NOT NULL PRIMARY KEY,
  at     TEXT COLLATE "C" NOT NULL,
  actor  TEXT COLLATE "C" NOT NULL,
  what   TEXT COLLATE "C" NOT NULL,
  name   TEXT COLLATE "C" NOT NULL,
  sha256 TEXT COLLATE "C" NOT NULL,
  bytes  BIGINT NOT NULL
, label TEXT COLLATE "C", media TEXT COLLATE "C");
CREATE TABLE external_images (
  package_id TEXT COLLATE "C" NOT NULL,
  resource   TEXT COLLATE "C" NOT NULL,
  registry   TEXT COLLATE "C" NOT NULL,
  sha256     TEXT COLLATE "C" NOT NULL,
  told_at    TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, resource, sha256, registry)
);
CREATE TABLE fleet_channels (
  fleet      TEXT COLLATE "C" NOT NULL,
  package_id TEXT COLLATE "C" NOT NULL,
  channel    TEXT COLLATE "C" NOT NULL,
  slot       TEXT COLLATE "C" NOT NULL,
  mode       TEXT COLLATE "C" NOT NULL CHECK (mode IN ('pin', 'hold', 'follow')),
  revision   BIGINT CHECK ((revision IS NULL) = (mode = 'follow')),
  follows    TEXT COLLATE "C" CHECK ((follows IS NOT NULL) = (mode = 'follow')),
  resources  TEXT COLLATE "C" NOT NULL,
  withdrawn  BIGINT NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1)),
  set_at     TEXT COLLATE "C" NOT NULL,
  set_by     TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (fleet, package_id, channel, slot)
);
CREATE TABLE fleet_hidden_snaps (
  fleet      TEXT COLLATE "C" NOT NULL,
  package_id TEXT COLLATE "C" NOT NULL,
  hidden_at  TEXT COLLATE "C" NOT NULL,
  hidden_by  TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (fleet, package_id)
);
CREATE TABLE fleet_selectors (
  selector TEXT COLLATE "C" NOT NULL,
  fleet    TEXT COLLATE "C" NOT NULL,
  model    TEXT COLLATE "C" NOT NULL,
  serial   TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (selector, fleet)
);
CREATE TABLE fleets (
  name           TEXT COLLATE "C" PRIMARY KEY,
  kind           TEXT COLLATE "C" NOT NULL CHECK (kind IN ('serial', 'model', 'brand', 'store')),
  refresh_window TEXT COLLATE "C",
  created_at     TEXT COLLATE "C" NOT NULL,
  created_by     TEXT COLLATE "C" NOT NULL
, source TEXT COLLATE "C", source_text TEXT COLLATE "C");
CREATE TABLE former_usernames (
  username   TEXT COLLATE "C" PRIMARY KEY,
  account_id TEXT COLLATE "C" NOT NULL,
  until      TEXT COLLATE "C" NOT NULL
);
CREATE TABLE group_roles (
  account_id TEXT COLLATE "C" NOT NULL,
  role       TEXT COLLATE "C" NOT NULL CHECK (length(role) <= 96),
  group_name TEXT COLLATE "C" NOT NULL CHECK (length(group_name) <= 1024),
  since      TEXT COLLATE "C" NOT NULL,
  in_force   BIGINT NOT NULL CHECK (in_force IN (0, 1)),
  PRIMARY KEY (account_id, role)
);
CREATE TABLE image_bills (
  package_id TEXT COLLATE "C" NOT NULL,
  resource   TEXT COLLATE "C" NOT NULL,
  manifest   TEXT COLLATE "C" NOT NULL,
  bill       TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, resource, manifest)
);
CREATE TABLE image_blobs (
  package_id TEXT COLLATE "C" NOT NULL,
  resource   TEXT COLLATE "C" NOT NULL,
  sha256     TEXT COLLATE "C" NOT NULL,
  sha3_384   TEXT COLLATE "C" NOT NULL,
  size       BIGINT NOT NULL,
  pushed_at  TEXT COLLATE "C" NOT NULL, sha512 TEXT COLLATE "C",
  PRIMARY KEY (package_id, resource, sha256)
);
CREATE TABLE image_children (
  package_id TEXT COLLATE "C" NOT NULL,
  resource   TEXT COLLATE "C" NOT NULL,
  manifest   TEXT COLLATE "C" NOT NULL,
  child      TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, resource, manifest, child)
);
CREATE TABLE image_credentials (
  id            TEXT COLLATE "C" PRIMARY KEY,
  package_id    TEXT COLLATE "C" NOT NULL,
  resource      TEXT COLLATE "C" NOT NULL,
  kind          TEXT COLLATE "C" NOT NULL CHECK (kind IN ('push', 'pull')),
  secret_sha256 TEXT COLLATE "C" NOT NULL,
  sealed_secret TEXT COLLATE "C",
  account_id    TEXT COLLATE "C",
  session_id    TEXT COLLATE "C",
  issued_at     TEXT COLLATE "C" NOT NULL,
  first_used_at TEXT COLLATE "C", ends_at TEXT COLLATE "C",
  CHECK ((kind = 'pull') = (sealed_secret IS NOT NULL)),
  CHECK ((kind = 'push') = (account_id IS NOT NULL)),
  CHECK ((kind = 'push') = (session_id IS NOT NULL))
);
CREATE TABLE image_manifests (
  package_id TEXT COLLATE "C" NOT NULL,
  resource   TEXT COLLATE "C" NOT NULL,
  sha256     TEXT COLLATE "C" NOT NULL,
  sha3_384   TEXT COLLATE "C" NOT NULL,
  size       BIGINT NOT NULL,
  media_type TEXT COLLATE "C" NOT NULL,
  pushed_at  TEXT COLLATE "C" NOT NULL, sha512 TEXT COLLATE "C",
  PRIMARY KEY (package_id, resource, sha256)
);
CREATE TABLE image_mentions (
  content  TEXT COLLATE "C" PRIMARY KEY,
  manifest TEXT COLLATE "C"
);
CREATE TABLE image_parts (
  package_id TEXT COLLATE "C" NOT NULL,
  resource   TEXT COLLATE "C" NOT NULL,
  sha256     TEXT COLLATE "C" NOT NULL,
  manifest   TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, resource, sha256, manifest)
);
CREATE TABLE image_referrers (
  package_id    TEXT COLLATE "C" NOT NULL,
  resource      TEXT COLLATE "C" NOT NULL,
  manifest      TEXT COLLATE "C" NOT NULL,
  subject       TEXT COLLATE "C" NOT NULL,
  artifact_type TEXT COLLATE "C" NOT NULL,
  annotations   TEXT COLLATE "C",
  PRIMARY KEY (package_id, resource, manifest)
);
CREATE TABLE image_tags (
  package_id TEXT COLLATE "C" NOT NULL,
  resource   TEXT COLLATE "C" NOT NULL,
  tag        TEXT COLLATE "C" NOT NULL,
  manifest   TEXT COLLATE "C" NOT NULL,
  tagged_at  TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, resource, tag)
);
CREATE TABLE invites (
  token_sha256 TEXT COLLATE "C" PRIMARY KEY,
  package_id   TEXT COLLATE "C" NOT NULL,
  account_id   TEXT COLLATE "C" NOT NULL,
  email        TEXT COLLATE "C" NOT NULL,
  created_at   TEXT COLLATE "C" NOT NULL,
  created_by   TEXT COLLATE "C" NOT NULL,
  expires_at   TEXT COLLATE "C" NOT NULL,
  accepted_at  TEXT COLLATE "C",
  revoked_at   TEXT COLLATE "C",
  revoked_by   TEXT COLLATE "C", seq BIGINT,
  CHECK (accepted_at IS NULL OR revoked_at IS NULL),
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
CREATE TABLE kept_contents (
  package_id TEXT COLLATE "C" NOT NULL,
  sha3_384   TEXT COLLATE "C" NOT NULL,
  size       BIGINT NOT NULL,
  PRIMARY KEY (package_id, sha3_384)
);
CREATE TABLE larder_release_files (
  version  TEXT COLLATE "C" NOT NULL,
  name     TEXT COLLATE "C" NOT NULL CHECK (length(name) <= 128),
  sha3_384 TEXT COLLATE "C" NOT NULL CHECK (length(sha3_384) = 96),
  size     BIGINT NOT NULL,
  PRIMARY KEY (version, name)
);
CREATE TABLE larder_releases (
  version     TEXT COLLATE "C" PRIMARY KEY CHECK (length(version) <= 64),
  commit_id   TEXT COLLATE "C" CHECK (length(commit_id) <= 64),
  released    TEXT COLLATE "C" NOT NULL CHECK (length(released) <= 10),
  manifest    TEXT COLLATE "C" NOT NULL CHECK (length(manifest) = 64),
  source      TEXT COLLATE "C" NOT NULL,
  accepted_at TEXT COLLATE "C" NOT NULL,
  accepted_by TEXT COLLATE "C" NOT NULL
);
CREATE TABLE last_logins (
  account_id      TEXT COLLATE "C" PRIMARY KEY,
  at              TEXT COLLATE "C" NOT NULL,
  address         TEXT COLLATE "C" NOT NULL,
  failed_count    BIGINT NOT NULL,
  earlier_at      TEXT COLLATE "C",
  earlier_address TEXT COLLATE "C",
  failed_between  BIGINT NOT NULL
);
CREATE TABLE macaroons (
  session_id  TEXT COLLATE "C" PRIMARY KEY,
  account_id  TEXT COLLATE "C" NOT NULL,
  root_key_id TEXT COLLATE "C" NOT NULL,
  description TEXT COLLATE "C",
  valid_since TEXT COLLATE "C" NOT NULL,
  valid_until TEXT COLLATE "C" NOT NULL,
  revoked_at  TEXT COLLATE "C",
  revoked_by  TEXT COLLATE "C"
, conditions TEXT COLLATE "C", replaced_by TEXT COLLATE "C", kind TEXT COLLATE "C" NOT NULL DEFAULT 'token' CHECK (kind IN ('token', 'console')), proven_at TEXT COLLATE "C", proven_by TEXT COLLATE "C" CHECK (proven_by IN ('certificate', 'host')));
CREATE TABLE made_requests (
  number  BIGINT NOT NULL PRIMARY KEY,
  id      TEXT COLLATE "C" NOT NULL,
  bytes   BIGINT NOT NULL,
  made_at TEXT COLLATE "C" NOT NULL,
  made_by TEXT COLLATE "C" NOT NULL
);
CREATE TABLE made_texts (
  sha3_384 TEXT COLLATE "C" NOT NULL,
  sequence BIGINT NOT NULL,
  PRIMARY KEY (sha3_384, sequence)
);
CREATE TABLE made_transfers (
  sequence  BIGINT NOT NULL PRIMARY KEY,
  id        TEXT COLLATE "C" NOT NULL,
  sites     TEXT COLLATE "C" NOT NULL,
  statement TEXT COLLATE "C" NOT NULL,
  bytes     BIGINT NOT NULL,
  made_at   TEXT COLLATE "C" NOT NULL,
  made_by   TEXT COLLATE "C" NOT NULL
);
CREATE TABLE models (
  brand_account_id TEXT COLLATE "C" NOT NULL,
  name             TEXT COLLATE "C" NOT NULL,
  series           TEXT COLLATE "C" NOT NULL,
  api_key          TEXT COLLATE "C",
  policies_made    BIGINT NOT NULL DEFAULT 0 CHECK (policies_made >= 0),
  created_at       TEXT COLLATE "C" NOT NULL,
  created_by       TEXT COLLATE "C" NOT NULL,
  modified_at      TEXT COLLATE "C",
  modified_by      TEXT COLLATE "C",
  PRIMARY KEY (brand_account_id, name)
);
CREATE TABLE notes (
  kind    TEXT COLLATE "C" NOT NULL CHECK (length(kind) <= 32),
  key     TEXT COLLATE "C" NOT NULL CHECK (length(key) <= 256),
  count   BIGINT NOT NULL CHECK (count > 0),
  last_at TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (kind, key)
);
CREATE TABLE noun_versions (
  noun    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  version BIGINT NOT NULL DEFAULT 0
, row_count BIGINT NOT NULL DEFAULT 0, bytes BIGINT NOT NULL DEFAULT 0, hash TEXT COLLATE "C", mac TEXT COLLATE "C", publisher_id TEXT COLLATE "C", publisher_packages BIGINT NOT NULL DEFAULT 0);
CREATE TABLE openid_identities (
  account_id TEXT COLLATE "C" PRIMARY KEY,
  issuer     TEXT COLLATE "C" NOT NULL CHECK (length(issuer) <= 1024),
  subject    TEXT COLLATE "C" NOT NULL CHECK (length(subject) <= 255),
  linked_at  TEXT COLLATE "C" NOT NULL,
  UNIQUE (issuer, subject)
);
CREATE TABLE package_days (
  day        TEXT COLLATE "C" NOT NULL CHECK (length(day) = 10),
  package_id TEXT COLLATE "C" NOT NULL,
  downloads  BIGINT NOT NULL DEFAULT 0 CHECK (downloads >= 0),
  devices    BIGINT NOT NULL DEFAULT 0 CHECK (devices >= 0),
  refreshes  BIGINT NOT NULL DEFAULT 0 CHECK (refreshes >= 0),
  PRIMARY KEY (day, package_id)
);
CREATE TABLE package_figures (
  package_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  publisher_id TEXT COLLATE "C" NOT NULL,
  revisions    BIGINT NOT NULL DEFAULT 0,
  bytes        BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE package_findings (
  package_id    TEXT COLLATE "C" NOT NULL,
  vulnerability TEXT COLLATE "C" NOT NULL,
  severity      TEXT COLLATE "C" NOT NULL,
  is_exploited  BIGINT NOT NULL CHECK (is_exploited IN (0, 1)),
  state         TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'not_affected', 'fixed')),
  since         TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, vulnerability)
);
CREATE TABLE package_offers (
  package_id TEXT COLLATE "C" PRIMARY KEY,
  account_id TEXT COLLATE "C" NOT NULL,
  offered_by TEXT COLLATE "C" NOT NULL,
  offered_at TEXT COLLATE "C" NOT NULL,
  expires_at TEXT COLLATE "C" NOT NULL
);
CREATE TABLE packages (
  id            TEXT COLLATE "C" PRIMARY KEY,
  namespace     TEXT COLLATE "C" NOT NULL,
  name          TEXT COLLATE "C" NOT NULL,
  type          TEXT COLLATE "C" NOT NULL,
  publisher_id  TEXT COLLATE "C" NOT NULL,
  private       BIGINT NOT NULL CHECK (private IN (0, 1)),
  status        TEXT COLLATE "C" NOT NULL CHECK (status IN ('registered', 'published')),
  title         TEXT COLLATE "C",
  summary       TEXT COLLATE "C",
  description   TEXT COLLATE "C",
  default_track TEXT COLLATE "C",
  links         TEXT COLLATE "C" NOT NULL,
  icon          TEXT COLLATE "C",
  created_at    TEXT COLLATE "C" NOT NULL, manual_review BIGINT NOT NULL DEFAULT 0 CHECK (manual_review IN (0, 1)), edited TEXT COLLATE "C" NOT NULL DEFAULT '[]', revisions BIGINT NOT NULL DEFAULT 0, bytes BIGINT NOT NULL DEFAULT 0, license TEXT COLLATE "C",
  UNIQUE (namespace, name)
);
CREATE TABLE passing_advisories (
  feed_index   BIGINT NOT NULL,
  advisory     TEXT COLLATE "C" NOT NULL,
  severity     TEXT COLLATE "C" NOT NULL,
  score        TEXT COLLATE "C",
  published_at TEXT COLLATE "C",
  modified_at  TEXT COLLATE "C" NOT NULL,
  summary      TEXT COLLATE "C" NOT NULL,
  names        TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (feed_index, advisory)
);
CREATE TABLE passing_advisory_binaries (
  feed_index     BIGINT NOT NULL,
  release        TEXT COLLATE "C" NOT NULL,
  package        TEXT COLLATE "C" NOT NULL,
  source_package TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (feed_index, release, package, source_package)
);
CREATE TABLE passing_advisory_packages (
  feed_index BIGINT NOT NULL,
  release    TEXT COLLATE "C" NOT NULL,
  package    TEXT COLLATE "C" NOT NULL,
  part       BIGINT NOT NULL,
  advisories TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (feed_index, release, package, part)
);
CREATE TABLE passing_certificate_sessions (
  session_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(session_id) <= 64),
  account_id   TEXT COLLATE "C" NOT NULL CHECK (length(account_id) <= 64),
  certificate  TEXT COLLATE "C" NOT NULL CHECK (length(certificate) <= 32768),
  confirmed_at TEXT COLLATE "C" NOT NULL,
  ends_at      TEXT COLLATE "C" NOT NULL
);
CREATE TABLE passing_codes (
  seq     BIGINT NOT NULL PRIMARY KEY,
  digest  TEXT COLLATE "C" NOT NULL UNIQUE CHECK (length(digest) <= 64),
  token   TEXT COLLATE "C" NOT NULL CHECK (length(token) <= 256),
  ends_at TEXT COLLATE "C" NOT NULL
);
CREATE TABLE passing_component_advisories (
  component BIGINT NOT NULL,
  feed      TEXT COLLATE "C" NOT NULL,
  advisory  TEXT COLLATE "C" NOT NULL,
  severity  TEXT COLLATE "C" NOT NULL,
  fixed     TEXT COLLATE "C",
  PRIMARY KEY (component, feed, advisory)
);
CREATE TABLE passing_delta_work (
  package_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  version    BIGINT NOT NULL
);
CREATE TABLE passing_deltas (
  package_id  TEXT COLLATE "C" NOT NULL,
  source      BIGINT NOT NULL,
  target      BIGINT NOT NULL,
  sha3_384    TEXT COLLATE "C",
  size        BIGINT NOT NULL,
  released_at TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, source, target)
);
CREATE TABLE passing_device_nonces (
  nonce   TEXT COLLATE "C" PRIMARY KEY CHECK (length(nonce) <= 64),
  ends_at TEXT COLLATE "C" NOT NULL
, device TEXT COLLATE "C" NOT NULL DEFAULT '' CHECK (length(device) <= 64));
CREATE TABLE passing_exploited_vulnerabilities (
  feed_index    BIGINT NOT NULL,
  cve           TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (feed_index, cve)
);
CREATE TABLE passing_failures (
  seq     BIGINT NOT NULL PRIMARY KEY,
  kind    TEXT COLLATE "C" NOT NULL CHECK (kind IN ('login', 'exchange')),
  key     TEXT COLLATE "C" NOT NULL CHECK (length(key) <= 64),
  count   BIGINT NOT NULL CHECK (count > 0),
  ends_at TEXT COLLATE "C" NOT NULL,
  UNIQUE (kind, key)
);
CREATE TABLE passing_familiar_places (
  seq     BIGINT NOT NULL PRIMARY KEY,
  key     TEXT COLLATE "C" NOT NULL UNIQUE CHECK (length(key) <= 64),
  ends_at TEXT COLLATE "C" NOT NULL
);
CREATE TABLE passing_feed_indexes (
  id         BIGINT NOT NULL PRIMARY KEY,
  source     TEXT COLLATE "C" NOT NULL,
  format     TEXT COLLATE "C" NOT NULL,
  made_from  TEXT COLLATE "C" NOT NULL,
  releases   TEXT COLLATE "C" NOT NULL,
  in_force   BIGINT NOT NULL CHECK (in_force IN (0, 1)),
  started_at TEXT COLLATE "C" NOT NULL
);
CREATE TABLE passing_image_components (
  package_id TEXT COLLATE "C" NOT NULL,
  resource   TEXT COLLATE "C" NOT NULL,
  manifest   TEXT COLLATE "C" NOT NULL,
  component  BIGINT NOT NULL,
  PRIMARY KEY (package_id, resource, manifest, component)
);
CREATE TABLE passing_leases (
  name    TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(name) <= 128),
  holder  TEXT COLLATE "C" NOT NULL CHECK (length(holder) <= 64),
  ends_at TEXT COLLATE "C" NOT NULL
);
CREATE TABLE passing_logins (
  id         TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(id) <= 64),
  wait_id    TEXT COLLATE "C" NOT NULL UNIQUE CHECK (length(wait_id) <= 64),
  client     TEXT COLLATE "C" NOT NULL CHECK (length(client) <= 64),
  about      TEXT COLLATE "C" NOT NULL CHECK (length(about) <= 262144),
  size       BIGINT NOT NULL,
  halfway    TEXT COLLATE "C" CHECK (length(halfway) <= 64),
  account_id TEXT COLLATE "C" CHECK (length(account_id) <= 64),
  token      TEXT COLLATE "C" CHECK (length(token) <= 256),
  ends_at    TEXT COLLATE "C" NOT NULL
, password_set_at TEXT COLLATE "C" CHECK (length(password_set_at) <= 64));
CREATE TABLE passing_matched_images (
  package_id TEXT COLLATE "C" NOT NULL,
  resource   TEXT COLLATE "C" NOT NULL,
  manifest   TEXT COLLATE "C" NOT NULL,
  release    TEXT COLLATE "C",
  coverage   TEXT COLLATE "C" NOT NULL,
  unchecked  TEXT COLLATE "C" NOT NULL,
  incomplete BIGINT NOT NULL CHECK (incomplete IN (0, 1)),
  indexes    TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, resource, manifest)
);
CREATE TABLE passing_matched_revisions (
  package_id TEXT COLLATE "C" NOT NULL,
  revision   BIGINT NOT NULL,
  release    TEXT COLLATE "C",
  coverage   TEXT COLLATE "C" NOT NULL,
  unchecked  TEXT COLLATE "C" NOT NULL,
  incomplete BIGINT NOT NULL CHECK (incomplete IN (0, 1)),
  indexes    TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, revision)
);
CREATE TABLE passing_openid_confirmations (
  account_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(account_id) <= 64),
  refresh_token TEXT COLLATE "C" CHECK (length(refresh_token) <= 16384),
  confirmed_at  TEXT COLLATE "C" NOT NULL,
  ends_at       TEXT COLLATE "C" NOT NULL
);
CREATE TABLE passing_openid_sessions (
  session_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(session_id) <= 64),
  account_id  TEXT COLLATE "C" NOT NULL CHECK (length(account_id) <= 64),
  provider_id TEXT COLLATE "C" CHECK (length(provider_id) <= 255),
  ends_at     TEXT COLLATE "C" NOT NULL
);
CREATE TABLE passing_proofs (
  seq        BIGINT NOT NULL PRIMARY KEY,
  digest     TEXT COLLATE "C" NOT NULL UNIQUE CHECK (length(digest) <= 64),
  account_id TEXT COLLATE "C" NOT NULL CHECK (length(account_id) <= 64),
  caveat     TEXT COLLATE "C" CHECK (length(caveat) <= 64),
  ends_at    TEXT COLLATE "C" NOT NULL
, proven_by TEXT COLLATE "C" CHECK (proven_by IN ('certificate', 'host')));
CREATE TABLE passing_registry_uploads (
  id            TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(id) <= 64),
  repository    TEXT COLLATE "C" NOT NULL CHECK (length(repository) <= 400),
  account_id    TEXT COLLATE "C" CHECK (length(account_id) <= 64),
  size          BIGINT NOT NULL CHECK (size >= 0),
  sender        TEXT COLLATE "C" CHECK (length(sender) <= 64),
  sending_until TEXT COLLATE "C",
  ends_at       TEXT COLLATE "C" NOT NULL
);
CREATE TABLE passing_revision_components (
  package_id TEXT COLLATE "C" NOT NULL,
  revision   BIGINT NOT NULL,
  component  BIGINT NOT NULL,
  PRIMARY KEY (package_id, revision, component)
);
CREATE TABLE passing_rollout_devices (
  brand_id TEXT COLLATE "C" NOT NULL,
  model    TEXT COLLATE "C" NOT NULL,
  serial   TEXT COLLATE "C" NOT NULL,
  rollout  BIGINT NOT NULL,
  step     BIGINT NOT NULL,
  had      BIGINT NOT NULL,
  state    TEXT COLLATE "C" NOT NULL CHECK (state IN ('offered', 'took', 'held', 'failed', 'back')),
  since    TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (brand_id, model, serial, rollout)
);
CREATE TABLE passing_rollout_watches (
  rollout    BIGINT NOT NULL PRIMARY KEY,
  step_at    TEXT COLLATE "C" NOT NULL,
  checked_at TEXT COLLATE "C" NOT NULL,
  served_ms  BIGINT NOT NULL,
  away_ms    BIGINT NOT NULL
);
CREATE TABLE passing_seen_devices (
  brand_id TEXT COLLATE "C" NOT NULL,
  model    TEXT COLLATE "C" NOT NULL,
  serial   TEXT COLLATE "C" NOT NULL,
  first_at TEXT COLLATE "C" NOT NULL,
  last_at  TEXT COLLATE "C" NOT NULL,
  holds    TEXT COLLATE "C" NOT NULL CHECK (length(holds) <= 65536),
  offers   TEXT COLLATE "C" NOT NULL CHECK (length(offers) <= 262144),
  PRIMARY KEY (brand_id, model, serial)
);
CREATE TABLE passing_seen_snaps (
  number     BIGINT NOT NULL PRIMARY KEY,
  package_id TEXT COLLATE "C" NOT NULL UNIQUE
);
CREATE TABLE passing_shares (
  name   TEXT COLLATE "C" NOT NULL CHECK (length(name) <= 512),
  holder TEXT COLLATE "C" NOT NULL CHECK (length(holder) <= 64),
  amount BIGINT NOT NULL CHECK (amount > 0),
  PRIMARY KEY (name, holder)
);
CREATE TABLE passing_transfer_contents (
  transfer TEXT COLLATE "C" NOT NULL,
  sha3_384 TEXT COLLATE "C" NOT NULL,
  ends_at  TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (transfer, sha3_384)
);
CREATE TABLE passing_transfer_findings (
  transfer TEXT COLLATE "C" NOT NULL,
  subject  TEXT COLLATE "C" NOT NULL,
  findings TEXT COLLATE "C",
  refused  TEXT COLLATE "C",
  ends_at  TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (transfer, subject),
  CHECK ((findings IS NULL) <> (refused IS NULL))
);
CREATE TABLE passing_used_values (
  digest  TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(digest) <= 64),
  ends_at TEXT COLLATE "C" NOT NULL
);
CREATE TABLE passing_vex_statements (
  feed_index    BIGINT NOT NULL,
  number        BIGINT NOT NULL,
  vulnerability TEXT COLLATE "C" NOT NULL,
  products      TEXT COLLATE "C" NOT NULL,
  status        TEXT COLLATE "C" NOT NULL,
  justification TEXT COLLATE "C",
  impact        TEXT COLLATE "C",
  stated_at     TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (feed_index, vulnerability, number)
);
CREATE TABLE passing_vulnerable_components (
  id             BIGINT NOT NULL PRIMARY KEY,
  release        TEXT COLLATE "C" NOT NULL,
  ecosystem      TEXT COLLATE "C" NOT NULL,
  name           TEXT COLLATE "C" NOT NULL,
  version        TEXT COLLATE "C" NOT NULL,
  source_name    TEXT COLLATE "C" NOT NULL,
  source_version TEXT COLLATE "C" NOT NULL
);
CREATE TABLE passwords (
  account_id TEXT COLLATE "C" PRIMARY KEY,
  hash       TEXT COLLATE "C" NOT NULL,
  changed_at TEXT COLLATE "C" NOT NULL
);
CREATE TABLE past_releases (
  package_id  TEXT COLLATE "C" NOT NULL,
  seq         BIGINT NOT NULL,
  channel     TEXT COLLATE "C" NOT NULL,
  slot        TEXT COLLATE "C" NOT NULL,
  revision    BIGINT,
  before      BIGINT,
  percentage  DOUBLE PRECISION,
  paused      BIGINT CHECK (paused IN (0, 1)),
  released_at TEXT COLLATE "C" NOT NULL,
  released_by TEXT COLLATE "C", resources TEXT COLLATE "C", expires_at TEXT COLLATE "C",
  PRIMARY KEY (package_id, seq)
);
CREATE TABLE proposals (
  number      BIGINT NOT NULL PRIMARY KEY,
  act         TEXT COLLATE "C" NOT NULL,
  object      TEXT COLLATE "C" NOT NULL,
  actor       TEXT COLLATE "C" NOT NULL,
  asked       TEXT COLLATE "C" NOT NULL,
  digest      TEXT COLLATE "C" NOT NULL,
  lines       TEXT COLLATE "C" NOT NULL CHECK (length(lines) <= 67108864),
  proposed_at TEXT COLLATE "C" NOT NULL,
  ends_at     TEXT COLLATE "C" NOT NULL,
  state       TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'done', 'rejected', 'fallen')),
  ended_at    TEXT COLLATE "C",
  ended_by    TEXT COLLATE "C",
  because     TEXT COLLATE "C"
);
CREATE TABLE publisher_figures (
  publisher_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  bytes        BIGINT NOT NULL DEFAULT 0
, packages BIGINT NOT NULL DEFAULT 0);
CREATE TABLE quotas (
  account_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  bytes      BIGINT CHECK (bytes >= 0),
  packages   BIGINT CHECK (packages >= 0)
);
CREATE TABLE releases (
  package_id             TEXT COLLATE "C" NOT NULL,
  channel                TEXT COLLATE "C" NOT NULL,
  slot                   TEXT COLLATE "C" NOT NULL,
  progressive            BIGINT NOT NULL CHECK (progressive IN (0, 1)),
  architecture           TEXT COLLATE "C",
  base_name              TEXT COLLATE "C",
  base_channel           TEXT COLLATE "C",
  revision               BIGINT NOT NULL,
  progressive_paused     BIGINT CHECK (progressive_paused IN (0, 1)),
  progressive_percentage DOUBLE PRECISION,
  resources              TEXT COLLATE "C" NOT NULL,
  released_at            TEXT COLLATE "C" NOT NULL,
  expires_at             TEXT COLLATE "C", rollout BIGINT,
  PRIMARY KEY (package_id, channel, slot, progressive)
);
CREATE TABLE remodel_allowlist (
  brand_account_id TEXT COLLATE "C" NOT NULL,
  from_model       TEXT COLLATE "C" NOT NULL,
  from_serial      TEXT COLLATE "C" NOT NULL,
  to_model         TEXT COLLATE "C" NOT NULL,
  description      TEXT COLLATE "C",
  created_at       TEXT COLLATE "C" NOT NULL,
  created_by       TEXT COLLATE "C" NOT NULL,
  modified_at      TEXT COLLATE "C",
  modified_by      TEXT COLLATE "C",
  PRIMARY KEY (brand_account_id, from_model, from_serial, to_model)
);
CREATE TABLE resource_pairs (
  package_id       TEXT COLLATE "C" NOT NULL,
  name             TEXT COLLATE "C" NOT NULL,
  revision         BIGINT NOT NULL,
  package_revision BIGINT NOT NULL,
  PRIMARY KEY (package_id, name, revision, package_revision)
);
CREATE TABLE resource_revisions (
  package_id       TEXT COLLATE "C" NOT NULL,
  name             TEXT COLLATE "C" NOT NULL,
  revision         BIGINT NOT NULL CHECK (revision > 0),
  type             TEXT COLLATE "C" NOT NULL,
  sha256           TEXT COLLATE "C" NOT NULL,
  sha3_384         TEXT COLLATE "C" NOT NULL,
  sha384           TEXT COLLATE "C" NOT NULL,
  sha512           TEXT COLLATE "C" NOT NULL,
  size             BIGINT NOT NULL,
  bases            TEXT COLLATE "C",
  architectures    TEXT COLLATE "C",
  package_revision BIGINT,
  created_at       TEXT COLLATE "C" NOT NULL,
  created_by       TEXT COLLATE "C" NOT NULL,
  updated_at       TEXT COLLATE "C",
  updated_by       TEXT COLLATE "C", deleted_at TEXT COLLATE "C",
  PRIMARY KEY (package_id, name, revision),
  UNIQUE (package_id, name, sha3_384),
  CHECK ((bases IS NULL) <> (architectures IS NULL))
);
CREATE TABLE revision_bills (
  package_id TEXT COLLATE "C" NOT NULL,
  revision   BIGINT NOT NULL,
  bill       TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (package_id, revision)
);
CREATE TABLE revisions (
  package_id TEXT COLLATE "C" NOT NULL,
  revision   BIGINT NOT NULL CHECK (revision > 0),
  sha3_384   TEXT COLLATE "C" NOT NULL,
  sha256     TEXT COLLATE "C" NOT NULL,
  size       BIGINT NOT NULL,
  version    TEXT COLLATE "C" NOT NULL,
  status     TEXT COLLATE "C" NOT NULL CHECK (status IN ('approved', 'released', 'rejected')),
  created_at TEXT COLLATE "C" NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL,
  details    TEXT COLLATE "C" NOT NULL,
  package_yaml TEXT COLLATE "C",
  craft_yaml   TEXT COLLATE "C", assertion TEXT COLLATE "C", withdrawn_at TEXT COLLATE "C", withdrawn_by TEXT COLLATE "C", withdrawn_because TEXT COLLATE "C", deleted_at TEXT COLLATE "C", deleted_by TEXT COLLATE "C", deleted_because TEXT COLLATE "C", sha384 TEXT COLLATE "C", config_yaml TEXT COLLATE "C", actions_yaml TEXT COLLATE "C",
  PRIMARY KEY (package_id, revision),
  UNIQUE (package_id, sha3_384)
);
CREATE TABLE revoked_serials (
  brand_id   TEXT COLLATE "C" NOT NULL,
  model      TEXT COLLATE "C" NOT NULL,
  serial     TEXT COLLATE "C" NOT NULL,
  because    TEXT COLLATE "C" NOT NULL,
  revoked_at TEXT COLLATE "C" NOT NULL,
  revoked_by TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (brand_id, model, serial)
);
CREATE TABLE rollouts (
  number      BIGINT NOT NULL PRIMARY KEY,
  package_id  TEXT COLLATE "C" NOT NULL,
  channel     TEXT COLLATE "C" NOT NULL,
  revision    BIGINT NOT NULL,
  plan        TEXT COLLATE "C" NOT NULL CHECK (length(plan) <= 8192),
  state       TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'paused', 'done', 'rolled-back', 'ended')),
  step        BIGINT NOT NULL,
  step_at     TEXT COLLATE "C" NOT NULL,
  judged_from TEXT COLLATE "C" NOT NULL,
  because     TEXT COLLATE "C",
  accepted_vulnerabilities TEXT COLLATE "C" NOT NULL,
  started_at  TEXT COLLATE "C" NOT NULL,
  started_by  TEXT COLLATE "C" NOT NULL,
  changed_at  TEXT COLLATE "C" NOT NULL,
  changed_by  TEXT COLLATE "C" NOT NULL
);
CREATE TABLE root_keys (
  id         TEXT COLLATE "C" PRIMARY KEY,
  sealed     TEXT COLLATE "C" NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL
);
CREATE TABLE sent_contents (
  site     TEXT COLLATE "C" NOT NULL,
  content  TEXT COLLATE "C" NOT NULL,
  sequence BIGINT NOT NULL,
  PRIMARY KEY (site, content)
);
CREATE TABLE sent_packages (
  site       TEXT COLLATE "C" NOT NULL,
  package_id TEXT COLLATE "C" NOT NULL,
  digest     TEXT COLLATE "C" NOT NULL,
  sequence   BIGINT NOT NULL,
  PRIMARY KEY (site, package_id)
);
CREATE TABLE serial_log (
  seq                    BIGINT NOT NULL PRIMARY KEY,
  brand_account_id       TEXT COLLATE "C" NOT NULL,
  model_name             TEXT COLLATE "C" NOT NULL,
  serial                 TEXT COLLATE "C" NOT NULL,
  device_key_sha3_384    TEXT COLLATE "C" NOT NULL,
  signing_key_sha3_384   TEXT COLLATE "C" NOT NULL,
  serial_assertion       TEXT COLLATE "C" NOT NULL,
  serial_request         TEXT COLLATE "C" NOT NULL,
  created_at             TEXT COLLATE "C" NOT NULL,
  UNIQUE (brand_account_id, model_name, serial),
  UNIQUE (brand_account_id, device_key_sha3_384, model_name)
);
CREATE TABLE serial_policies (
  brand_account_id     TEXT COLLATE "C" NOT NULL,
  model_name           TEXT COLLATE "C" NOT NULL,
  revision             BIGINT NOT NULL CHECK (revision > 0),
  signing_key_sha3_384 TEXT COLLATE "C" NOT NULL,
  created_at           TEXT COLLATE "C" NOT NULL,
  created_by           TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (brand_account_id, model_name, revision)
);
CREATE TABLE set_up_links (
  digest     TEXT COLLATE "C" PRIMARY KEY,
  account_id TEXT COLLATE "C" NOT NULL UNIQUE,
  expires_at TEXT COLLATE "C" NOT NULL
, from_init BIGINT NOT NULL DEFAULT 0 CHECK (from_init IN (0, 1)));
CREATE TABLE signing_keys (
  sha3_384         TEXT COLLATE "C" PRIMARY KEY,
  brand_account_id TEXT COLLATE "C" NOT NULL,
  name             TEXT COLLATE "C" NOT NULL,
  fingerprint      TEXT COLLATE "C" NOT NULL,
  public_key       TEXT COLLATE "C" NOT NULL,
  sealed           TEXT COLLATE "C" NOT NULL,
  created_at       TEXT COLLATE "C" NOT NULL,
  created_by       TEXT COLLATE "C" NOT NULL,
  modified_at      TEXT COLLATE "C",
  modified_by      TEXT COLLATE "C", requested_at TEXT COLLATE "C",
  UNIQUE (brand_account_id, name)
);
CREATE TABLE site_receipts (
  site     TEXT COLLATE "C" NOT NULL,
  transfer TEXT COLLATE "C" NOT NULL,
  status   TEXT COLLATE "C" NOT NULL CHECK (status IN ('accepted', 'withdrawn')),
  at       TEXT COLLATE "C" NOT NULL,
  receipt  TEXT COLLATE "C" NOT NULL,
  noted_at TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (site, transfer)
);
CREATE TABLE store_administrators (
  account_id TEXT COLLATE "C" PRIMARY KEY,
  since      TEXT COLLATE "C" NOT NULL
);
CREATE TABLE subscriptions (
  namespace     TEXT COLLATE "C" NOT NULL,
  name          TEXT COLLATE "C" NOT NULL,
  channels      TEXT COLLATE "C" NOT NULL,
  architectures TEXT COLLATE "C" NOT NULL,
  because       TEXT COLLATE "C",
  added_at      TEXT COLLATE "C" NOT NULL,
  added_by      TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace, name)
);
CREATE TABLE totp_secrets (
  account_id TEXT COLLATE "C" PRIMARY KEY,
  sealed     TEXT COLLATE "C" NOT NULL,
  since      TEXT COLLATE "C" NOT NULL,
  used_step  BIGINT NOT NULL DEFAULT 0
, recovery TEXT COLLATE "C" NOT NULL DEFAULT '[]');
CREATE TABLE touched_accounts (
  account_id TEXT COLLATE "C" PRIMARY KEY,
  at         TEXT COLLATE "C" NOT NULL,
  by         TEXT COLLATE "C" NOT NULL,
  what       TEXT COLLATE "C" NOT NULL
);
CREATE TABLE track_guardrails (
  package_id TEXT COLLATE "C" NOT NULL,
  pattern    TEXT COLLATE "C" NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL, seq BIGINT,
  PRIMARY KEY (package_id, pattern)
);
CREATE TABLE tracks (
  package_id                   TEXT COLLATE "C" NOT NULL,
  name                         TEXT COLLATE "C" NOT NULL,
  version_pattern              TEXT COLLATE "C",
  automatic_phasing_percentage DOUBLE PRECISION,
  created_at                   TEXT COLLATE "C" NOT NULL, rollout TEXT COLLATE "C",
  PRIMARY KEY (package_id, name)
);
CREATE TABLE transfer_sources (
  name        TEXT COLLATE "C" PRIMARY KEY,
  keys        TEXT COLLATE "C" NOT NULL,
  threshold   BIGINT NOT NULL CHECK (threshold > 0),
  packages    TEXT COLLATE "C" NOT NULL,
  may_release BIGINT NOT NULL CHECK (may_release IN (0, 1)),
  floor       BIGINT NOT NULL DEFAULT 0,
  added_at    TEXT COLLATE "C" NOT NULL,
  added_by    TEXT COLLATE "C" NOT NULL
, floor_in_doubt BIGINT NOT NULL DEFAULT 0 CHECK (floor_in_doubt IN (0, 1)), scanners TEXT COLLATE "C" NOT NULL DEFAULT '[]', scans BIGINT NOT NULL DEFAULT 0 CHECK (scans >= 0), rotation BIGINT NOT NULL DEFAULT 0, accept TEXT COLLATE "C" NOT NULL DEFAULT 'people' CHECK (accept IN ('people', 'automatic')), keys_before TEXT COLLATE "C" NOT NULL DEFAULT '[]', key_copied_at TEXT COLLATE "C");
CREATE TABLE transfers (
  id          TEXT COLLATE "C" PRIMARY KEY,
  source      TEXT COLLATE "C" NOT NULL,
  sequence    BIGINT NOT NULL,
  statement   TEXT COLLATE "C" NOT NULL,
  signatures  TEXT COLLATE "C" NOT NULL,
  status      TEXT COLLATE "C" NOT NULL CHECK (status IN ('waiting', 'accepted', 'discarded', 'withdrawn')),
  received_at TEXT COLLATE "C" NOT NULL,
  received_by TEXT COLLATE "C" NOT NULL,
  settled_at  TEXT COLLATE "C",
  settled_by  TEXT COLLATE "C",
  receipt     TEXT COLLATE "C"
, media TEXT COLLATE "C" NOT NULL DEFAULT '[]', unsigned BIGINT NOT NULL DEFAULT 0 CHECK (unsigned IN (0, 1)), answers TEXT COLLATE "C", beyond_floor BIGINT NOT NULL DEFAULT 0 CHECK (beyond_floor IN (0, 1)));
CREATE TABLE uploads (
  id          TEXT COLLATE "C" PRIMARY KEY,
  sha3_384    TEXT COLLATE "C" NOT NULL,
  sha256      TEXT COLLATE "C" NOT NULL,
  size        BIGINT NOT NULL,
  address     TEXT COLLATE "C" NOT NULL,
  received_at TEXT COLLATE "C" NOT NULL,
  package_id  TEXT COLLATE "C",
  pushed_by   TEXT COLLATE "C",
  pushed_at   TEXT COLLATE "C",
  status      TEXT COLLATE "C" CHECK (status IN ('new', 'scanned', 'approved', 'rejected')),
  revision    BIGINT,
  errors      TEXT COLLATE "C", findings TEXT COLLATE "C", icon TEXT COLLATE "C", resource TEXT COLLATE "C", request TEXT COLLATE "C", seq BIGINT,
  CHECK ((package_id IS NULL) = (status IS NULL)),
  CHECK ((revision IS NULL) OR (status = 'approved')),
  CHECK ((errors IS NULL) OR (status = 'rejected'))
);
CREATE TABLE vulnerability_feeds (
  source      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  format      TEXT COLLATE "C" NOT NULL,
  dated_at    TEXT COLLATE "C" NOT NULL,
  sha256      TEXT COLLATE "C" NOT NULL,
  sha3_384    TEXT COLLATE "C" NOT NULL,
  size        BIGINT NOT NULL,
  entries     BIGINT NOT NULL,
  skipped     BIGINT NOT NULL,
  releases    TEXT COLLATE "C" NOT NULL,
  imported_at TEXT COLLATE "C" NOT NULL,
  imported_by TEXT COLLATE "C" NOT NULL
);
ALTER TABLE accepted_findings ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE account_roles ADD FOREIGN KEY (account_id) REFERENCES accounts (id) ON UPDATE CASCADE;
ALTER TABLE after_review ADD FOREIGN KEY (upload_id) REFERENCES uploads (id) ON DELETE CASCADE;
ALTER TABLE agents ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
CREATE TRIGGER a_number_approval_policy BEFORE INSERT ON approval_policy FOR EACH ROW WHEN (NEW.one IS NULL) EXECUTE FUNCTION next_number('one');
ALTER TABLE approvals ADD FOREIGN KEY (proposal) REFERENCES proposals (number) ON DELETE CASCADE;
ALTER TABLE approvals ADD FOREIGN KEY (account_id) REFERENCES accounts (id) ON UPDATE CASCADE;
ALTER TABLE approver_keys ADD FOREIGN KEY (account_id) REFERENCES accounts (id) ON UPDATE CASCADE;
CREATE TRIGGER a_number_audit BEFORE INSERT ON audit FOR EACH ROW WHEN (NEW.seq IS NULL) EXECUTE FUNCTION next_number('seq');
CREATE TRIGGER a_number_audit_seal_chain BEFORE INSERT ON audit_seal_chain FOR EACH ROW WHEN (NEW.number IS NULL) EXECUTE FUNCTION next_number('number');
CREATE TRIGGER a_number_audit_seals BEFORE INSERT ON audit_seals FOR EACH ROW WHEN (NEW.seq IS NULL) EXECUTE FUNCTION next_number('seq');
ALTER TABLE brand_administrators ADD FOREIGN KEY (brand_account_id) REFERENCES brands (account_id) ON DELETE CASCADE;
ALTER TABLE brand_administrators ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE brands ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE brands ADD FOREIGN KEY (created_by) REFERENCES accounts (id);
ALTER TABLE brands ADD FOREIGN KEY (modified_by) REFERENCES accounts (id);
ALTER TABLE build_sets ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE builds ADD FOREIGN KEY (build_set_id) REFERENCES build_sets (id) ON DELETE CASCADE;
ALTER TABLE builds ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE catalog_packages ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE catalog_words ADD FOREIGN KEY (package_id) REFERENCES catalog_packages (package_id) ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE charm_libraries ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE charm_library_versions ADD FOREIGN KEY (library_id) REFERENCES charm_libraries (id) ON DELETE CASCADE;
ALTER TABLE charm_library_versions ADD FOREIGN KEY (created_by) REFERENCES accounts (id);
ALTER TABLE collaborators ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE collaborators ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE collaborators ADD FOREIGN KEY (created_by) REFERENCES accounts (id);
ALTER TABLE commit_workflows ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE declared_resources ADD FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON DELETE CASCADE;
ALTER TABLE device_grants ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE TRIGGER a_number_exports BEFORE INSERT ON exports FOR EACH ROW WHEN (NEW.seq IS NULL) EXECUTE FUNCTION next_number('seq');
ALTER TABLE external_images ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE fleet_channels ADD FOREIGN KEY (fleet) REFERENCES fleets (name) ON DELETE CASCADE;
ALTER TABLE fleet_channels ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE fleet_hidden_snaps ADD FOREIGN KEY (fleet) REFERENCES fleets (name) ON DELETE CASCADE;
ALTER TABLE fleet_hidden_snaps ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE fleet_selectors ADD FOREIGN KEY (fleet) REFERENCES fleets (name) ON DELETE CASCADE;
ALTER TABLE former_usernames ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE group_roles ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE image_bills ADD FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE image_blobs ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE image_children ADD FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON DELETE CASCADE;
ALTER TABLE image_credentials ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE image_credentials ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE image_manifests ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE image_parts ADD FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON DELETE CASCADE;
ALTER TABLE image_referrers ADD FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON DELETE CASCADE;
ALTER TABLE image_tags ADD FOREIGN KEY (package_id, resource, manifest) REFERENCES image_manifests (package_id, resource, sha256) ON DELETE CASCADE;
ALTER TABLE invites ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE invites ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE invites ADD FOREIGN KEY (created_by) REFERENCES accounts (id);
ALTER TABLE invites ADD FOREIGN KEY (revoked_by) REFERENCES accounts (id);
ALTER TABLE larder_release_files ADD FOREIGN KEY (version) REFERENCES larder_releases (version) ON DELETE CASCADE;
ALTER TABLE last_logins ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE macaroons ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
CREATE TRIGGER a_number_made_requests BEFORE INSERT ON made_requests FOR EACH ROW WHEN (NEW.number IS NULL) EXECUTE FUNCTION next_number('number');
ALTER TABLE made_texts ADD FOREIGN KEY (sequence) REFERENCES made_transfers (sequence);
CREATE TRIGGER a_number_made_transfers BEFORE INSERT ON made_transfers FOR EACH ROW WHEN (NEW.sequence IS NULL) EXECUTE FUNCTION next_number('sequence');
ALTER TABLE models ADD FOREIGN KEY (brand_account_id) REFERENCES brands (account_id);
ALTER TABLE models ADD FOREIGN KEY (created_by) REFERENCES accounts (id);
ALTER TABLE models ADD FOREIGN KEY (modified_by) REFERENCES accounts (id);
ALTER TABLE openid_identities ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE package_findings ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE package_offers ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE package_offers ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE package_offers ADD FOREIGN KEY (offered_by) REFERENCES accounts (id);
ALTER TABLE packages ADD FOREIGN KEY (publisher_id) REFERENCES accounts (id);
CREATE TRIGGER a_number_passing_codes BEFORE INSERT ON passing_codes FOR EACH ROW WHEN (NEW.seq IS NULL) EXECUTE FUNCTION next_number('seq');
ALTER TABLE passing_component_advisories ADD FOREIGN KEY (component) REFERENCES passing_vulnerable_components (id) ON DELETE CASCADE;
ALTER TABLE passing_deltas ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON DELETE CASCADE ON UPDATE CASCADE;
CREATE TRIGGER a_number_passing_failures BEFORE INSERT ON passing_failures FOR EACH ROW WHEN (NEW.seq IS NULL) EXECUTE FUNCTION next_number('seq');
CREATE TRIGGER a_number_passing_familiar_places BEFORE INSERT ON passing_familiar_places FOR EACH ROW WHEN (NEW.seq IS NULL) EXECUTE FUNCTION next_number('seq');
ALTER TABLE passing_image_components ADD FOREIGN KEY (component) REFERENCES passing_vulnerable_components (id) ON DELETE CASCADE;
ALTER TABLE passing_image_components ADD FOREIGN KEY (package_id, resource, manifest) REFERENCES image_bills (package_id, resource, manifest) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE passing_matched_images ADD FOREIGN KEY (package_id, resource, manifest) REFERENCES image_bills (package_id, resource, manifest) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE passing_matched_revisions ADD FOREIGN KEY (package_id, revision) REFERENCES revision_bills (package_id, revision) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE TRIGGER a_number_passing_proofs BEFORE INSERT ON passing_proofs FOR EACH ROW WHEN (NEW.seq IS NULL) EXECUTE FUNCTION next_number('seq');
ALTER TABLE passing_revision_components ADD FOREIGN KEY (component) REFERENCES passing_vulnerable_components (id) ON DELETE CASCADE;
ALTER TABLE passing_revision_components ADD FOREIGN KEY (package_id, revision) REFERENCES revision_bills (package_id, revision) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE TRIGGER a_number_passing_seen_snaps BEFORE INSERT ON passing_seen_snaps FOR EACH ROW WHEN (NEW.number IS NULL) EXECUTE FUNCTION next_number('number');
ALTER TABLE passwords ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE past_releases ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON DELETE CASCADE ON UPDATE CASCADE;
CREATE TRIGGER a_number_proposals BEFORE INSERT ON proposals FOR EACH ROW WHEN (NEW.number IS NULL) EXECUTE FUNCTION next_number('number');
ALTER TABLE quotas ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE releases ADD FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON DELETE CASCADE;
ALTER TABLE remodel_allowlist ADD FOREIGN KEY (created_by) REFERENCES accounts (id);
ALTER TABLE remodel_allowlist ADD FOREIGN KEY (modified_by) REFERENCES accounts (id);
ALTER TABLE remodel_allowlist ADD FOREIGN KEY (brand_account_id, from_model) REFERENCES models (brand_account_id, name);
ALTER TABLE remodel_allowlist ADD FOREIGN KEY (brand_account_id, to_model) REFERENCES models (brand_account_id, name);
ALTER TABLE resource_pairs ADD FOREIGN KEY (package_id, name, revision) REFERENCES resource_revisions (package_id, name, revision) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE resource_revisions ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE resource_revisions ADD FOREIGN KEY (created_by) REFERENCES accounts (id);
ALTER TABLE resource_revisions ADD FOREIGN KEY (updated_by) REFERENCES accounts (id);
ALTER TABLE revision_bills ADD FOREIGN KEY (package_id, revision) REFERENCES revisions (package_id, revision) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE revisions ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE revisions ADD FOREIGN KEY (created_by) REFERENCES accounts (id);
ALTER TABLE rollouts ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE TRIGGER a_number_serial_log BEFORE INSERT ON serial_log FOR EACH ROW WHEN (NEW.seq IS NULL) EXECUTE FUNCTION next_number('seq');
ALTER TABLE serial_policies ADD FOREIGN KEY (signing_key_sha3_384) REFERENCES signing_keys (sha3_384);
ALTER TABLE serial_policies ADD FOREIGN KEY (created_by) REFERENCES accounts (id);
ALTER TABLE serial_policies ADD FOREIGN KEY (brand_account_id, model_name) REFERENCES models (brand_account_id, name);
ALTER TABLE set_up_links ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE signing_keys ADD FOREIGN KEY (brand_account_id) REFERENCES brands (account_id);
ALTER TABLE signing_keys ADD FOREIGN KEY (created_by) REFERENCES accounts (id);
ALTER TABLE signing_keys ADD FOREIGN KEY (modified_by) REFERENCES accounts (id);
ALTER TABLE store_administrators ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE totp_secrets ADD FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE touched_accounts ADD FOREIGN KEY (account_id) REFERENCES accounts (id) ON UPDATE CASCADE;
ALTER TABLE track_guardrails ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE tracks ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE uploads ADD FOREIGN KEY (package_id) REFERENCES packages (id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE uploads ADD FOREIGN KEY (pushed_by) REFERENCES accounts (id);
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
INSERT INTO appliance (name, value) VALUES ('store-epoch', replace(gen_random_uuid()::text, '-', ''));
CREATE FUNCTION accounts_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'accounts'; RETURN NEW; END $$;
CREATE TRIGGER accounts_changed AFTER UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION accounts_changed();
CREATE FUNCTION accounts_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'accounts'; RETURN OLD; END $$;
CREATE TRIGGER accounts_removed AFTER DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION accounts_removed();
CREATE FUNCTION approval_policy_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'approval_policy'; RETURN NEW; END $$;
CREATE TRIGGER approval_policy_added AFTER INSERT ON approval_policy FOR EACH ROW EXECUTE FUNCTION approval_policy_added();
CREATE FUNCTION approval_policy_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'approval_policy'; RETURN NEW; END $$;
CREATE TRIGGER approval_policy_changed AFTER UPDATE ON approval_policy FOR EACH ROW EXECUTE FUNCTION approval_policy_changed();
CREATE FUNCTION approval_policy_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'approval_policy'; RETURN OLD; END $$;
CREATE TRIGGER approval_policy_removed AFTER DELETE ON approval_policy FOR EACH ROW EXECUTE FUNCTION approval_policy_removed();
CREATE FUNCTION approvals_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; RETURN NEW; END $$;
CREATE TRIGGER approvals_added AFTER INSERT ON approvals FOR EACH ROW EXECUTE FUNCTION approvals_added();
CREATE FUNCTION audit_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO noun_versions (noun, version, hash) VALUES ('audit', NEW.seq, NEW.hash) ON CONFLICT (noun) DO UPDATE SET version = excluded.version, hash = excluded.hash, mac = NULL WHERE noun_versions.noun = 'audit'; RETURN NEW; END $$;
CREATE TRIGGER audit_added AFTER INSERT ON audit FOR EACH ROW EXECUTE FUNCTION audit_added();
CREATE FUNCTION audit_is_append_only_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; RETURN OLD; END $$;
CREATE TRIGGER audit_is_append_only_delete BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_is_append_only_delete();
CREATE FUNCTION audit_is_append_only_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.seq IS DISTINCT FROM (SELECT COALESCE(MAX(seq), 0) + 1 FROM audit) THEN RAISE EXCEPTION 'the audit log is append-only: a row goes to its end'; END IF; RETURN NEW; END $$;
CREATE TRIGGER audit_is_append_only_insert BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION audit_is_append_only_insert();
CREATE FUNCTION audit_is_append_only_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; RETURN NEW; END $$;
CREATE TRIGGER audit_is_append_only_update BEFORE UPDATE ON audit FOR EACH ROW EXECUTE FUNCTION audit_is_append_only_update();
CREATE FUNCTION catalog_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.namespace = 'snap' THEN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END IF; RETURN NEW; END $$;
CREATE TRIGGER catalog_added AFTER INSERT ON catalog_packages FOR EACH ROW EXECUTE FUNCTION catalog_added();
CREATE FUNCTION catalog_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.namespace = 'snap' THEN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END IF; RETURN NEW; END $$;
CREATE TRIGGER catalog_changed AFTER UPDATE ON catalog_packages FOR EACH ROW EXECUTE FUNCTION catalog_changed();
CREATE FUNCTION catalog_charm_read() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.details <> OLD.details THEN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace = 'charm' AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.package_id); END IF; RETURN NEW; END $$;
CREATE TRIGGER catalog_charm_read AFTER UPDATE OF details ON revisions FOR EACH ROW EXECUTE FUNCTION catalog_charm_read();
CREATE FUNCTION catalog_declaration_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.type = 'snap-declaration' THEN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = substr(NEW.name, 21) AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END IF; RETURN NEW; END $$;
CREATE TRIGGER catalog_declaration_added AFTER INSERT ON assertions FOR EACH ROW EXECUTE FUNCTION catalog_declaration_added();
CREATE FUNCTION catalog_declaration_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.type = 'snap-declaration' THEN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = substr(NEW.name, 21) AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END IF; RETURN NEW; END $$;
CREATE TRIGGER catalog_declaration_changed AFTER UPDATE ON assertions FOR EACH ROW EXECUTE FUNCTION catalog_declaration_changed();
CREATE FUNCTION catalog_package_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.namespace IN ('snap', 'charm') THEN INSERT INTO catalog_stale SELECT NEW.id WHERE NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = NEW.id); END IF; RETURN NEW; END $$;
CREATE TRIGGER catalog_package_changed AFTER UPDATE OF id, name, type, publisher_id, private, status, title, summary, default_track ON packages FOR EACH ROW EXECUTE FUNCTION catalog_package_changed();
CREATE FUNCTION catalog_package_hidden() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.private = 1 THEN DELETE FROM catalog_packages WHERE package_id = NEW.id; END IF; RETURN NEW; END $$;
CREATE TRIGGER catalog_package_hidden AFTER UPDATE OF private ON packages FOR EACH ROW EXECUTE FUNCTION catalog_package_hidden();
CREATE FUNCTION catalog_publisher_renamed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.username <> OLD.username THEN INSERT INTO catalog_stale SELECT id FROM packages WHERE publisher_id = NEW.id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = packages.id); END IF; RETURN NEW; END $$;
CREATE TRIGGER catalog_publisher_renamed AFTER UPDATE OF username ON accounts FOR EACH ROW EXECUTE FUNCTION catalog_publisher_renamed();
CREATE FUNCTION catalog_release_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') ON CONFLICT (package_id) DO NOTHING; RETURN NEW; END $$;
CREATE TRIGGER catalog_release_added AFTER INSERT ON releases FOR EACH ROW EXECUTE FUNCTION catalog_release_added();
CREATE FUNCTION catalog_release_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = NEW.package_id AND namespace IN ('snap', 'charm') ON CONFLICT (package_id) DO NOTHING; RETURN NEW; END $$;
CREATE TRIGGER catalog_release_changed AFTER UPDATE ON releases FOR EACH ROW EXECUTE FUNCTION catalog_release_changed();
CREATE FUNCTION catalog_release_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO catalog_stale SELECT id FROM packages WHERE id = OLD.package_id AND namespace IN ('snap', 'charm') AND NOT EXISTS (SELECT 1 FROM catalog_stale WHERE package_id = OLD.package_id); RETURN OLD; END $$;
CREATE TRIGGER catalog_release_removed AFTER DELETE ON releases FOR EACH ROW EXECUTE FUNCTION catalog_release_removed();
CREATE FUNCTION catalog_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF OLD.namespace = 'snap' THEN UPDATE noun_versions SET version = version + 1 WHERE noun = 'catalog'; END IF; RETURN OLD; END $$;
CREATE TRIGGER catalog_removed AFTER DELETE ON catalog_packages FOR EACH ROW EXECUTE FUNCTION catalog_removed();
CREATE FUNCTION collaborators_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'collaborators'; RETURN NEW; END $$;
CREATE TRIGGER collaborators_added AFTER INSERT ON collaborators FOR EACH ROW EXECUTE FUNCTION collaborators_added();
CREATE FUNCTION collaborators_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'collaborators'; RETURN NEW; END $$;
CREATE TRIGGER collaborators_changed AFTER UPDATE ON collaborators FOR EACH ROW EXECUTE FUNCTION collaborators_changed();
CREATE FUNCTION collaborators_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'collaborators'; RETURN OLD; END $$;
CREATE TRIGGER collaborators_removed AFTER DELETE ON collaborators FOR EACH ROW EXECUTE FUNCTION collaborators_removed();
CREATE FUNCTION content_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE package_figures SET bytes = bytes - OLD.size WHERE package_id = OLD.package_id;
  UPDATE publisher_figures SET bytes = bytes - OLD.size
    WHERE publisher_id = (SELECT publisher_id FROM package_figures WHERE package_id = OLD.package_id)
      AND NOT EXISTS (
        SELECT 1 FROM kept_contents AS other JOIN package_figures AS owner ON owner.package_id = other.package_id
        WHERE other.sha3_384 = OLD.sha3_384 AND owner.publisher_id = publisher_figures.publisher_id);
  UPDATE noun_versions SET bytes = bytes - OLD.size
    WHERE noun = 'packages' AND NOT EXISTS (SELECT 1 FROM kept_contents WHERE sha3_384 = OLD.sha3_384); RETURN OLD; END $$;
CREATE TRIGGER content_gone AFTER DELETE ON kept_contents FOR EACH ROW EXECUTE FUNCTION content_gone();
CREATE FUNCTION content_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO package_figures (package_id, publisher_id)
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
      AND NOT EXISTS (SELECT 1 FROM kept_contents WHERE sha3_384 = NEW.sha3_384 AND package_id <> NEW.package_id); RETURN NEW; END $$;
CREATE TRIGGER content_kept AFTER INSERT ON kept_contents FOR EACH ROW EXECUTE FUNCTION content_kept();
CREATE FUNCTION damaged_blobs_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'damaged_blobs'; RETURN NEW; END $$;
CREATE TRIGGER damaged_blobs_added AFTER INSERT ON damaged_blobs FOR EACH ROW EXECUTE FUNCTION damaged_blobs_added();
CREATE FUNCTION damaged_blobs_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'damaged_blobs'; RETURN NEW; END $$;
CREATE TRIGGER damaged_blobs_changed AFTER UPDATE ON damaged_blobs FOR EACH ROW EXECUTE FUNCTION damaged_blobs_changed();
CREATE FUNCTION damaged_blobs_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'damaged_blobs'; RETURN OLD; END $$;
CREATE TRIGGER damaged_blobs_removed AFTER DELETE ON damaged_blobs FOR EACH ROW EXECUTE FUNCTION damaged_blobs_removed();
CREATE FUNCTION delta_release_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = NEW.package_id AND namespace = 'snap' ON CONFLICT (package_id) DO UPDATE SET version = passing_delta_work.version + 1; RETURN NEW; END $$;
CREATE TRIGGER delta_release_added AFTER INSERT ON releases FOR EACH ROW EXECUTE FUNCTION delta_release_added();
CREATE FUNCTION delta_release_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = NEW.package_id AND namespace = 'snap' ON CONFLICT (package_id) DO UPDATE SET version = passing_delta_work.version + 1; RETURN NEW; END $$;
CREATE TRIGGER delta_release_changed AFTER UPDATE OF revision ON releases FOR EACH ROW EXECUTE FUNCTION delta_release_changed();
CREATE FUNCTION delta_release_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE passing_delta_work SET version = version + 1 WHERE package_id = OLD.package_id; INSERT INTO passing_delta_work SELECT id, 1 FROM packages WHERE id = OLD.package_id AND namespace = 'snap' AND NOT EXISTS (SELECT 1 FROM passing_delta_work WHERE package_id = OLD.package_id); RETURN OLD; END $$;
CREATE TRIGGER delta_release_removed AFTER DELETE ON releases FOR EACH ROW EXECUTE FUNCTION delta_release_removed();
CREATE FUNCTION delta_revision_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.deleted_at IS NOT NULL THEN DELETE FROM passing_deltas WHERE package_id = NEW.package_id AND (source = NEW.revision OR target = NEW.revision); END IF; RETURN NEW; END $$;
CREATE TRIGGER delta_revision_deleted AFTER UPDATE OF deleted_at ON revisions FOR EACH ROW EXECUTE FUNCTION delta_revision_deleted();
CREATE FUNCTION deltas_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'deltas'; RETURN NEW; END $$;
CREATE TRIGGER deltas_added AFTER INSERT ON passing_deltas FOR EACH ROW EXECUTE FUNCTION deltas_added();
CREATE FUNCTION deltas_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'deltas'; RETURN NEW; END $$;
CREATE TRIGGER deltas_changed AFTER UPDATE ON passing_deltas FOR EACH ROW EXECUTE FUNCTION deltas_changed();
CREATE FUNCTION deltas_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'deltas'; RETURN OLD; END $$;
CREATE TRIGGER deltas_removed AFTER DELETE ON passing_deltas FOR EACH ROW EXECUTE FUNCTION deltas_removed();
CREATE FUNCTION device_grants_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'device_grants'; RETURN NEW; END $$;
CREATE TRIGGER device_grants_added AFTER INSERT ON device_grants FOR EACH ROW EXECUTE FUNCTION device_grants_added();
CREATE FUNCTION device_grants_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'device_grants'; RETURN NEW; END $$;
CREATE TRIGGER device_grants_changed AFTER UPDATE ON device_grants FOR EACH ROW EXECUTE FUNCTION device_grants_changed();
CREATE FUNCTION device_grants_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'device_grants'; RETURN OLD; END $$;
CREATE TRIGGER device_grants_removed AFTER DELETE ON device_grants FOR EACH ROW EXECUTE FUNCTION device_grants_removed();
CREATE FUNCTION figures_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE packages SET revisions = NEW.revisions, bytes = NEW.bytes WHERE id = NEW.package_id; RETURN NEW; END $$;
CREATE TRIGGER figures_changed AFTER UPDATE OF revisions, bytes ON package_figures FOR EACH ROW EXECUTE FUNCTION figures_changed();
CREATE FUNCTION fleet_channels_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_channels'; RETURN NEW; END $$;
CREATE TRIGGER fleet_channels_added AFTER INSERT ON fleet_channels FOR EACH ROW EXECUTE FUNCTION fleet_channels_added();
CREATE FUNCTION fleet_channels_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_channels'; RETURN NEW; END $$;
CREATE TRIGGER fleet_channels_changed AFTER UPDATE ON fleet_channels FOR EACH ROW EXECUTE FUNCTION fleet_channels_changed();
CREATE FUNCTION fleet_channels_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_channels'; RETURN OLD; END $$;
CREATE TRIGGER fleet_channels_removed AFTER DELETE ON fleet_channels FOR EACH ROW EXECUTE FUNCTION fleet_channels_removed();
CREATE FUNCTION fleet_hidden_snaps_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_hidden_snaps'; RETURN NEW; END $$;
CREATE TRIGGER fleet_hidden_snaps_added AFTER INSERT ON fleet_hidden_snaps FOR EACH ROW EXECUTE FUNCTION fleet_hidden_snaps_added();
CREATE FUNCTION fleet_hidden_snaps_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_hidden_snaps'; RETURN NEW; END $$;
CREATE TRIGGER fleet_hidden_snaps_changed AFTER UPDATE ON fleet_hidden_snaps FOR EACH ROW EXECUTE FUNCTION fleet_hidden_snaps_changed();
CREATE FUNCTION fleet_hidden_snaps_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_hidden_snaps'; RETURN OLD; END $$;
CREATE TRIGGER fleet_hidden_snaps_removed AFTER DELETE ON fleet_hidden_snaps FOR EACH ROW EXECUTE FUNCTION fleet_hidden_snaps_removed();
CREATE FUNCTION fleet_selectors_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_selectors'; RETURN NEW; END $$;
CREATE TRIGGER fleet_selectors_added AFTER INSERT ON fleet_selectors FOR EACH ROW EXECUTE FUNCTION fleet_selectors_added();
CREATE FUNCTION fleet_selectors_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_selectors'; RETURN NEW; END $$;
CREATE TRIGGER fleet_selectors_changed AFTER UPDATE ON fleet_selectors FOR EACH ROW EXECUTE FUNCTION fleet_selectors_changed();
CREATE FUNCTION fleet_selectors_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleet_selectors'; RETURN OLD; END $$;
CREATE TRIGGER fleet_selectors_removed AFTER DELETE ON fleet_selectors FOR EACH ROW EXECUTE FUNCTION fleet_selectors_removed();
CREATE FUNCTION fleets_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleets'; RETURN NEW; END $$;
CREATE TRIGGER fleets_added AFTER INSERT ON fleets FOR EACH ROW EXECUTE FUNCTION fleets_added();
CREATE FUNCTION fleets_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleets'; RETURN NEW; END $$;
CREATE TRIGGER fleets_changed AFTER UPDATE ON fleets FOR EACH ROW EXECUTE FUNCTION fleets_changed();
CREATE FUNCTION fleets_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'fleets'; RETURN OLD; END $$;
CREATE TRIGGER fleets_removed AFTER DELETE ON fleets FOR EACH ROW EXECUTE FUNCTION fleets_removed();
CREATE FUNCTION image_blob_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384); RETURN NEW; END $$;
CREATE TRIGGER image_blob_added AFTER INSERT ON image_blobs FOR EACH ROW EXECUTE FUNCTION image_blob_added();
CREATE FUNCTION image_blob_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384); RETURN OLD; END $$;
CREATE TRIGGER image_blob_removed AFTER DELETE ON image_blobs FOR EACH ROW EXECUTE FUNCTION image_blob_removed();
CREATE FUNCTION image_manifest_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384); RETURN NEW; END $$;
CREATE TRIGGER image_manifest_added AFTER INSERT ON image_manifests FOR EACH ROW EXECUTE FUNCTION image_manifest_added();
CREATE FUNCTION image_manifest_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384); RETURN OLD; END $$;
CREATE TRIGGER image_manifest_removed AFTER DELETE ON image_manifests FOR EACH ROW EXECUTE FUNCTION image_manifest_removed();
CREATE FUNCTION macaroons_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'macaroons'; RETURN NEW; END $$;
CREATE TRIGGER macaroons_added AFTER INSERT ON macaroons FOR EACH ROW EXECUTE FUNCTION macaroons_added();
CREATE FUNCTION macaroons_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'macaroons'; RETURN NEW; END $$;
CREATE TRIGGER macaroons_changed AFTER UPDATE ON macaroons FOR EACH ROW EXECUTE FUNCTION macaroons_changed();
CREATE FUNCTION macaroons_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'macaroons'; RETURN OLD; END $$;
CREATE TRIGGER macaroons_removed AFTER DELETE ON macaroons FOR EACH ROW EXECUTE FUNCTION macaroons_removed();
CREATE FUNCTION matched_revisions_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'matched_revisions'; RETURN NEW; END $$;
CREATE TRIGGER matched_revisions_added AFTER INSERT ON passing_matched_revisions FOR EACH ROW EXECUTE FUNCTION matched_revisions_added();
CREATE FUNCTION matched_revisions_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'matched_revisions'; RETURN NEW; END $$;
CREATE TRIGGER matched_revisions_changed AFTER UPDATE ON passing_matched_revisions FOR EACH ROW EXECUTE FUNCTION matched_revisions_changed();
CREATE FUNCTION matched_revisions_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'matched_revisions'; RETURN OLD; END $$;
CREATE TRIGGER matched_revisions_removed AFTER DELETE ON passing_matched_revisions FOR EACH ROW EXECUTE FUNCTION matched_revisions_removed();
CREATE FUNCTION package_counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE publisher_figures SET packages = packages + (SELECT publisher_packages FROM noun_versions WHERE noun = 'packages')
    WHERE publisher_id = (
      SELECT last.publisher_id FROM noun_versions AS last WHERE noun = 'packages' AND last.publisher_id <> NEW.publisher_id);
  INSERT INTO publisher_figures (publisher_id) VALUES (NEW.publisher_id) ON CONFLICT (publisher_id) DO NOTHING;
  UPDATE noun_versions
    SET publisher_packages = CASE publisher_id WHEN NEW.publisher_id THEN publisher_packages + 1 ELSE 1 END,
      publisher_id = NEW.publisher_id
    WHERE noun = 'packages'; RETURN NEW; END $$;
CREATE TRIGGER package_counted AFTER INSERT ON packages FOR EACH ROW EXECUTE FUNCTION package_counted();
CREATE FUNCTION package_counted_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE publisher_figures SET packages = packages - 1 WHERE publisher_id = OLD.publisher_id; RETURN OLD; END $$;
CREATE TRIGGER package_counted_off AFTER DELETE ON packages FOR EACH ROW EXECUTE FUNCTION package_counted_off();
CREATE FUNCTION package_findings_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'package_findings'; RETURN NEW; END $$;
CREATE TRIGGER package_findings_added AFTER INSERT ON package_findings FOR EACH ROW EXECUTE FUNCTION package_findings_added();
CREATE FUNCTION package_findings_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'package_findings'; RETURN NEW; END $$;
CREATE TRIGGER package_findings_changed AFTER UPDATE ON package_findings FOR EACH ROW EXECUTE FUNCTION package_findings_changed();
CREATE FUNCTION package_findings_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'package_findings'; RETURN OLD; END $$;
CREATE TRIGGER package_findings_removed AFTER DELETE ON package_findings FOR EACH ROW EXECUTE FUNCTION package_findings_removed();
CREATE FUNCTION package_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM kept_contents WHERE package_id = OLD.id;
  DELETE FROM package_figures WHERE package_id = OLD.id; RETURN OLD; END $$;
CREATE TRIGGER package_gone AFTER DELETE ON packages FOR EACH ROW EXECUTE FUNCTION package_gone();
CREATE FUNCTION package_handed_over() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.publisher_id <> OLD.publisher_id THEN UPDATE publisher_figures SET packages = packages - 1, bytes = bytes - (
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
  UPDATE package_figures SET publisher_id = NEW.publisher_id WHERE package_id = NEW.id; END IF; RETURN NEW; END $$;
CREATE TRIGGER package_handed_over AFTER UPDATE OF publisher_id ON packages FOR EACH ROW EXECUTE FUNCTION package_handed_over();
CREATE FUNCTION package_renamed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id <> OLD.id THEN UPDATE kept_contents SET package_id = NEW.id WHERE package_id = OLD.id;
  UPDATE package_figures SET package_id = NEW.id WHERE package_id = OLD.id; END IF; RETURN NEW; END $$;
CREATE TRIGGER package_renamed AFTER UPDATE OF id ON packages FOR EACH ROW EXECUTE FUNCTION package_renamed();
CREATE FUNCTION packages_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + 1 WHERE noun = 'packages'; RETURN NEW; END $$;
CREATE TRIGGER packages_added AFTER INSERT ON packages FOR EACH ROW EXECUTE FUNCTION packages_added();
CREATE FUNCTION packages_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'packages'; RETURN NEW; END $$;
CREATE TRIGGER packages_changed AFTER UPDATE OF id, namespace, name, type, publisher_id, private, status, title, summary, description, default_track, links, license, icon, created_at, manual_review, edited ON packages FOR EACH ROW EXECUTE FUNCTION packages_changed();
CREATE FUNCTION packages_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count - 1 WHERE noun = 'packages'; RETURN OLD; END $$;
CREATE TRIGGER packages_removed AFTER DELETE ON packages FOR EACH ROW EXECUTE FUNCTION packages_removed();
CREATE FUNCTION proposals_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; RETURN NEW; END $$;
CREATE TRIGGER proposals_added AFTER INSERT ON proposals FOR EACH ROW EXECUTE FUNCTION proposals_added();
CREATE FUNCTION proposals_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; RETURN NEW; END $$;
CREATE TRIGGER proposals_changed AFTER UPDATE ON proposals FOR EACH ROW EXECUTE FUNCTION proposals_changed();
CREATE FUNCTION proposals_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'proposals'; RETURN OLD; END $$;
CREATE TRIGGER proposals_removed AFTER DELETE ON proposals FOR EACH ROW EXECUTE FUNCTION proposals_removed();
CREATE FUNCTION releases_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'releases'; RETURN NEW; END $$;
CREATE TRIGGER releases_added AFTER INSERT ON releases FOR EACH ROW EXECUTE FUNCTION releases_added();
CREATE FUNCTION releases_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'releases'; RETURN NEW; END $$;
CREATE TRIGGER releases_changed AFTER UPDATE ON releases FOR EACH ROW EXECUTE FUNCTION releases_changed();
CREATE FUNCTION releases_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'releases'; RETURN OLD; END $$;
CREATE TRIGGER releases_removed AFTER DELETE ON releases FOR EACH ROW EXECUTE FUNCTION releases_removed();
CREATE FUNCTION resource_content_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384); RETURN NEW; END $$;
CREATE TRIGGER resource_content_added AFTER INSERT ON resource_revisions FOR EACH ROW EXECUTE FUNCTION resource_content_added();
CREATE FUNCTION resource_content_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.package_id = OLD.package_id THEN INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384); END IF; RETURN NEW; END $$;
CREATE TRIGGER resource_content_changed AFTER UPDATE ON resource_revisions FOR EACH ROW EXECUTE FUNCTION resource_content_changed();
CREATE FUNCTION resource_content_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384); RETURN OLD; END $$;
CREATE TRIGGER resource_content_removed AFTER DELETE ON resource_revisions FOR EACH ROW EXECUTE FUNCTION resource_content_removed();
CREATE FUNCTION revision_content_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
  UPDATE package_figures SET revisions = revisions + (NEW.deleted_at IS NULL)::int WHERE package_id = NEW.package_id; RETURN NEW; END $$;
CREATE TRIGGER revision_content_added AFTER INSERT ON revisions FOR EACH ROW EXECUTE FUNCTION revision_content_added();
CREATE FUNCTION revision_content_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384);
  UPDATE package_figures SET revisions = revisions + (NEW.deleted_at IS NULL)::int - (OLD.deleted_at IS NULL)::int WHERE package_id = NEW.package_id; RETURN NEW; END $$;
CREATE TRIGGER revision_content_changed AFTER UPDATE OF deleted_at ON revisions FOR EACH ROW EXECUTE FUNCTION revision_content_changed();
CREATE FUNCTION revision_content_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384);
  UPDATE package_figures SET revisions = revisions - (OLD.deleted_at IS NULL)::int WHERE package_id = OLD.package_id; RETURN OLD; END $$;
CREATE TRIGGER revision_content_removed AFTER DELETE ON revisions FOR EACH ROW EXECUTE FUNCTION revision_content_removed();
CREATE FUNCTION revisions_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + (NEW.deleted_at IS NULL)::int WHERE noun = 'revisions'; RETURN NEW; END $$;
CREATE TRIGGER revisions_added AFTER INSERT ON revisions FOR EACH ROW EXECUTE FUNCTION revisions_added();
CREATE FUNCTION revisions_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + (NEW.deleted_at IS NULL)::int - (OLD.deleted_at IS NULL)::int WHERE noun = 'revisions'; RETURN NEW; END $$;
CREATE TRIGGER revisions_changed AFTER UPDATE ON revisions FOR EACH ROW EXECUTE FUNCTION revisions_changed();
CREATE FUNCTION revisions_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count - (OLD.deleted_at IS NULL)::int WHERE noun = 'revisions'; RETURN OLD; END $$;
CREATE TRIGGER revisions_removed AFTER DELETE ON revisions FOR EACH ROW EXECUTE FUNCTION revisions_removed();
CREATE FUNCTION revoked_serials_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revoked_serials'; RETURN NEW; END $$;
CREATE TRIGGER revoked_serials_added AFTER INSERT ON revoked_serials FOR EACH ROW EXECUTE FUNCTION revoked_serials_added();
CREATE FUNCTION revoked_serials_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revoked_serials'; RETURN NEW; END $$;
CREATE TRIGGER revoked_serials_changed AFTER UPDATE ON revoked_serials FOR EACH ROW EXECUTE FUNCTION revoked_serials_changed();
CREATE FUNCTION revoked_serials_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'revoked_serials'; RETURN OLD; END $$;
CREATE TRIGGER revoked_serials_removed AFTER DELETE ON revoked_serials FOR EACH ROW EXECUTE FUNCTION revoked_serials_removed();
CREATE FUNCTION root_keys_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'root_keys'; RETURN NEW; END $$;
CREATE TRIGGER root_keys_added AFTER INSERT ON root_keys FOR EACH ROW EXECUTE FUNCTION root_keys_added();
CREATE FUNCTION root_keys_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'root_keys'; RETURN NEW; END $$;
CREATE TRIGGER root_keys_changed AFTER UPDATE ON root_keys FOR EACH ROW EXECUTE FUNCTION root_keys_changed();
CREATE FUNCTION root_keys_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'root_keys'; RETURN OLD; END $$;
CREATE TRIGGER root_keys_removed AFTER DELETE ON root_keys FOR EACH ROW EXECUTE FUNCTION root_keys_removed();
CREATE FUNCTION store_administrators_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'store_administrators'; RETURN NEW; END $$;
CREATE TRIGGER store_administrators_added AFTER INSERT ON store_administrators FOR EACH ROW EXECUTE FUNCTION store_administrators_added();
CREATE FUNCTION store_administrators_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'store_administrators'; RETURN NEW; END $$;
CREATE TRIGGER store_administrators_changed AFTER UPDATE ON store_administrators FOR EACH ROW EXECUTE FUNCTION store_administrators_changed();
CREATE FUNCTION store_administrators_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'store_administrators'; RETURN OLD; END $$;
CREATE TRIGGER store_administrators_removed AFTER DELETE ON store_administrators FOR EACH ROW EXECUTE FUNCTION store_administrators_removed();
CREATE FUNCTION totp_secrets_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; RETURN NEW; END $$;
CREATE TRIGGER totp_secrets_added AFTER INSERT ON totp_secrets FOR EACH ROW EXECUTE FUNCTION totp_secrets_added();
CREATE FUNCTION totp_secrets_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; RETURN NEW; END $$;
CREATE TRIGGER totp_secrets_changed AFTER UPDATE ON totp_secrets FOR EACH ROW EXECUTE FUNCTION totp_secrets_changed();
CREATE FUNCTION totp_secrets_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'totp_secrets'; RETURN OLD; END $$;
CREATE TRIGGER totp_secrets_removed AFTER DELETE ON totp_secrets FOR EACH ROW EXECUTE FUNCTION totp_secrets_removed();
CREATE FUNCTION touch_content() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO kept_contents
    SELECT package_id, sha3_384, size FROM package_contents
    WHERE package_id = NEW.package_id AND sha3_384 = NEW.sha3_384
      AND NOT EXISTS (
        SELECT 1 FROM kept_contents AS known WHERE known.package_id = NEW.package_id AND known.sha3_384 = NEW.sha3_384)
    LIMIT 1;
  DELETE FROM kept_contents
    WHERE package_id = NEW.package_id AND sha3_384 = NEW.sha3_384
      AND NOT EXISTS (
        SELECT 1 FROM package_contents AS held WHERE held.package_id = NEW.package_id AND held.sha3_384 = NEW.sha3_384); RETURN NEW; END $$;
CREATE TRIGGER touch_content INSTEAD OF INSERT ON touched_contents FOR EACH ROW EXECUTE FUNCTION touch_content();
CREATE FUNCTION upload_content_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.package_id IS NOT NULL THEN INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384); END IF; RETURN NEW; END $$;
CREATE TRIGGER upload_content_added AFTER INSERT ON uploads FOR EACH ROW EXECUTE FUNCTION upload_content_added();
CREATE FUNCTION upload_content_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.package_id IS NOT NULL THEN INSERT INTO touched_contents VALUES (NEW.package_id, NEW.sha3_384); END IF; RETURN NEW; END $$;
CREATE TRIGGER upload_content_changed AFTER UPDATE OF status ON uploads FOR EACH ROW EXECUTE FUNCTION upload_content_changed();
CREATE FUNCTION upload_content_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF OLD.status IN ('new', 'scanned') THEN INSERT INTO touched_contents VALUES (OLD.package_id, OLD.sha3_384); END IF; RETURN OLD; END $$;
CREATE TRIGGER upload_content_removed AFTER DELETE ON uploads FOR EACH ROW EXECUTE FUNCTION upload_content_removed();
CREATE FUNCTION uploads_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count + 1 WHERE noun = 'uploads'; RETURN NEW; END $$;
CREATE TRIGGER uploads_added AFTER INSERT ON uploads FOR EACH ROW EXECUTE FUNCTION uploads_added();
CREATE FUNCTION uploads_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1 WHERE noun = 'uploads'; RETURN NEW; END $$;
CREATE TRIGGER uploads_changed AFTER UPDATE ON uploads FOR EACH ROW EXECUTE FUNCTION uploads_changed();
CREATE FUNCTION uploads_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE noun_versions SET version = version + 1, row_count = row_count - 1 WHERE noun = 'uploads'; RETURN OLD; END $$;
CREATE TRIGGER uploads_removed AFTER DELETE ON uploads FOR EACH ROW EXECUTE FUNCTION uploads_removed();
