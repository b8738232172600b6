// The benchmarks, side by side in one run: `npm run bench`, or `npm run bench -- permissions start` for some of them.
import { backups } from './backups/increments.ts';
import { charmsFound } from './charms.ts';
import { consolePages } from './console/console-pages.ts';
import { deltas } from './deltas.ts';
import { devices } from './devices.ts';
import { downloads } from './downloads.ts';
import { fleet } from './fleet.ts';
import { identity } from './identity.ts';
import { keyManagers } from './keys/key-managers.ts';
import { memory } from './memory/resident-memory.ts';
import { operator } from './operator.ts';
import { permissions } from './permissions.ts';
import { publisher } from './publisher.ts';
import { reads } from './reads.ts';
import { registry } from './registry.ts';
import { scale } from './scale.ts';
import { signing } from './signing.ts';
import { start } from './start.ts';
import { signedTransfers, transfers } from './transfers.ts';
import { tricks } from './tricks.ts';
import { uploads } from './uploads.ts';
import { vulnerabilities } from './vulnerabilities/match-feeds.ts';
import { writes } from './writes.ts';

const benchmarks: Record<string, () => Promise<void>> = {
  backups,
  permissions,
  console: consolePages,
  uploads,
  downloads,
  charms: charmsFound,
  deltas,
  devices,
  fleet,
  start,
  identity,
  'key-managers': keyManagers,
  memory,
  publisher,
  reads,
  registry,
  scale,
  signing,
  operator,
  transfers,
  'signed-transfers': signedTransfers,
  tricks,
  vulnerabilities,
  writes,
};

const selectedNames = process.argv.slice(2);
for (const [name, run] of Object.entries(benchmarks)) {
  if (selectedNames.length === 0 || selectedNames.includes(name)) await run();
}
