// The name that rockcraft leaves in the layers of a rock, with any packing and any layers above it.
import { gzipSync, zstdCompressSync } from 'node:zlib';

import t from 'tap';

import { readRock } from '#review/images/rock.ts';
import type { UploadBytes } from '#review/squashfs/source.ts';
import { rock, tar, type TarEntry } from '#test/fixtures/packages/archives.ts';
import { inMemory } from '../packed.ts';

const metadata = (name: string, version = '2.0'): TarEntry => ({
  name: '.rock/metadata.yaml',
  content: `name: ${name}\nversion: '${version}'\n`,
});
const folder: TarEntry = { name: '.rock/', type: '5' };
const other: TarEntry = { name: 'etc/hostname', content: 'x'.repeat(1000) };

/** The metadata of a rock without labels that has these layers; a refusal by its sentence. */
async function read(layers: (string | Uint8Array)[], label: string | null = null): Promise<unknown> {
  try {
    return (await readRock(inMemory(rock('hello', { label, layers })), 'hello')).version;
  } catch (error) {
    return (error as Error).message;
  }
}
const misnamed = /called 'stone' in its '\/\.rock\/metadata\.yaml', but was pushed to 'hello'/;

t.test('the name of a rock is that in its metadata, with any packing', async (t) => {
  const layer = (name: string) => tar([other, folder, metadata(name), other]);
  for (const [way, pack] of [
    ['plain', (bytes: Buffer) => bytes],
    ['gzip', (bytes: Buffer) => gzipSync(bytes)],
    [
      'gzip in members',
      (bytes: Buffer) => Buffer.concat([gzipSync(bytes.subarray(0, 700)), gzipSync(bytes.subarray(700))]),
    ],
    ['zstd', (bytes: Buffer) => zstdCompressSync(bytes)],
  ] as const) {
    t.equal(await read([tar([other]), pack(layer('hello'))]), '2.0', `${way}: and its version, without a label`);
    t.match(await read([tar([other]), pack(layer('stone'))]), misnamed, way);
    t.match(await read([pack(layer('stone'))], 'hello'), misnamed, `${way}: a label that is right does not help`);
  }
  t.equal(await read([layer('hello')], 'hello'), '1.2', 'the label says the version');
});

t.test('the uppermost layer with a name counts', async (t) => {
  const [below, above] = [tar([folder, metadata('stone')]), tar([folder, metadata('hello')])];
  t.equal(await read([below, above]), '2.0');
  t.match(await read([above, below]), misnamed);
  t.match(await read([below, tar([other, folder])]), misnamed, 'a layer with the folder alone hides nothing');
  for (const hiding of ['.rock/.wh.metadata.yaml', '.rock/.wh..wh..opq', '.wh..rock', '.wh..wh..opq']) {
    t.equal(await read([below, tar([{ name: hiding }, other])]), null, hiding);
  }
  t.equal(await read([below, tar([{ name: '.rock', type: '2' }])]), null, 'a link in the place of the folder');
  t.equal(
    await read([below, tar([{ name: '.rock/metadata.yaml', type: '2' }])]),
    null,
    'a link in the place of the file',
  );
});

t.test('names are read as archivers write them', async (t) => {
  for (const name of ['./.rock/metadata.yaml', '/.rock/metadata.yaml']) {
    t.match(await read([tar([{ ...metadata('stone'), name }])]), misnamed, name);
  }
  const record = 'path=.rock/metadata.yaml\n';
  const extended = { name: 'pax', type: 'x', content: `${record.length + 3} ${record}` };
  t.match(await read([tar([extended, { ...metadata('stone'), name: 'short' }])]), misnamed, 'an extended header');
  const long = { name: '././@LongLink', type: 'L', content: 'a/'.repeat(100) };
  t.equal(await read([tar([long, metadata('stone')])]), null, 'the name in the header is not the one');
});

t.test('an unreadable layer gives no name, and reading stops at the limit of a long one', async (t) => {
  const good = tar([folder, metadata('stone')]);
  const cut = gzipSync(good).subarray(0, 60);
  for (const layer of ['text', '', cut, Buffer.from('1f8b0800', 'hex'), Buffer.from('28b52ffd00', 'hex')]) {
    t.equal(await read([layer]), null);
    t.match(await read([good, layer]), misnamed, 'those below it are looked into');
  }
  const bomb = gzipSync(Buffer.concat([tar([{ name: 'zeros', size: 2 ** 33 - 1 }]), Buffer.alloc(33 << 20)]), {
    level: 1,
  });
  t.equal(await read([good, bomb]), null, 'after 32 MiB the search ends');
  t.match(await read([tar([{ ...metadata('x'), content: '#'.repeat(65_537) }])]), /has more than 65536 bytes/);
  t.match(await read([tar([{ ...metadata('x'), content: '{' }])]), /metadata\.yaml is not the YAML/);
  t.equal(await read([tar([{ ...metadata('x'), content: '- list' }])]), null);
});

t.test('that the disk cannot be read is no fault of the rock', async (t) => {
  const layer = tar([folder, metadata('hello')]);
  const archive = inMemory(rock('hello', { label: null, layers: [layer] }));
  let looks = 0;
  const failing: UploadBytes = {
    size: archive.size,
    read(position, length) {
      const bytes = archive.read(position, length);
      // The first reading of it is for its digest.
      if (length === layer.length && ++looks > 1) throw new Error('EIO');
      return bytes;
    },
  };
  await t.rejects(readRock(failing, 'hello'), { message: 'EIO' });
});
