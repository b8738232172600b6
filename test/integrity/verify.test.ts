// larder verify and the scrub: corrupt blobs are found, and never served.
import t from 'tap';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import {
  closeSync,
  existsSync,
  openSync,
  readSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { larder } from '#test/cli/world.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { declare, logIn, pushImage, uploadLogin } from '#test/fixtures/packages/images.ts';
import { until } from '#test/fixtures/until.ts';

const flips = process.env['LARDER_LONG'] === '1' ? 200 : 40;

function flip(file: string): void {
  const handle = openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  const at = randomInt(statSync(file).size);
  readSync(handle, byte, 0, 1, at);
  byte[0]! ^= 1 << randomInt(8);
  writeSync(handle, byte, 0, 1, at);
  closeSync(handle);
}

const blobFiles = ({ directory }: TestAppliance): string[] =>
  readdirSync(join(directory, 'blobs/sha3'), { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, 'blobs/sha3', name))
    .filter((file) => statSync(file).isFile());

/** Waits until the log says that a blob is out of service. */
async function waitForReport({ log }: TestAppliance): Promise<void> {
  while (!log.some((line) => line.includes('a blob is corrupt')))
    await new Promise((resolve) => setTimeout(resolve, 20));
}

largeTest('every one of many flipped bits is found, in each blob it struck', async (t) => {
  const store = await startStore(t, (text) => text.replace('# scrub_rate = "20 MiB"', 'scrub_rate = 0'));
  const client = store.anyone;
  for (let number = 0; number < flips; number++) await client.upload(randomBytes(randomInt(1, 20_000)));
  t.match(await larder(`verify --data ${store.directory} --json`), { code: 0, out: /"good":true/ });

  const files = blobFiles(store);
  t.equal(files.length, flips);
  for (const file of files) flip(file);
  const { code, out } = await larder(`verify --data ${store.directory} --json`);
  t.equal(code, 1);
  const { blobs } = JSON.parse(out) as { blobs: { damaged: string[] } };
  t.equal(blobs.damaged.length, flips);

  t.equal((await larder(`verify --data ${store.directory} --quarantine`)).code, 1);
  t.strictSame(blobFiles(store), [], 'and taken out of service');
  t.equal(readdirSync(join(store.directory, 'blobs/quarantine')).length, flips);
  t.equal((await store.beside.records.damagedBlobs.list(1000)).length, flips);
});

t.test('a blob that is missing, cut short or grown is found', async (t) => {
  const store = await startStore(t, (text) => text.replace('# scrub_rate = "20 MiB"', 'scrub_rate = 0'));
  for (let number = 0; number < 2; number++) await store.anyone.upload(randomBytes(5000));
  const [first, second] = blobFiles(store);
  rmSync(first!);
  truncateSync(second!, 4000);
  const { out } = await larder(`verify --data ${store.directory}`);
  t.match(out, /: its content is damaged \(blob [0-9a-f]{96}\)/);
  t.match(out, /: its content is missing \(blob [0-9a-f]{96}\)/);
  t.match(
    out,
    /comes back when the same file is uploaded again, or from a backup: larder restore FILE --missing --data /,
  );
});

t.test('each missing blob is named: of packages, images, resources, icons and unpushed uploads', async (t) => {
  const store = await startStore(t, (text) => text.replace('# scrub_rate = "20 MiB"', 'scrub_rate = 0'));
  const ada = await store.as('ada');
  const id = await declare(store, 'ada', 'hello');
  await declare(store, 'ada', 'hello', 'config', 'file');
  // The revisions that declare them are rows without content.
  const before = (await missing(store)).length;
  await ada.upload('not pushed yet');
  await pushImage(await logIn(store, await uploadLogin(ada, 'hello')), 'v1', 'a layer');
  const upload = await ada.upload('a file of a resource');
  t.match(await ada.post('/v1/charm/hello/resources/config/revisions', { 'upload-id': upload }), { status: 200 });
  await store.appliance.reviewed();
  await ada.post('/v1/bin', { name: 'tool' });
  t.match(await ada.push('bin', 'tool', 'a revision'), { status: 200 });
  const icon = randomBytes(100);
  const digest = createHash('sha3-384').update(icon).digest('hex');
  const iconUpload = await ada.upload(icon);
  const entry = { at: store.clock.now.toISOString(), actor: 'test', action: 'try', object: 'x' };
  await store.beside.records.change(entry, async (tx) => {
    await tx.packages.describe({ ...(await tx.packages.byId(id))!, icon: `${digest}.png` });
    await tx.uploads.forget(iconUpload);
  });
  t.equal((await missing(store)).length, before, 'all is there');

  const files = blobFiles(store);
  t.equal(files.length, 7, 'an upload, a layer, a configuration, a manifest, a file, a revision and an icon');
  for (const file of files) {
    renameSync(file, `${file}.away`);
    const missingDigests = await missing(store);
    t.equal(missingDigests.length, before + 1);
    t.ok(missingDigests.includes(basename(file)));
    renameSync(`${file}.away`, file);
  }
});

async function missing({ directory }: TestAppliance): Promise<string[]> {
  const { out } = await larder(`verify --data ${directory} --json`);
  return (JSON.parse(out) as { blobs: { missing: string[] } }).blobs.missing;
}

t.test('the serving store finds a corrupt blob by itself, and an upload of the same file repairs it', async (t) => {
  const store = await startStore(t, (text) => text.replace('# scrub_rate = "20 MiB"', 'scrub_rate = 0'));
  const content = randomBytes(100_000);
  await store.anyone.upload(content);
  const [file] = blobFiles(store);
  flip(file!);
  const configuration = join(store.directory, 'larder.toml');
  writeFileSync(configuration, readFileSync(configuration, 'utf8').replace('scrub_rate = 0', 'scrub_rate = "1 GiB"'));
  await store.restart();
  // It is out of service.
  await until(() => !existsSync(file!));
  t.match(await store.beside.records.damagedBlobs.list(10), [{ size: 100_000 }]);
  await waitForReport(store);
  t.match(await store.beside.records.audit.newest(1e15, 5), [{ action: 'quarantine_blob' }]);
  await store.anyone.upload(content);
  t.ok(existsSync(file!));
  t.strictSame(await store.beside.records.damagedBlobs.list(10), [], 'it is not damaged any more');
});
