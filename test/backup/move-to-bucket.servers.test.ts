// The files of a stopped store go to a bucket and come back, and its records go along to a server.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { startPostgres } from '#test/fixtures/servers/postgres.ts';
import { serve } from '#test/fixtures/processes/served.ts';
import { placeIn, sharedSwift } from '#test/fixtures/servers/swift.ts';
import { commandsOn, folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { saved } from './saved.ts';

t.setTimeout(1_800_000);
const root = t;

t.test('all blobs move to a bucket, with the records or alone, and return', async (t) => {
  const swift = await sharedSwift(root);
  const server = await startPostgres();
  t.teardown(server.end);
  const { folder: place, keys, run } = await saved(t);
  const file = join(place, 'full.tar');
  const data = join(mkdtempSync(join(tmpdir(), 'larder-move-')), 'data');
  t.teardown(() => rmSync(join(data, '..'), { recursive: true }));
  for (const made of [await run(`backup ${file}`), await larder(`restore ${file} --data ${data} --keys ${keys}`)]) {
    t.equal(made.code, 0, made.err);
  }
  const store = commandsOn(data);
  const writeConfig = (name: string, changes: Parameters<typeof changeConfig>[1]): string => {
    const wantedFile = join(data, '..', `${name}.toml`);
    cpSync(join(data, 'larder.toml'), wantedFile);
    changeConfig(wantedFile, changes);
    return wantedFile;
  };
  const inBucket = writeConfig('in-bucket', placeIn(swift, folder(t)));
  const before = readFileSync(join(data, 'larder.toml'), 'utf8');
  const bad = 'b'.repeat(96);
  writeFileSync(join(data, 'blobs/quarantine', bad), 'what was found damaged', { mode: 0o600 });
  await swift.stop();
  t.match(await store.larder(`move --to ${inBucket}`), { code: 1 });
  t.equal(readFileSync(join(data, 'larder.toml'), 'utf8'), before, 'nothing is changed while the server is away');
  await swift.start();
  const moved = await store.json(`move --to ${inBucket}`);
  t.match(moved, { 'blobs-from': 'blobs/', blobs: Number }, JSON.stringify(moved));
  t.ok(moved.blobs > 0);
  t.equal(moved.quarantined, 1, 'what is evidence comes along');
  for (const name of ['sha3', 'quarantine']) rmSync(join(data, 'blobs', name), { recursive: true });
  t.match(await store.json('verify'), { good: true, blobs: { checked: moved.blobs } }, 'all are in the bucket');
  t.match(await store.json('audit list --limit 1'), { entries: [{ action: 'move_store' }] });

  const address = await server.newDatabase(() => Promise.resolve());
  t.match(await store.json(`move --to ${writeConfig('on-server', { 'records.postgres': address })}`), { rows: Number });
  const served = await serve(data);
  t.equal((await fetch(`${served.url}/readyz`)).status, 200, 'on both engines');
  t.match(await store.larder(`move --to ${inBucket}`), { code: 3 }, 'a store that is served stays where it is');
  await served.stop();

  const back = writeConfig('back', {
    'records.postgres': undefined,
    'blobs.s3': undefined,
    'blobs.credentials_file': undefined,
  });
  t.match(await store.json(`move --to ${back}`), {
    'blobs-to': 'blobs/',
    blobs: moved.blobs,
    rows: Number,
    quarantined: 1,
    unread: 0,
  });
  t.equal(readFileSync(join(data, 'blobs/quarantine', bad), 'utf8'), 'what was found damaged');
  t.ok(existsSync(join(data, 'blobs/sha3')));
  t.match(await store.json('verify'), { good: true, blobs: { checked: moved.blobs } });
});
