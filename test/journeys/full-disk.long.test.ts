// The disk is completely full: each client is told so, requests that free space succeed, and all works afterwards.
import { existsSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import t, { type Test } from 'tap';

import { sealEvery } from '#records/audit/audit-seals.ts';
import { larder } from '#test/cli/world.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { engine } from '#test/fixtures/records/engines.ts';
import { sharedSwift } from '#test/fixtures/servers/swift.ts';
import { declare, digestOf, logIn, uploadLogin } from '#test/fixtures/packages/images.ts';
import { sharedPostgres } from '#test/fixtures/servers/postgres.ts';
import { fill, noSmallDisk, smallDisk } from '#test/fixtures/small-disk.ts';

const root = t;
const MiB = 1024 * 1024;

const problems = async (store: TestAppliance): Promise<string[]> =>
  (await store.anyone.get('/readyz')).body.problems as string[];

async function until(reached: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await reached())) await sleep(20);
}

async function startOn(disk: string, t: Test): Promise<TestAppliance> {
  // Servers of the engines are on another disk.
  if (engine === 'postgres') await sharedPostgres(root);
  if (process.env['LARDER_BLOBS'] === 's3') await sharedSwift(root);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = disk;
  return startStore(t, (text) => text.replace(/^# reserve = .*$/m, 'reserve = "1 MiB"')).finally(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
}

t.test('a full disk is answered with 507, and requests that free space succeed', async (t) => {
  const disk = smallDisk(t, '160m');
  if (disk === undefined) {
    t.comment(noSmallDisk);
    return;
  }
  const store = await startOn(disk, t);
  const ballast = join(store.directory, 'blobs/ballast');
  await until(() => existsSync(ballast));
  t.same(await problems(store), []);
  const ada = await store.as('ada');
  await declare(store, 'ada', 'hello');
  const client = await logIn(store, await uploadLogin(ada, 'hello'));
  const begun = await client.call('POST', 'blobs/uploads/');

  fill(disk);
  t.equal((await fetch(`${store.url}/unscanned-upload/`, { method: 'POST', body: form('x') })).status, 507);
  const blob = await client.blob('a layer');
  t.match(blob, { status: 507 }, 'a push of an image is answered too');
  t.equal(blob.headers.get('retry-after'), '300');
  const place = `${store.url}${begun.headers.get('location')!}`;
  const chunk = await client.call('PATCH', place, 'chunk');
  t.match(chunk, { status: 507 }, 'and a chunk of one');
  t.match(await client.call('PUT', `${place}&digest=${digestOf('chunk')}`), { status: 404 }, 'which has ended with it');

  if (engine === 'sqlite') await changesFindNoRoom(t, store, disk);
  else await changesGoOn(t, store);

  rmSync(join(disk, 'filler'));
  t.equal((await ada.post('/v1/snap', { name: 'refused' })).status, 200);
  await store.restart();
  await until(() => existsSync(ballast));
  await until(async () => (await problems(store)).length === 0);
  const verdict = await larder(`verify --data ${store.directory} --json`);
  t.match(JSON.parse(verdict.out), { database: { problems: [] }, audit: { problems: [] }, blobs: { damaged: [] } });
  t.notOk(readdirSync(join(store.directory, 'blobs/tmp')).length, 'nothing partial is left');
});

/** The records are a file on the disk that is full. */
async function changesFindNoRoom(t: Test, store: TestAppliance, disk: string): Promise<void> {
  const ballast = join(store.directory, 'blobs/ballast');
  const ada = await store.as('ada');
  // The log of the database has some room of its own: sooner or later a change finds none.
  for (let nth = 0; existsSync(ballast) && nth < 400; nth++) {
    const { status } = await ada.post('/v1/snap', { name: `name-${nth}` });
    t.equal(status, 200, 'who asks while the ballast lasts notices nothing', { diagnostic: false });
  }
  t.notOk(existsSync(ballast), 'the ballast was given up');
  t.match(await problems(store), [/was full, and the reserved ballast was released/]);
  t.ok(statfsSync(disk).bavail > 1000);
  t.match(await larder(`token issue --data ${store.directory} --account ${store.ids.ada}`), { code: 0 });

  fill(disk);
  let refused = await ada.post('/v1/snap', { name: 'refused' });
  for (let nth = 0; refused.status === 200 && nth < 400; nth++)
    refused = await ada.post('/v1/snap', { name: `r-${nth}` });
  t.match(refused, { status: 507, body: { 'error-list': [{ code: 'insufficient-storage', message: /is full/ }] } });
  t.equal(refused.headers.get('retry-after'), '300');
  t.equal((await ada.get('/v1/snap')).status, 200, 'reading goes on');
  t.equal((await problems(store)).filter((problem) => problem.includes('was full')).length, 1, 'said once');
}

/** The records are on a server, which has a disk of its own; only what the log is sealed with is written on this one. */
async function changesGoOn(t: Test, store: TestAppliance): Promise<void> {
  const ada = await store.as('ada');
  const statuses: number[] = [];
  for (let nth = 0; nth <= sealEvery.rows; nth++) {
    statuses.push((await ada.post('/v1/snap', { name: `name-${nth}` })).status);
  }
  t.same(new Set(statuses), new Set([200]), 'who changes the records notices nothing');
  t.ok(existsSync(join(store.directory, 'blobs/ballast')), 'and what is set aside for a file of records stays there');
}

function form(content: string): FormData {
  const data = new FormData();
  data.set('binary', new Blob([content]), 'file');
  return data;
}

t.test('no address fills more than a tenth of a small disk beside the file that it sends', async (t) => {
  const disk = smallDisk(t, '100m');
  if (disk === undefined) {
    t.comment(noSmallDisk);
    return;
  }
  const store = await startOn(disk, t);
  const send = (size: number) =>
    fetch(`${store.url}/unscanned-upload/`, { method: 'POST', body: form('x'.repeat(size)) });
  t.match(await send(9 * MiB), { status: 200 });
  t.match(await send(2 * MiB), { status: 200 });
  t.match(await send(1), { status: 429 });
});

t.test('a push of an image to a store without room is answered at once', async (t) => {
  const store = await startStore(t, (text) => text.replace(/^# reserve = .*$/m, 'reserve = "900 TiB"'));
  await declare(store, 'ada', 'hello');
  const client = await logIn(store, await uploadLogin(await store.as('ada'), 'hello'));
  const layer = Buffer.alloc(3 * MiB, 7);
  t.match(await client.blob(layer), { status: 507 });
  const begun = await client.call('POST', 'blobs/uploads/');
  t.match(begun, { status: 507 }, 'before anything is sent');
  t.equal(begun.headers.get('retry-after'), '300');
});
