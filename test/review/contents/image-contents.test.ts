// The bill of materials of a rock: the lists of its uppermost state, in any layers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';

import t from 'tap';

import { startWorker } from '#platform/embedded.ts';
import { readRock } from '#review/images/rock.ts';
import { createReviewer } from '#review/reviewer.ts';
import { rock, tar, type TarEntry } from '#test/fixtures/packages/archives.ts';
import { inMemory } from '../packed.ts';

const billOf = async (layers: (string | Uint8Array | TarEntry[])[], billBytes?: number) => {
  const packed = layers.map((layer) => (Array.isArray(layer) ? tar(layer) : layer));
  return (await readRock(inMemory(rock('hello', { layers: packed })), 'hello', billBytes)).bill;
};

const paragraph = (name: string, version: string, more = '') =>
  `Package: ${name}\nStatus: install ok installed\nArchitecture: amd64\n${more}Version: ${version}\nDescription: it\n continued\n`;
const status = (...paragraphs: string[]): TarEntry => ({
  name: 'var/lib/dpkg/status',
  content: paragraphs.join('\n'),
});
const osRelease: TarEntry = { name: 'usr/lib/os-release', content: 'ID=debian\nVERSION_ID="12"\n' };
const namesOf = async (...layers: Parameters<typeof billOf>[0]) =>
  (await billOf(layers))!.components.map(({ name, version }) => `${name} ${version}`);

t.test('the database of dpkg gives packages with their sources, and the release', async (t) => {
  const removed = 'Package: gone\nStatus: deinstall ok config-files\nVersion: 1\n';
  const list = status(
    paragraph('libssl3', '3.0.11-1~deb12u2', 'Source: openssl\n'),
    removed,
    paragraph('gcc-12-base', '12.2.0-14', 'Source: gcc-12 (12.2.0-14+b1)\n'),
  );
  t.same(await billOf([[osRelease], gzipSync(tar([list]))]), {
    distribution: { id: 'debian', version: '12' },
    files: ['var/lib/dpkg/status'],
    gaps: [],
    components: [
      {
        ecosystem: 'deb',
        name: 'gcc-12-base',
        version: '12.2.0-14',
        architecture: 'amd64',
        source: { name: 'gcc-12', version: '12.2.0-14+b1' },
      },
      {
        ecosystem: 'deb',
        name: 'libssl3',
        version: '3.0.11-1~deb12u2',
        architecture: 'amd64',
        source: { name: 'openssl', version: '3.0.11-1~deb12u2' },
      },
    ],
  });
});

t.test('a list in an upper layer replaces the one below', async (t) => {
  const [old, fresh] = [status(paragraph('a', '1')), status(paragraph('a', '2'))];
  t.same(await namesOf([old], [fresh]), ['a 2']);
  t.same(await namesOf([fresh], [old]), ['a 1']);
});

t.test('what an upper layer deletes is gone, and what the same layer adds stays', async (t) => {
  const old = status(paragraph('a', '1'));
  const added: TarEntry = { name: 'var/lib/dpkg/status.d/b', content: 'Package: b\nVersion: 2\n' };
  for (const hiding of [
    'var/lib/dpkg/.wh.status',
    'var/lib/dpkg/.wh..wh..opq',
    'var/lib/.wh.dpkg',
    'var/.wh..wh..opq',
    '.wh.var',
    '.wh..wh..opq',
  ]) {
    t.same(await namesOf([old], [added, { name: hiding }]), ['b 2'], hiding);
    t.same(await namesOf([old], [{ name: hiding }], [added]), ['b 2'], `${hiding} in a layer of its own`);
    t.same(await namesOf([{ name: hiding }], [old, added]), ['a 1', 'b 2'], `${hiding} below`);
  }
  t.same(await namesOf([old], [{ name: 'var', type: '2' }, added]), ['b 2'], 'a link in the place of a folder');
  t.same(await namesOf([old, { name: 'var/', type: '5' }], [{ name: 'var/lib/dpkg/', type: '5' }]), ['a 1']);
  t.same(await namesOf([old], [{ name: 'var/lib/dpkg/.wh.other' }, { name: 'home/.wh.var' }]), ['a 1']);
});

