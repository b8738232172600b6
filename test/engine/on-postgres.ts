// Tests that hold on every engine, on PostgreSQL, by the folders below test/ that are named:
//   LARDER_RECORDS=postgres node test/engine/on-postgres.ts records operations
// Each folder has its patterns here, and what stays out of them its reason.
import { join } from 'node:path';

import t from 'tap';

import { filesOf, together } from '#test/fixtures/together.ts';

/** They count, or give one content to several revisions, and a process remembers what is in it. */
const ofDevicesAlone = 'drained|limits|refresh-snaps|history|told-again';

const folders: Readonly<Record<string, readonly string[]>> = {
  // What stays out is of the file of SQLite: its pages and log, how it is migrated, and what proves its rows.
  records: [
    'records/!(audit-chain|audit-seals|group-commit|migrate|new-store|pages-written|row-digests|statements).test.ts',
  ],
  // What is of a file of records alone is left out where it stands. The first one starts its store while it is loaded, when no test has
  // ended yet; the last one puts all blobs after it on S3.
  journeys: [
    'journeys/two-processes.test.ts',
    'journeys/!(blobs-on-s3|two-processes).test.ts',
    'journeys/blobs-on-s3.test.ts',
  ],
  operations: [
    'operations/*.test.ts',
    'operations/!(devices|charms)/*.test.ts',
    `operations/devices/!(${ofDevicesAlone}|snapd-*|snap-command).test.ts`,
    'operations/charms/!(juju-client).test.ts',
  ],
};

/** What needs a process of its own, as in test/suites/. snapd that is installed has a container, and is tried on one engine. */
const alone: Readonly<Record<string, readonly string[]>> = {
  operations: [
    `operations/devices/@(${ofDevicesAlone}|snapd-client|snap-command).test.ts`,
    'operations/charms/juju-client.test.ts',
  ],
};

const named = process.argv.slice(2);
const unknown = named.filter((folder) => !(folder in folders));
if (named.length === 0 || unknown.length > 0)
  throw new Error(`name folders of ${Object.keys(folders).join(', ')}, and not ${unknown.join(', ') || 'none'}`);
await together(...named.flatMap((folder) => folders[folder]!));
// What tap would keep of the lines that a process has run counts as a failure of whichever command of tap's ends beside this one; and
// without that command nobody else says that a file may take longer than 30 seconds.
const env = { TAP_TIMEOUT: '600', ...process.env, _TAPJS_PROCESSINFO_COVERAGE_: '0' };
for (const file of filesOf(...named.flatMap((folder) => alone[folder] ?? [])))
  await t.spawn(process.execPath, [join(import.meta.dirname, '..', file)], { timeout: 600_000, env }, file);
