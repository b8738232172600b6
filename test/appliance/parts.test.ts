// The parts of the appliance: whichever fails at the start, those before it stop in reverse and leave nothing open.
import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { startAppliance, type Appliance } from '#appliance/appliance.ts';
import { ApplianceParts, type PartsWatch } from '#appliance/parts.ts';
import { lockDirectory } from '#data/lock.ts';
import { newWrappingKey } from '#data/secrets.ts';
import { stateFile } from '#data/state-file.ts';
import { openStore } from '#data/store.ts';
import { hours } from '#domain/clock.ts';
import { initialConfig } from '#configuration/config.ts';
import { createLog } from '#platform/log.ts';
import { until } from '#test/fixtures/until.ts';

/** The parts in the order of their start. Add a new part here, at its place. */
const all = [
  'nursery',
  'lock',
  'records',
  'leases',
  'seals',
  'clock',
  'digests of the scrub',
  'digests',
  'blobs',
  'lock of the database',
  'key manager',
  'certificate',
  'signing',
  'pushes',
  'catalog',
  'reviews',
  'jobs',
  'deltas',
  'watching',
  'scrub',
  'held',
  'registry',
  'downloads',
  'server',
  'change feed',
  'logins',
  'commands of pages',
  'state',
  'ballast',
];

function newDirectory(t: Test): string {
  const directory = t.testdir();
  const config = initialConfig({
    baseUrl: 'https://127.0.0.1:8080',
    listen: '127.0.0.1:0',
    storeAdminId: 'root',
    storeAdminDigest: '0'.repeat(96),
  });
  writeFileSync(join(directory, 'larder.toml'), config, { mode: 0o600 });
  for (const key of ['site.key', 'master.key']) writeFileSync(join(directory, key), newWrappingKey(), { mode: 0o400 });
  return directory;
}

interface Test {
  testdir(): string;
}

const start = (directory: string, parts: PartsWatch): Promise<Appliance> =>
  startAppliance({
    directory,
    parts,
    jobsAfter: hours(1),
    log: createLog('info', { destination: { write: () => undefined } }),
  });

/**
 * Every open file, socket and pipe of this process, and its timers; without the index of the log of a database, which
 * is never closed, so that its locks stay.
 */
const open = (): string[] =>
  [
    ...readdirSync('/proc/self/fd')
      .flatMap(target)
      .filter((file) => !file.endsWith('/larder.db-shm (deleted)')),
    ...process.getActiveResourcesInfo().filter((kind) => !kind.startsWith('FSReq')),
  ].sort();

/** The descriptors that were opened since. A descriptor that was about to close may be gone. */
function more(before: readonly string[]): string[] {
  const rest = [...before];
  return open().filter((handle) => {
    const at = rest.indexOf(handle);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

/** The file behind a descriptor; undefined for the descriptor of the listing itself. */
function target(descriptor: string): string[] {
  try {
    return [readlinkSync(`/proc/self/fd/${descriptor}`)];
  } catch {
    return [];
  }
}

t.test('parts start in order and stop in the reverse of it', async (t) => {
  const started: string[] = [];
  const stopped: string[] = [];
  const directory = newDirectory(t);
  const appliance = await start(directory, {
    starting: (name) => started.push(name),
    stopping: (name) => stopped.push(name),
  });
  t.same(started, all);
  t.same(stopped, []);
  t.ok(existsSync(stateFile(directory)));
  await appliance.stop();
  t.same(stopped, all.toReversed());
  t.notOk(existsSync(stateFile(directory)));
  await appliance.stop();
  t.equal(stopped.length, all.length, 'each stops once');
});

async function auditHead(directory: string): Promise<unknown> {
  const { records, close } = await openStore({ directory });
  return records.audit.head().finally(close);
}

t.test('a part that does not start takes those before it with it', async (t) => {
  const directory = newDirectory(t);
  await (await start(directory, {})).stop();
  const logged = await auditHead(directory);
  const before = open();
  for (const [at, failing] of all.entries()) {
    const stopped: string[] = [];
    const starting = start(directory, {
      starting(name) {
        if (name === failing) throw new Error(`${name} does not start`);
      },
      stopping: (name) => stopped.push(name),
    });
    await t.rejects(starting, { message: `${failing} does not start` });
    t.same(stopped, all.slice(0, at).toReversed(), `before ${failing}`);
    t.doesNotThrow(() => lockDirectory(directory).close(), 'the directory is free');
    t.notOk(existsSync(stateFile(directory)), 'nobody says that it serves');
    await until(() => more(before).length === 0);
    t.pass(`nothing is left open where ${failing} fails`);
  }
  t.same(await auditHead(directory), logged, 'however often it is tried, the audit log does not grow');
});

t.test('a taken port leaves the directory unchanged', async (t) => {
  const directory = newDirectory(t);
  const first = await start(directory, {});
  const taken = new URL(first.url).host;
  const other = newDirectory(t);
  await t.rejects(startAppliance({ directory: other, listen: taken, log: createLog('silent') }), {
    message: `cannot listen on ${taken}`,
  });
  t.doesNotThrow(() => lockDirectory(other).close());
  await first.stop();
});

t.test('a part that fails to stop does not keep others from stopping, and is reported', async (t) => {
  const stopped: string[] = [];
  const parts = new ApplianceParts();
  for (const name of ['one', 'two', 'three']) {
    await parts.start(
      name,
      () => name,
      (part, served) => {
        stopped.push(`${part} ${String(served)}`);
        if (part !== 'one') throw new Error(`${part} does not stop`);
      },
    );
  }
  parts.serving();
  await t.rejects(parts.stop(), { message: 'three does not stop' });
  t.same(stopped, ['three true', 'two true', 'one true']);
});
