// The benchmarks, side by side in one run: `npm run bench`, or `npm run bench -- permissions start` for some of them.
import { charmsFound } from './charms.ts';
import { consolePages } from './console.ts';
import { deltas } from './deltas.ts';
import { devices } from './devices.ts';
import { downloads } from './downloads.ts';
import { fleet } from './fleet.ts';
import { identity } from './identity.ts';
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
import { writes } from './writes.ts';

const benchmarks: Record<string, () => Promise<void>> = {
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
  publisher,
  reads,
  registry,
  scale,
  signing,
  operator,
  transfers,
  'signed-transfers': signedTransfers,
  tricks,
  writes,
};

const wanted = process.argv.slice(2);
for (const [name, run] of Object.entries(benchmarks)) {
  if (wanted.length === 0 || wanted.includes(name)) await run();
}
