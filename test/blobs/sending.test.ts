// Content on its way out over HTTP: whole or cut off, in little memory, and with no file left open.
import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open as openFile, readdir, readlink, truncate } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';

import { sendContent } from '#http/response/send-content.ts';
import type { ByteRange } from '#blobs/blobs.ts';
import { PieceMemory, SentContent } from '#blobs/disk/sent-content.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { until } from '#test/fixtures/until.ts';
import { from, store } from './store.ts';

const MiB = 1024 * 1024;

/** A server of one content, and how many of its files are open. */
async function serving(t: Test, bytes: Buffer) {
  const { blobs } = await store(t);
  const { sha3_384 } = await blobs.receive(from(bytes), { id: 'u1', limit: bytes.length });
  const { file } = await blobs.makeLocalCopy(sha3_384);
  /** Of each answer, whether it was cut off. */
  const cutOff: boolean[] = [];
  const server = createServer(async ({ headers }, response) => {
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    const range: ByteRange | undefined = start === undefined ? undefined : { start: Number(start), end: Number(end) };
    const opened = (await blobs.open(sha3_384, range))!;
    response.writeHead(200, { 'content-length': range ? range.end - range.start + 1 : opened.size });
    cutOff.push(await sendContent(opened.stream, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close().closeAllConnections());
  const ask = (range = ''): Socket => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`GET / HTTP/1.1\r\nHost: store\r\nConnection: close\r\n${range && `Range: ${range}\r\n`}\r\n`);
    return socket;
  };
  const filesOpen = async (): Promise<number> => {
    const names = await readdir('/proc/self/fd');
    const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => undefined)));
    return targets.filter((target) => target === file).length;
  };
  return { blobs, sha3_384, file, cutOff, ask, filesOpen };
}

/** Copies of the pieces, because a piece may be overwritten after it was read. */
async function all(pieces: AsyncIterable<Uint8Array>): Promise<Buffer[]> {
  const copies: Buffer[] = [];
  for await (const piece of pieces) copies.push(Buffer.from(piece));
  return copies;
}

/** The body that comes over a connection until it ends. */
async function bodyOf(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  await once(socket.resume(), 'close');
  const all = Buffer.concat(pieces);
  return all.subarray(all.indexOf('\r\n\r\n') + 4);
}

t.test('content arrives byte for byte, whole and in parts, to many at once', async (t) => {
  const bytes = randomBytes(3 * MiB + 17);
  const { ask, filesOpen, cutOff } = await serving(t, bytes);
  const parts = [
    [0, 0],
    [5, 65_540],
    [524_287, 524_288],
    [1, bytes.length - 1],
    [bytes.length - 1, bytes.length - 1],
  ];
  const requests = [
    ...Array.from({ length: 20 }, async () => t.ok(bytes.equals(await bodyOf(ask())))),
    ...parts.map(async ([start = 0, end = 0]) =>
      t.ok(bytes.subarray(start, end + 1).equals(await bodyOf(ask(`bytes=${start}-${end}`))), `${start} to ${end}`),
    ),
  ];
  await Promise.all(requests);
  await until(async () => (await filesOpen()) === 0);
  t.notOk(cutOff.includes(true));
});

largeTest('clients that read nothing use little memory together, and none once they are gone', async (t) => {
  const bytes = randomBytes(16 * MiB);
  const { ask, filesOpen } = await serving(t, bytes);
  const before = process.memoryUsage().arrayBuffers;
  const clients = Array.from({ length: 200 }, () => ask().pause());
  await until(async () => (await filesOpen()) === clients.length);
  // All have come to rest when nothing more is read for them.
  const buffers = (): number => process.memoryUsage().arrayBuffers;
  for (let last = -1; last !== buffers();) {
    last = buffers();
    await delay(300);
  }
  const held = buffers() - before;
  t.ok(held < 48 * MiB, `${held} bytes for ${clients.length} clients`);
  const [first, other, ...rest] = clients;
  for (const client of rest) client.destroy();
  for (const client of [first, other]) t.equal(hash('sha256', await bodyOf(client!)), hash('sha256', bytes));
  await until(async () => (await filesOpen()) === 0);
});

largeTest('a slow client leaves the memory of large pieces to others, and gets the same bytes', async (t) => {
  const bytes = randomBytes(4 * MiB + 1);
  const { file } = await serving(t, bytes);
  // Every client counts as slow if the limit is zero.
  const memory = new PieceMemory({ slowPieceMs: -1 });
  const open = async (of = memory): Promise<SentContent> => {
    const passage = { start: 0, end: bytes.length, memory: of, proven: () => Promise.resolve() };
    const content = new SentContent({ file: await openFile(file), ...passage });
    t.teardown(() => content.destroy());
    return content;
  };
  const [large, medium, small] = [MiB / 2, MiB / 8, MiB / 32];
  const lengthOf = async (of = memory): Promise<number | undefined> => {
    const got = await all((await open(of)).lend());
    t.ok(bytes.equals(Buffer.concat(got)));
    return got[0]?.length;
  };
  const slow = await Promise.all(Array.from({ length: 4 + 16 + 80 }, () => open()));
  const pieces = slow.map((content) => content.lend());
  const lengths = (): Promise<(number | undefined)[]> =>
    Promise.all(pieces.map(async (each) => (await each.next()).value?.length));
  const times = (count: number, length: number) => Array.from({ length: count }, () => length);
  t.same(await lengths(), [...times(4 + 16, large), ...times(80, medium)]);
  t.equal(await lengthOf(), small, 'all memory is lent');
  t.same(await lengths(), [...times(4, large), ...times(16 + 80, small)], 'what was read ahead is given where it is');
  t.equal(await lengthOf(), large);
  t.same(new Set(await lengths()), new Set([small]));
  t.equal(await lengthOf(), large, 'now there is memory again');
  t.ok(bytes.subarray(MiB + small).equals(Buffer.concat(await all(pieces[3]!))), 'the rest of a slow one');
  t.ok(bytes.subarray(medium + 2 * small).equals(Buffer.concat(await all(pieces[20]!))), 'and of another');
  const taken = new PieceMemory();
  const rooms = Array.from({ length: 4 + 16 + 80 }, () => taken.take(MiB));
  t.equal(await lengthOf(taken), small);
  for (const room of rooms) taken.giveBack(room, true);
  t.equal(
    rooms.flatMap((room) => room.pieces).filter((piece) => piece.length > 0).length,
    8,
    'the memory of few is kept',
  );
});

t.test('content that cannot be read to its end is cut off, and nothing replaces it', async (t) => {
  const bytes = randomBytes(32 * MiB);
  const { ask, file, filesOpen, cutOff } = await serving(t, bytes);
  const client = ask().pause();
  await until(async () => (await filesOpen()) === 1);
  await truncate(file, 20 * MiB);
  const got = await bodyOf(client);
  t.ok(got.length <= 20 * MiB, `${got.length} bytes came`);
  t.ok(bytes.subarray(0, got.length).equals(got));
  await until(() => cutOff.length === 1);
  t.same(cutOff, [true]);
  await until(async () => (await filesOpen()) === 0);
});
