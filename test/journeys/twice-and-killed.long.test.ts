// Writing operations beside the publisher interface, as in the table of operations: two equal requests run at once, and
// one runs when the process is killed. A single-effect request has its effect once, with its entry in the audit log, or
// not at all.
import { randomInt } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { latestTimeSetting } from '#acts/store/clock.ts';
import { recordsCheckSetting } from '#acts/store/integrity.ts';
import { copyRecords } from '#data/copies.ts';
import { databaseFile, recordsPlace } from '#data/records-place.ts';
import { openRecords } from '#data/records.ts';
import { readSiteKey } from '#data/secrets.ts';
import { inspectDatabase, type DatabasePlace } from '#engine/place.ts';
import { operations } from '#operations/index.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import { changeConfig, readConfig } from '#configuration/config.ts';
import { rowsOfFile, rowsOfServer } from '#test/fixtures/records/all-rows.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { trusted } from '#test/assertions/world.ts';
import { rowsIn } from '#test/fixtures/records/behind.ts';
import { addBrand, addSigningKey, trusting } from '#test/fixtures/brands.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { fillTables } from '#test/fixtures/records/some-of-everything.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { sharedPostgres } from '#test/fixtures/servers/postgres.ts';
import { larder, serve } from '#test/fixtures/processes/served.ts';
import { until } from '#test/fixtures/until.ts';
import { operationTable } from '#test/operation-table/index.ts';
import { missingLine } from '#test/operation-table/missing-row.ts';
import { makePackage, send, type WriteRequest, type WriteWorld } from '#test/operation-table/writes.ts';

t.setTimeout(1_800_000);
const root = t;
/** The operations that are asked twice; those without `killed` are also under way when the process is killed. */
const cases = Array.from(operationTable).flatMap(([name, { writes }]) =>
  typeof writes === 'object' ? [{ name, ...writes }] : [],
);
const rounds = process.env['LARDER_LONG'] === '1' ? 30 : 1;