t.test('distroless, chiselled and alpine images have lists of other forms', async (t) => {
  const wall = [
    '{"jsonwall":"1.0","schema":"1.0","count":4}',
    '{"kind":"content","slice":"openssl_bins","path":"/usr/bin/openssl"}',
    '{"kind":"package","name":"libssl3t64","version":"3.0.13-0ubuntu3.4","sha256":"ab","arch":"amd64"}',
    '{"kind":"package","name":"openssl","version":"3.0.13-0ubuntu3.4","sha256":"cd","arch":"amd64"}',
    '{"kind":"path","path":"/usr/bin/openssl","mode":"0755"}',
    '',
  ].join('\n');
  const chisel: TarEntry = { name: 'var/lib/chisel/manifest.wall', content: zstdCompressSync(wall) };
  t.same(await namesOf([chisel]), ['libssl3t64 3.0.13-0ubuntu3.4', 'openssl 3.0.13-0ubuntu3.4']);

  const apk = 'C:Q1x=\nP:musl\nV:1.2.4-r2\nA:x86_64\no:musl\nF:lib\nR:ld.so\n\nP:libcrypto3\nV:3.1.4-r5\no:openssl\n';
  for (const name of ['lib/apk/db/installed', 'usr/lib/apk/db/installed'])
    t.match(await billOf([[{ name, content: apk }]]), {
      components: [
        { ecosystem: 'apk', name: 'libcrypto3', version: '3.1.4-r5', source: { name: 'openssl', version: '3.1.4-r5' } },
        { ecosystem: 'apk', name: 'musl', version: '1.2.4-r2', architecture: 'x86_64' },
      ],
    });

  const distroless: TarEntry[] = [
    { name: './var/lib/dpkg/status.d/libc6', content: 'Package: libc6\nVersion: 2.36-9\n' },
    { name: './var/lib/dpkg/status.d/libc6.md5sums', content: 'Package: no\nVersion: 1\n' },
  ];
  t.same(await namesOf(distroless), ['libc6 2.36-9']);
});

t.test('an image without lists, or with an unreadable list, is unknown and has the reason', async (t) => {
  t.match(await billOf([[osRelease]]), { gaps: [/none of the lists of packages that the store reads/] });
  for (const [entry, gap] of [
    [{ ...status(), type: '1' }, 'var/lib/dpkg/status cannot be read.'],
    [{ ...status(), content: new Uint8Array([0xff, 0xfe]) }, 'var/lib/dpkg/status cannot be read.'],
    [{ name: 'var/lib/chisel/manifest.wall', content: 'x' }, 'var/lib/chisel/manifest.wall cannot be read.'],
    [status('Package: a\n'), 'var/lib/dpkg/status has 1 entry without a name and a version.'],
  ] as const)
    t.same((await billOf([[entry]]))?.gaps, [gap]);
  const cut = gzipSync(tar([status(paragraph('a', '1'))])).subarray(0, 60);
  t.match(await billOf([cut]), { gaps: [/^A layer cannot be read: /], components: [] });
});

t.test('layers that unpack to more than a review reads are left to a job', async (t) => {
  const layer = gzipSync(Buffer.concat([tar([{ name: 'zeros', content: new Uint8Array(3 << 20) }])]));
  t.equal(await billOf([layer], 1 << 20), undefined);
  t.match(await billOf([layer], 4 << 20), { gaps: [/none of the lists/] });
});

t.test('very many empty files count like the data that takes as long', async (t) => {
  const layer = (count: number) => tar(Array.from({ length: count }, (_, at) => ({ name: String(at) })));
  t.equal(await billOf([layer(600)], 1 << 20), undefined);
  t.match(await billOf([layer(300)], 1 << 20), { gaps: [/none of the lists/] });
});

t.test('a list of very many short lines is read within the memory of a review', async (t) => {
  const reviewer = createReviewer({ startWorker: (options) => startWorker('src/review/worker.ts', options) });
  t.teardown(() => reviewer.close());
  const path = join(t.testdir({}), 'hello.rock');
  for (const [name, line] of [
    ['var/lib/dpkg/status', 'a: b\n'],
    ['lib/apk/db/installed', 'P:a\nV:1\n\n'],
  ] as const) {
    const list = { name, content: line.repeat(Math.floor((15 << 20) / line.length)) };
    writeFileSync(path, rock('hello', { layers: [gzipSync(tar([list]), { level: 1 })] }));
    t.match(await reviewer.review({ kind: 'rock', path, name: 'hello' }), { approved: true }, name);
  }
});

t.test('an image may have a file for each of very many packages', async (t) => {
  const lists = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      name: `var/lib/dpkg/status.d/p${String(at)}`,
      content: `Package: p${String(at)}\nVersion: 1\n`,
    }));
  t.equal((await billOf([lists(9_000)]))?.components.length, 9_000);
  t.match(await billOf([lists(10_001)]), { gaps: [/more than 10000 lists of packages/], components: [] });
});

t.test('a manifest that unpacks without end is a gap', async (t) => {
  const bomb = zstdCompressSync(Buffer.concat([Buffer.from('{"jsonwall":"1.0"}\n'), Buffer.alloc(65 << 20)]));
  t.same((await billOf([[{ name: 'var/lib/chisel/manifest.wall', content: bomb }]]))?.gaps, [
    'var/lib/chisel/manifest.wall cannot be read.',
  ]);
});
