// Backups in a bucket of the store's S3 server: written, thinned, merged, restored to a moment and drilled as in a folder.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import t, { type Test } from 'tap';

import { CreateBucketCommand, CreateMultipartUploadCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { bucketPlace } from '#backup/bucket.ts';
import { backupNameAt } from '#backup/folder.ts';
import { keepThinned, removeOldBackups } from '#cli/backups/folder.ts';
import { changeConfig } from '#configuration/config.ts';
import { after, days } from '#domain/clock.ts';
import { folder as newFolder, newStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { serve } from '#test/fixtures/processes/served.ts';
import { placeIn, sharedSwift, type SwiftServer } from '#test/fixtures/servers/swift.ts';
import { until } from '#test/fixtures/until.ts';
import { addBackupAt, oldIncrements, readState, saved } from './saved.ts';

t.setTimeout(1_800_000);
const root = t;

/** A new bucket for backups, and its address. */
async function newBucket(swift: SwiftServer, bucket: string): Promise<{ bucket: string; address: string }> {
  await swift.client.send(new CreateBucketCommand({ Bucket: bucket }));
  return { bucket, address: `${swift.endpoint}/${bucket}/main` };
}

/** A store with its files in the server. */
async function storeOn(t: Test, swift: SwiftServer, changes: Record<string, string>) {
  const store = await newStore(t);
  const place = placeIn(swift, newFolder(t));
  changeConfig(join(store.data, 'larder.toml'), { ...place, ...changes });
  return { ...store, credentials: place['blobs.credentials_file']! };
}

const restoredInto = async (t: Test, line: string) => {
  const data = join(newFolder(t), 'data');
  const { code, out, err } = await larder(`restore ${line} --data ${data}`);
  t.equal(code, 0, err);
  const listed = await larder('package list --json', { env: { LARDER_DATA: data } });
  const names = (JSON.parse(listed.out) as { packages: { name: string }[] }).packages.map(({ name }) => name).sort();
  return { names, out };
};

t.test('a serving store writes increments into the bucket, and each moment of them can be restored', async (t) => {
  const swift = await sharedSwift(root);
  const { bucket, address } = await newBucket(swift, 'backups-served');
  const store = await storeOn(t, swift, { 'backup.bucket': `${bucket}/main` });
  const served = await serve(store.data);
  t.teardown(() => served.stop());
  const register = (name: string) => store.larder(`package register bin/${name} --account larder-admin`);
  const entries = async (): Promise<unknown[]> =>
    ((await store.json('audit list --action make_backup')) as { entries: unknown[] }).entries;
  /** Adds an increment when the one of the server is made. */
  const add = async (more = ''): Promise<Record<string, string>> => {
    for (;;) {
      const { code, out, err } = await store.larder(`backup ${address} --increment --json${more}`);
      if (code === 0) return JSON.parse(out) as Record<string, string>;
      if (!err.includes('backup-under-way')) throw new Error(err);
      await sleep(100);
    }
  };
  await until(async () => (await entries()).length === 1);

  await register('one');
  let first = await add();
  t.match(first, { since: String });
  t.match(first['file']!.slice(address.length), /^\/larder-\d{8}T\d{6}Z\.tar$/);
  // A job of the server may write an entry of its own between two increments.
  for (let next = await add(); next['unchanged'] === undefined; next = await add()) first = next;
  t.match(await store.larder(`backup ${address} --increment`), {
    out: /The store has not changed since the backup in http/,
  });
  await register('two');
  const second = await add(' --thin');
  t.match(second, { since: first['id'] });

  const restoring = `${address} --keys ${store.data} --s3-credentials ${store.credentials}`;
  const before = await restoredInto(t, `${restoring} --at ${first['made-at']!}`);
  t.same(before.names, ['one']);
  t.match(
    before.out,
    /1 later change is in the newest backup and not in this store:\n.* did register_name on bin\/two/,
  );
  t.same((await restoredInto(t, restoring)).names, ['one', 'two']);

  t.match(await store.larder(`backup drill ${address}`), {
    code: 0,
    out: `The backup of ${second['made-at']!} in http`,
  });
  t.match(await store.larder('doctor'), { out: /the last drill was at/ });

  await register('three');
  await swift.stop();
  const away = await store.larder(`backup ${address} --increment`);
  t.match(away, { code: 1, err: /cannot use http:\S+\/main: no server listens there/ });
  t.match(await store.larder('status'), { out: /The last backup failed at [^]*no server listens there/ });
  await swift.start();
  await add();
  t.notMatch((await store.larder('status')).out, /The last backup failed/);
  t.same((await restoredInto(t, restoring)).names, ['one', 'three', 'two'], 'it has everything');
});

t.test('old increments are merged in the bucket, and half written objects do not count', async (t) => {
  const swift = await sharedSwift(root);
  const { bucket } = await newBucket(swift, 'backups-merged');
  const made = await saved(t);
  const { siteKey } = made.store.beside;
  const at = { endpoint: swift.endpoint, host: `127.0.0.1:${swift.port}`, bucket, prefix: '' };
  const place = await bucketPlace({ address: at, access: swift.access, store: 'a store', now: () => new Date() });
  t.teardown(() => place.close());
  const first = new Date('2026-11-20T10:00:00.000Z');
  const { backups } = await oldIncrements(t, made, { first, count: 8, place });
  const thin = () =>
    removeOldBackups(place, keepThinned(after(first, days(3))), { siteKey, merges: { workspace: made.folder } });

  const later = backupNameAt(after(first, days(1)));
  await swift.client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: later }));
  t.equal((await place.list()).length, 8, 'an upload in parts that was not completed has no name');
  await swift.client.send(new PutObjectCommand({ Bucket: bucket, Key: later, Body: Buffer.alloc(4096, 1) }));
  t.match(await readState(place, siteKey, after(first, days(2))), { file: backups.at(-1)!.file });

  t.equal((await thin()).length, 4);
  const left = [2, 5, 7].map((nth) => backups[nth]!);
  for (const { madeAt, file, blobs } of left) t.match(await readState(place, siteKey, madeAt), { file, blobs });
  t.same(await thin(), []);
  const next = await addBackupAt(made, place, after(first, days(2)));
  t.match(await readState(place, siteKey, next.madeAt), { file: next.file, blobs: next.blobs });

  const before = await place.list();
  const ended = new AbortController();
  const start = { workspace: made.folder, siteKey, signal: ended.signal };
  const target = await place.begin(`${place.name}/${backupNameAt(after(first, days(4)))}`, start);
  await target.handle.write(Buffer.alloc(40 * 1024 ** 2));
  ended.abort(new Error('the store stops'));
  await t.rejects(target.place(), { message: 'the store stops' }, 'a stop does not wait for a large archive');
  await target.discard();
  t.same(await place.list(), before);

  await t.rejects(bucketPlace({ address: at, access: swift.access, store: 'another', now: () => new Date() }), {
    message: /it belongs to another store; give this one a prefix of its own/,
  });
});

t.test('the bucket of the files is refused, and a command without access to a bucket', async (t) => {
  const swift = await sharedSwift(root);
  const store = await storeOn(t, swift, {});
  t.match(await store.larder(`backup ${swift.endpoint}/${swift.bucket}/backups --increment`), {
    code: 1,
    err: /the bucket larder-tests has the files of the store; name another one for backups/,
  });
  t.match(await store.larder(`backup ${swift.endpoint}/absent/backups --increment`), {
    code: 1,
    err: /the server has no bucket absent; create it there first/,
  });
  t.match(await store.larder(`backup ${swift.endpoint}/absent/backups --check`), { code: 2, err: /backup drill/ });
  const restore = `restore ${swift.endpoint}/absent --data ${newFolder(t)}/data --keys ${store.data}`;
  t.match(await larder(restore), { code: 2, err: /a bucket needs --s3-credentials FILE/ });
  const wrong = join(newFolder(t), 'wrong.toml');
  writeFileSync(wrong, 'access_key_id = "larder:ada"\nsecret_access_key = "wrong"\n');
  t.match(await larder(`${restore} --s3-credentials ${wrong}`), { code: 1, err: /secret_access_key/ });
});
