// Rows for the lists of the console in a grown store: devices, fleets, findings, transfers, rollouts, and one package and
// one person with much of everything.
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

/** The numbers of rows. The first package and the first person have as many rows as the larger of their lists. */
export interface ConsoleRows {
  devices: number;
  fleets: number;
  /** Packages with open findings, and findings of each. */
  vulnerablePackages: number;
  findingsEach: number;
  transfers: number;
  /** The rows of each list of the package: channels, rollouts, collaborators, past releases. */
  ofPackage: number;
}

/** Adds the rows to the records of a data directory that `grow` has filled. `name` is the snap with much of everything. */
export function growConsole(directory: string, name: string, rows: ConsoleRows): void {
  const db = new SQLite(join(directory, 'larder.db'));
  db.pragma('synchronous = OFF');
  const at = new Date().toISOString();
  db.transaction(() => {
    const largest = Math.max(rows.devices, rows.transfers, rows.ofPackage, rows.fleets, rows.findingsEach);
    db.exec(`CREATE TEMP TABLE numbers (i INTEGER PRIMARY KEY);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${String(largest)})
        INSERT INTO numbers SELECT i FROM n;
      CREATE TEMP TABLE subject AS SELECT id FROM packages WHERE namespace = 'snap' AND name = '${name}';
      CREATE TEMP TABLE person AS SELECT publisher_id AS id FROM packages JOIN subject USING (id);`);
    db.exec(deviceRows(at, rows));
    db.exec(findingRows(at, rows));
    db.exec(siteRows(at, rows));
    db.exec(packageRows(at, rows));
    // The store computes the digests of all rows again when it is opened.
    db.exec(`DELETE FROM row_digest_tables WHERE of_table GLOB '(schema *'`);
  })();
  db.close();
}

/** Devices report the package and nine others; one fleet has a tenth of them; each fleet pins the package. */
const deviceRows = (at: string, { devices, fleets }: ConsoleRows): string => `
  INSERT INTO passing_seen_snaps (package_id) SELECT id FROM subject;
  INSERT OR IGNORE INTO passing_seen_snaps (package_id) SELECT id FROM packages WHERE name GLOB 'grown-1?';
  INSERT INTO passing_seen_devices (brand_id, model, serial, first_at, last_at, holds, offers)
    SELECT 'acme', 'pump-' || (i % 7), printf('SN-%08d', i),
      strftime('%Y-%m-%dT%H:%M:%fZ', '${at}', '-' || (i % 900 + 1) || ' minutes', '-30 days'),
      strftime('%Y-%m-%dT%H:%M:%fZ', '${at}', '-' || (i * 7 % 9000) || ' seconds'),
      '1:' || (i % 9 + 1) || ' 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1', ''
    FROM numbers WHERE i <= ${String(devices)};
  INSERT INTO package_days (day, package_id, downloads, devices, refreshes)
    SELECT date('${at}', '-' || numbers.i || ' days'), packages.id, 3, 2, 1 FROM packages CROSS JOIN numbers WHERE numbers.i <= 30;
  INSERT OR IGNORE INTO package_days (day, package_id, downloads, devices, refreshes)
    SELECT date('${at}', '-' || i || ' days'), '', 1000, 90000, 100 FROM numbers WHERE i <= 30;
  INSERT INTO fleets (name, kind, created_at, created_by)
    SELECT printf('fleet-%05d', i), 'serial', '${at}', 'root' FROM numbers WHERE i <= ${String(fleets)};
  INSERT INTO fleet_selectors (selector, fleet, model, serial)
    SELECT 'serial:acme/' || model || '/' || serial, 'fleet-00001', 'acme/' || model, serial FROM passing_seen_devices
    WHERE substr(serial, -1) = '7';
  INSERT INTO fleet_channels (fleet, package_id, channel, slot, mode, revision, resources, set_at, set_by)
    SELECT fleets.name, subject.id, 'latest/stable', '*', 'pin', 1, '[]', '${at}', 'root' FROM fleets CROSS JOIN subject;
  INSERT OR IGNORE INTO fleet_channels (fleet, package_id, channel, slot, mode, revision, resources, set_at, set_by)
    SELECT 'fleet-00001', id, 'latest/stable', '*', 'pin', 1, '[]', '${at}', 'root' FROM packages WHERE name GLOB 'grown-1*';`;

