// A disk with a transient failure causes no quarantine; a permanent failure is named.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { pino } from 'pino';
import t, { type Test } from 'tap';

import { createDigestPool, type DigestPool } from '#blobs/digests.ts';
import { blobReports } from '#integrity/blob-reports.ts';
import { startScrub, type Scrub } from '#integrity/scrub.ts';
import { inspectDatabase } from '#engine/place.ts';
import { verifyStore } from '#integrity/verify.ts';
import { textOf } from '#platform/faults.ts';
import { createHealth } from '#platform/health.ts';
import { startWorker } from '#platform/embedded.ts';
import { larder } from '#test/cli/world.ts';
import { store as blobStore } from '#test/blobs/store.ts';
import type { Faults } from '#test/blobs/faulty-digest-worker.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { largeTest } from '#test/fixtures/large.ts';

const still = (text: string): string => text.replace('# scrub_rate = "20 MiB"', 'scrub_rate = 0');
const sha3 = (content: Uint8Array): string => createHash('sha3-384').update(content).digest('hex');
const counter = (count = 0) => {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  shared[0] = count;
  return shared;
};

/** Threads that read a failing disk. */
function faulty(t: Test, { times, ...faults }: Omit<Faults, 'left' | 'direct'> & { times: number }) {
  const [left, direct] = [counter(times), counter()];
  const workerData: Faults = { ...faults, left, direct };
  const pool = createDigestPool(
    (options) => startWorker('test/blobs/faulty-digest-worker.ts', { ...options, workerData }),
    1,
  );
  t.teardown(() => pool.close());
  return { pool, left, direct };
}

interface Scrubbed {
  store: TestAppliance;
  problems: () => Promise<string[]>;
  log: string[];
  /** Waits for the end of so many more whole rounds. */
  rounds(count: number): Promise<void>;
  until(reached: () => boolean | Promise<boolean>): Promise<void>;
}

/** A store with its own scrub stopped, and another scrub under control of the test. */
async function scrubbed(t: Test, digests: DigestPool): Promise<Scrubbed> {
  const store = await startStore(t, still);
  const { blobs } = await blobStore(t, { directory: store.directory });
  const log: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void log.push(line) });
  const health = createHealth(logger);
  const { records, acts } = store.beside;
  let moment = 0;
  let scrub: Scrub | undefined;
  t.teardown(() => scrub?.stop());
  return {
    store,
    problems: async () => (await health.look()).map(textOf),
    log,
    async rounds(count) {
      scrub ??= startScrub({
        records,
        acts,
        blobs,
        digests,
        health,
        log: logger,
        reports: blobReports(records, health),
        now: () => new Date(++moment),
        rate: () => 1e12,
        rest: 5,
        retry: 5,
        begin: 0,
      });
      // The round that runs when this is called may have passed by already.
      for (let ended = -1, last: string | undefined = 'none'; ended <= count;) {
        await sleep(2);
        const { roundEnded } = scrub.state();
        if (roundEnded !== last) ended++;
        last = roundEnded;
      }
    },
    async until(reached) {
      while (!(await reached())) await sleep(5);
    },
  };
}

/** A package with one revision; its content, and the file where that lies. */
async function publish({ directory, as }: TestAppliance): Promise<{ content: Buffer; file: string }> {
  const ada = await as('ada');
  await ada.post('/v1/bin', { name: 'tool' });
  const content = randomBytes(300_000);
  const { status } = await ada.push('bin', 'tool', content);
  if (status !== 200) throw new Error(`cannot push: ${status}`);
  return { content, file: join(directory, 'blobs/sha3', sha3(content).slice(0, 2), sha3(content)) };
}

/** Atomically: a concurrent reader reads the old content or the new one. */
const putInPlace = (file: string, content: Buffer): void => {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
};

const damage = (file: string, content: Buffer): void => {
  const changed = Buffer.from(content);
  changed[1234]! ^= 4;
  writeFileSync(file, changed);
};

for (const [call, code] of [
  ['read', 'EIO'],
  ['open', 'EIO'],
  ['open', 'EMFILE'],
] as const) {
  t.test(`one ${code} of one ${call} while the scrub reads leaves the blob in its place`, async (t) => {
    const { pool, left } = faulty(t, { call, code, times: 1 });
    const { store, rounds, problems } = await scrubbed(t, pool);
    const { file } = await publish(store);
    await rounds(1);
    t.equal(left[0], 0, 'it has failed');
    t.ok(existsSync(file));
    t.same(await store.beside.records.damagedBlobs.list(10), []);
    t.same(readdirSync(join(store.directory, 'blobs/quarantine')), []);
    t.same(await problems(), [], 'and read a second time it was good');
  });
}

t.test('a byte that was wrong once, in the page cache, is no damage of the disk', async (t) => {
  const { pool, left, direct } = faulty(t, { call: 'flip', times: 1 });
  const { store, rounds, log } = await scrubbed(t, pool);
  const { file } = await publish(store);
  await rounds(1);
  t.equal(left[0], 0);
  t.ok(direct[0]! > 0, 'the second reading went past the page cache');
  t.ok(existsSync(file));
  t.same(await store.beside.records.damagedBlobs.list(10), []);
  t.match(log.join(''), /intact on the disk but not in the page cache/);
});