async function world(t: Parameters<typeof startStore>[0]): Promise<WriteWorld> {
  const settings = trusting(t, trusted);
  // A store that does not remember devices pauses each rollout by itself, sooner or later.
  const remembering = (text: string) =>
    settings(text)
      .replace(/^(?:# )?snap = false$/m, 'snap = true')
      .replace(/^(?:# )?remember = false$/m, 'remember = true');
  const store = await startStore(t, remembering, new Date());
  const brand = await addBrand(store, 'ada');
  const key = await addSigningKey(store, brand, 'rsa4096-a', 'default');
  const [ada, bob, root] = [await store.as('ada'), await store.as('bob'), await store.as('root')];
  const made = { store, brand, key, ada, bob, root };
  // bob has published a package before: the figures of a publisher are rows that the first package makes.
  await makePackage({ ...made, ada: bob }, 0, 'first');
  return made;
}

/** The number of rows that last, and of each act. */
function held(directory: string): Record<string, number> {
  const acts = rowsIn<{ action: string; times: number }>(
    directory,
    "SELECT action, COUNT(*) AS times FROM audit WHERE outcome = 'done' GROUP BY action",
  );
  // A job updates the catalog, sooner or later.
  const others = /^(?:audit|passing_|migrations|catalog_)/;
  const rows = Object.entries(footprint(directory)).filter(
    (row): row is [string, number] => typeof row[1] === 'number' && !others.test(row[0]),
  );
  // Nor does an operation bring about that the records are proven, or that the time of the last hour is remembered.
  const appliance = rowsIn<{ rows: number }>(
    directory,
    `SELECT COUNT(*) AS rows FROM appliance WHERE name NOT IN ('${recordsCheckSetting}', '${latestTimeSetting}')`,
  )[0]!.rows;
  const done = acts.map(({ action, times }) => [`act ${action}`, times] as const);
  return Object.fromEntries([...rows, ['appliance', appliance], ...done]);
}

const difference = (before: Record<string, number>, after: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(after)
      .map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
      .filter(([, count]) => count !== 0),
  );

const actsIn = (change: Record<string, number>): number =>
  Object.entries(change).reduce((sum, [name, count]) => (name.startsWith('act ') ? sum + count : sum), 0);

const sum = (changes: Record<string, number>[]): Record<string, number> => {
  const all: Record<string, number> = {};
  for (const [name, count] of changes.flatMap((change) => Object.entries(change))) all[name] = (all[name] ?? 0) + count;
  return all;
};

/** How many uploads wait for their review. */
function inReview(directory: string): number {
  const waiting = "SELECT COUNT(*) AS count FROM uploads WHERE status = 'new' AND package_id IS NOT NULL";
  return rowsIn<{ count: number }>(directory, waiting)[0]!.count;
}

t.test('every writing operation has its row', (t) => {
  const writing = operations.filter(({ since, method }) => since === 0 && method !== 'GET');
  const rows = Array.from(operationTable).filter(([, { writes }]) => writes !== undefined);
  const names = new Set(rows.map(([name]) => name));
  const missing = writing.filter(({ name }) => !names.has(name)).map((op) => missingLine(op, 'writes'));
  t.same(names, new Set(writing.map(({ name }) => name)), missing.join('\n'));
  t.end();
});

const alone = new Map<string, Record<string, number>>();

t.test('twice at once', async (t) => {
  const testWorld = await world(t);
  const { directory } = testWorld.store;
  for (const [at, { name, takes, ask }] of cases.entries()) {
    const changes: Record<string, number>[] = [];
    const replies: { status: number; body: string }[][] = [];
    for (const times of [1, 2]) {
      const request = await ask(testWorld, 2 * at + times);
      const before = held(directory);
      replies.push(await Promise.all(Array.from({ length: times }, () => send(testWorld.store.url, request))));
      await testWorld.store.appliance.reviewed();
      changes.push(difference(before, held(directory)));
    }
    const [single, two] = changes as [Record<string, number>, Record<string, number>];
    alone.set(name, single);
    t.match(replies[0]![0]!.status, /^20/, `${name} is done`);
    t.ok(actsIn(single) > 0, `${name} is in the audit log`);
    const statuses = replies[1]!.map(({ status }) => status);
    t.ok(
      statuses.some((status) => status < 300),
      `${name}: one of two is answered well`,
    );
    t.ok(
      statuses.every((status) => status < 500),
      `${name}: ${statuses.join()}`,
    );
    if (takes === 'once') t.same(two, single, `${name}: two come to what one does`);
    else t.same(rowsOf(two), rowsOf(single), `${name}: two leave what one does`);
  }
  await testWorld.store.appliance.stop();
  // Rows that no operation has left are made up in a file alone, and move from there to a server and back.
  if ('file' in placeOf(directory)) fillTables(databaseFile(directory));
  await thereAndBack(t, directory);
});

const rowsOf = (change: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(change).filter(([name, count]) => !name.startsWith('act ') && count !== 0));

t.test('killed in the middle', async (t) => {
  const testWorld = await world(t);
  const { store } = testWorld;
  await store.appliance.stop();
  for (let round = 0; round < rounds; round++) {
    let served = await serve(store.directory);
    t.teardown(() => kill(served.process));
    store.url = served.url;
    const requests: (WriteRequest & { name: string; takes: 'once' | 'each' })[] = [];
    for (const [at, { name, takes, ask, killed }] of cases.entries()) {
      if (killed !== undefined) continue;
      requests.push({ name, takes, ...(await ask(testWorld, 1000 * (round + 1) + at)) });
    }
    const before = held(store.directory);
    let answered = 0;
    const answers = requests.map((request) =>
      send(store.url, request)
        .finally(() => answered++)
        .catch(() => undefined),
    );
    const threshold = randomInt(requests.length);
    await until(() => answered >= threshold);
    await kill(served.process);
    const done = (await Promise.all(answers)).map((answer) => (answer?.status ?? 500) < 300);

    served = await serve(store.directory);
    store.url = served.url;
    const between = difference(before, held(store.directory));
    t.ok(actsIn(between) >= done.filter(Boolean).length, `${done.filter(Boolean).length} were acknowledged`);
    for (const request of requests) {
      const { status, body } = await send(store.url, request);
      t.ok(status < 500, `${request.name} again: ${status} ${status < 500 ? '' : body}`);
    }
    await until(() => inReview(store.directory) === 0);
    t.equal(await served.stop(), 0);
    const after = difference(before, held(store.directory));
    const expected = sum(requests.map(({ name }) => alone.get(name) ?? {}));
    t.same(rowsOf(after), rowsOf(expected), 'each is done whole, once');
    for (const { name, takes } of requests) {
      const acts = Object.keys(alone.get(name) ?? {}).filter((key) => takes === 'once' && key.startsWith('act '));
      for (const act of acts) t.equal(after[act], expected[act], `${name}: ${act} is in the log once`);
    }
  }
  t.match(await larder('verify', '--data', store.directory), { good: true });
  t.match(await larder('audit', 'verify', '--data', store.directory), { good: true });
  // Its rows have their digests, and its tables are those of every store.
  const { there: place, back } = await thereAndBack(t, store.directory);
  const siteKey = readSiteKey({ directory: store.directory, credentials: undefined, masterKeyFile: undefined });
  const opened = await openRecords(store.directory, { place, siteKey });
  const { problems } = await verifyAudit(opened.records, { siteKey, file: opened.sealing.file });
  t.same(problems, [], 'and its log is whole there');
  await opened.close();
  if ('file' in back) {
    renameSync(back.file, databaseFile(store.directory));
    for (const end of ['-wal', '-shm']) rmSync(`${databaseFile(store.directory)}${end}`, { force: true });
  } else changeConfig(join(store.directory, 'larder.toml'), { 'records.postgres': back.postgres });
  t.match(await larder('verify', '--data', store.directory), { good: true });
});

const placeOf = (directory: string): DatabasePlace =>
  recordsPlace(directory, readConfig(join(directory, 'larder.toml')), undefined);

const rowsAt = (place: DatabasePlace): ReturnType<typeof rowsOfFile> =>
  'file' in place ? rowsOfFile(place.file) : rowsOfServer(place.postgres);

/** All records move to the other engine and back, the same in every row; returns both places. */
async function thereAndBack(t: Test, directory: string): Promise<{ there: DatabasePlace; back: DatabasePlace }> {
  const from = placeOf(directory);
  const server = { postgres: await (await sharedPostgres(root)).newSchema() };
  const file = { file: join(directory, 'copy.db') };
  const [target, back] = 'file' in from ? [server, file] : [file, server];
  const rows = await rowsAt(from);
  await copyRecords({ from, to: target, attempt: 'there' });
  t.strictSame(await rowsAt(target), rows, 'the same there');
  await copyRecords({ from: target, to: back, attempt: 'back' });
  t.strictSame(await rowsAt(back), rows, 'and back');
  t.same(await inspectDatabase(back, {}), { pages: [], rows: [] });
  return { there: target, back };
}
