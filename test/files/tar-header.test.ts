// The headers of a tar archive, compared with headers that GNU tar writes and reads.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { InvalidTarHeader, block, padding, readHeader, tarHeader } from '#files/tar-header.ts';

const moment = new Date('2026-03-01T12:00:00.000Z');
const long = `blobs/${'a'.repeat(96)}/${'b'.repeat(96)}`;

t.test('a written header is read by this reader and by GNU tar', (t) => {
  for (const [name, size] of [
    ['larder.db', 0],
    [long, 1],
    ['large', 0o77777777777],
    ['larger', 0o77777777777 + 1],
    ['largest', 2 ** 52],
  ] as const) {
    t.same(readHeader(tarHeader(name, size, moment)), { name, size, type: '0' });
  }
  const content = Buffer.alloc(700, 'x');
  const archive = Buffer.concat([
    tarHeader(long, content.length, moment),
    content,
    Buffer.alloc(padding(content.length)),
    Buffer.alloc(2 * block),
  ]);
  const listed = execFileSync('tar', ['--list', '--verbose', '--utc', '--file', '-'], { input: archive }).toString();
  t.match(listed, new RegExp(`^-rw------- 0/0 +700 2026-03-01 12:00 ${long}\n$`));
  t.end();
});

t.test('headers of GNU tar are read', (t) => {
  const folder = t.testdir();
  mkdirSync(join(folder, 'ü'));
  writeFileSync(join(folder, 'ü', 'file'), 'seven b');
  const archive = execFileSync('tar', ['--create', '--format=ustar', '--directory', folder, '--file', '-', 'ü']);
  t.same(readHeader(archive.subarray(0, block)), { name: 'ü/', size: 0, type: '5' });
  t.same(readHeader(archive.subarray(block, 2 * block)), { name: 'ü/file', size: 7, type: '0' });
  t.equal(readHeader(archive.subarray(4 * block, 5 * block)), undefined, 'the end');
  t.end();
});

t.test('a header that was changed is none', (t) => {
  for (const at of [0, 124, 148, 156, 345, 511]) {
    const head = tarHeader('larder.db', 4096, moment);
    head.writeUInt8(head.readUInt8(at) ^ 1, at);
    t.throws(() => readHeader(head), new InvalidTarHeader('the checksum of a header does not match'), String(at));
  }
  t.same([0, 1, 511, 512, 513].map(padding), [0, 511, 1, 0, 511]);
  t.end();
});