const findingRows = (at: string, { vulnerablePackages, findingsEach }: ConsoleRows): string => `
  CREATE TEMP TABLE vulnerable AS
    SELECT id FROM (SELECT id FROM packages WHERE name GLOB 'grown-*' LIMIT ${String(vulnerablePackages)})
    UNION SELECT id FROM subject;
  INSERT INTO package_findings (package_id, vulnerability, severity, is_exploited, state, since)
    SELECT vulnerable.id, printf('CVE-2026-%05d', numbers.i),
      CASE numbers.i % 4 WHEN 0 THEN 'critical' WHEN 1 THEN 'high' WHEN 2 THEN 'medium' ELSE 'low' END,
      numbers.i % 20 = 0, 'open', '${at}'
    FROM vulnerable CROSS JOIN numbers WHERE numbers.i <= ${String(findingsEach)};
  INSERT INTO accepted_findings (package_id, vulnerability, severity, is_exploited, until, reason, accepted_at, accepted_by)
    SELECT id, 'CVE-2026-00001', 'high', 0, '2100-01-01T00:00:00.000Z', 'The code is not reached.', '${at}', 'root' FROM vulnerable;
  INSERT INTO passing_matched_revisions (package_id, revision, coverage, unchecked, incomplete, indexes)
    SELECT package_id, revision, 'covered', '[]', 0, '{}' FROM revision_bills WHERE revision = 1;`;

const siteRows = (at: string, { transfers }: ConsoleRows): string => `
  INSERT INTO transfers (id, source, sequence, statement, signatures, status, received_at, received_by, settled_at, settled_by)
    SELECT lower(hex(randomblob(32))), 'desk', i, lower(hex(randomblob(48))), '[]', 'accepted', '${at}', 'cli:root', '${at}', 'cli:root'
    FROM numbers WHERE i <= ${String(transfers)};
  INSERT INTO transfer_sources (name, keys, threshold, packages, may_release, added_at, added_by)
    SELECT 'site-' || i, '[]', 1, '["*"]', 1, '${at}', 'cli:root' FROM numbers WHERE i <= ${String(transfers)};
  INSERT INTO subscriptions (namespace, name, channels, architectures, added_at, added_by)
    SELECT 'snap', 'wanted-' || i, '["latest/stable"]', '["amd64"]', '${at}', 'cli:root' FROM numbers WHERE i <= ${String(transfers)};`;

const packageRows = (at: string, { ofPackage }: ConsoleRows): string => `
  INSERT INTO revisions (package_id, revision, sha3_384, sha256, size, version, status, created_at, created_by, details)
    SELECT subject.id, i, lower(hex(randomblob(48))), lower(hex(randomblob(32))), 4096, '1.0.' || i, 'released', '${at}', person.id,
      (SELECT details FROM revisions JOIN subject ON subject.id = package_id WHERE revision = 1)
    FROM subject CROSS JOIN person CROSS JOIN numbers WHERE i > 10 AND i <= ${String(ofPackage)};
  INSERT INTO tracks (package_id, name, created_at)
    SELECT subject.id, 'v' || i, '${at}' FROM subject CROSS JOIN numbers WHERE i <= 9;
  CREATE TEMP TABLE channels AS
    SELECT tracks.name || '/' || risk AS name FROM tracks JOIN subject ON subject.id = package_id
    CROSS JOIN (SELECT 'stable' AS risk UNION SELECT 'candidate' UNION SELECT 'beta' UNION SELECT 'edge');
  CREATE TEMP TABLE slots AS SELECT 'amd64' AS slot UNION SELECT 'arm64' UNION SELECT 'armhf' UNION SELECT 'i386'
    UNION SELECT 'ppc64el' UNION SELECT 'riscv64' UNION SELECT 's390x';
  INSERT OR IGNORE INTO releases (package_id, channel, slot, progressive, architecture, revision, resources, released_at)
    SELECT subject.id, channels.name, slot, 0, slot, 1, '[]', '${at}' FROM subject CROSS JOIN channels CROSS JOIN slots;
  INSERT OR IGNORE INTO past_releases (package_id, seq, channel, slot, revision, released_at)
    SELECT subject.id, i + 2, 'latest/stable', 'amd64', i, '${at}' FROM subject CROSS JOIN numbers WHERE i <= ${String(ofPackage)};
  INSERT INTO rollouts (number, package_id, channel, revision, plan, state, step, step_at, judged_from, accepted_vulnerabilities,
      started_at, started_by, changed_at, changed_by)
    SELECT numbers.i, subject.id, 'latest/edge', 1,
      '{"steps":[1,50,100],"intervalSeconds":3600,"bound":{"percentage":5,"devices":20},"silentSeconds":86400,"notify":[]}', 'done', 2, '${at}', '${at}', '[]', '${at}', person.id, '${at}', person.id
    FROM subject CROSS JOIN person CROSS JOIN numbers WHERE numbers.i > 10 AND numbers.i <= ${String(ofPackage)};
  INSERT OR IGNORE INTO collaborators (package_id, account_id, created_at, created_by)
    SELECT subject.id, accounts.id, '${at}', person.id FROM subject CROSS JOIN person CROSS JOIN accounts WHERE accounts.id <> person.id;
  INSERT INTO macaroons (session_id, account_id, root_key_id, valid_since, valid_until)
    SELECT lower(hex(randomblob(16))), person.id, (SELECT id FROM root_keys LIMIT 1), '${at}', '2100-01-01T00:00:00.000Z'
    FROM person CROSS JOIN numbers WHERE i <= ${String(ofPackage)};`;