largeTest('corruption is found on a disk without direct reads too', async (t) => {
  const { pool } = faulty(t, { call: 'read', times: 0, refusesDirect: true });
  const { store, rounds } = await scrubbed(t, pool);
  const { content, file } = await publish(store);
  damage(file, content);
  await rounds(1);
  t.notOk(existsSync(file));
  t.match(await store.beside.records.damagedBlobs.list(10), [{ sha3_384: sha3(content) }]);
});

t.test('a file that cannot be read is named with its package, stays, and is well when it can be read', async (t) => {
  const { pool, left } = faulty(t, { call: 'read', times: 1_000_000 });
  const { store, rounds, problems } = await scrubbed(t, pool);
  const { file } = await publish(store);
  await rounds(1);
  t.match(await problems(), [/cannot be read: bin\/tool revision 1\. Nothing was taken out of service.*make a backup/]);
  t.equal((await problems()).length, 1);
  t.notMatch((await problems()).join(), /EIO/);
  t.ok(existsSync(file));
  left[0] = 0;
  await rounds(2);
  t.same(await problems(), []);
});

t.test('too few descriptors are no problem of the disk', async (t) => {
  const { pool } = faulty(t, { call: 'open', code: 'EMFILE', times: 1_000_000 });
  const { store, rounds, problems } = await scrubbed(t, pool);
  const { file } = await publish(store);
  await rounds(1);
  t.same(await problems(), []);
  t.ok(existsSync(file));
});

t.test('a corrupt blob is named with its package until valid content is there again', async (t) => {
  const { pool } = faulty(t, { call: 'read', times: 0 });
  const { store, rounds, problems } = await scrubbed(t, pool);
  const { content, file } = await publish(store);
  damage(file, content);
  await rounds(1);
  t.notOk(existsSync(file));
  t.match(await problems(), [/corrupt and out of service: bin\/tool revision 1\. Upload the same files again/]);
  putInPlace(file, content);
  await rounds(2);
  t.same(await problems(), []);
  t.same(await store.beside.records.damagedBlobs.list(10), []);
});

largeTest('a quarantined blob with a valid hash returns by itself', async (t) => {
  const { pool } = faulty(t, { call: 'read', times: 0 });
  const { store, rounds, problems, log } = await scrubbed(t, pool);
  const { content, file } = await publish(store);
  damage(file, content);
  await rounds(1);
  const away = join(store.directory, 'blobs/quarantine', sha3(content));
  t.ok(existsSync(away));
  putInPlace(away, content);
  await rounds(2);
  t.ok(existsSync(file), 'it is in service again');
  t.notOk(existsSync(away));
  t.same(await problems(), []);
  t.match(log.join(''), /in service again/);
  t.match(await store.beside.records.audit.newest(1e15, 1), [{ action: 'restore_blob' }]);
});

t.test('larder verify --restore-quarantined puts back what hashes well, and nothing else', async (t) => {
  const store = await startStore(t, still);
  const { content, file } = await publish(store);
  damage(file, content);
  t.match(await larder(`verify --data ${store.directory} --quarantine`), { code: 1 });
  t.match(await larder(`verify --data ${store.directory} --restore-quarantined --json`), {
    code: 1,
    out: new RegExp(`"missing":\\["${sha3(content)}"\\],"put-back":\\[\\]`),
  });
  const away = join(store.directory, 'blobs/quarantine', sha3(content));
  writeFileSync(away, content);
  t.match(await larder(`verify --data ${store.directory} --restore-quarantined`), {
    code: 0,
    out: /^1 blob matches its digest and is in service again\.\nEverything is as it was written/,
  });
  t.ok(existsSync(file));
  t.notOk(existsSync(away));
  t.same(await store.beside.records.damagedBlobs.list(10), []);
});

t.test('verify reports unreadable blobs, and quarantines none of them', async (t) => {
  const store = await startStore(t, still);
  const { content, file } = await publish(store);
  const { blobs } = await blobStore(t, { directory: store.directory });
  const { pool } = faulty(t, { call: 'read', times: 1_000_000 });
  const verdict = await verifyStore({
    inspect: () => inspectDatabase(store.beside.database.place, {}),
    records: store.beside.records,
    siteKey: store.beside.siteKey,
    sealFile: store.beside.sealing.file,
    blobs,
    digests: pool,
    progress: () => undefined,
  });
  t.match(verdict, { good: false, blobs: { damaged: [], missing: [], unreadable: [sha3(content)] } });
  t.ok(existsSync(file));
});

largeTest(
  'a scrub that cannot find all files reads the others, reports it, and tries again until it can',
  async (t) => {
    const { pool } = faulty(t, { call: 'read', times: 0 });
    const { store, rounds, until, problems, log } = await scrubbed(t, pool);
    const { content, file } = await publish(store);
    damage(file, content);
    const taken = readdirSync(join(store.directory, 'blobs/sha3'));
    const free = ['00', '01', '02'].find((name) => !taken.includes(name))!;
    // A file in the place of a folder: listing it fails.
    writeFileSync(join(store.directory, 'blobs/sha3', free), '');
    const started = rounds(0);
    await until(async () => (await problems()).some((problem) => problem.includes('cannot all be found')));
    t.notOk(existsSync(file), 'what could be found was read');
    t.ok(
      log.filter((line) => line.includes('cannot finish a round')).length >= 3,
      'somebody is told after three times',
    );
    rmSync(join(store.directory, 'blobs/sha3', free));
    await started;
    await rounds(1);
    t.notMatch((await problems()).join(), /cannot all be found/);
  },
);
