// Stalled uploads of blobs: no stop waits for them without end, and no moving upload is cut off.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import t from 'tap';

import { lengthOf, type Chunks } from '#blobs/blobs.ts';
import { Refusal } from '#domain/refusal.ts';
import { readChunks } from '#operations/registry/chunks.ts';
import { createBlobUploads, type BlobUploads } from '#registry/uploads.ts';
import type { ReceiveBlob, Stored } from '#registry/blob-upload-receiver.ts';
import { openRecords } from '#test/fixtures/records/records.ts';

const sender = { packageId: 'A'.repeat(32), resource: 'image', accountId: 'ada' };
const idle = 250;

/** Takes content in, and remembers how that ended. */
function taker() {
  const ends: (number | Error)[] = [];
  const receive: ReceiveBlob = async (source, { accept }) => {
    let size = 0;
    try {
      for await (const chunks of source) size += lengthOf(chunks);
      const stored: Stored = { size, sha3_384: '', sha256: String(size) };
      accept(stored);
      ends.push(size);
      return stored;
    } catch (error) {
      ends.push(error as Error);
      throw error;
    }
  };
  return { receive, ends };
}

/** The uploads of a process of a store, by the time of day. */
async function uploadsOf(t: Parameters<typeof openRecords>[0], receive: ReceiveBlob): Promise<BlobUploads> {
  const [records] = await openRecords(t);
  return createBlobUploads({ records, receive, free, newId: () => 'one', now: () => new Date(), idle });
}

async function* chunks(...pauses: number[]): AsyncGenerator<Chunks> {
  for (const pause of pauses) {
    await sleep(pause);
    yield [Buffer.from('chunk')];
  }
}

/** There is always room. */
const free = (): Promise<number> => Promise.resolve(1);

t.test('an upload without a continuation is abandoned, with its received bytes', async (t) => {
  const { receive, ends } = taker();
  const uploads = await uploadsOf(t, receive);
  const upload = await uploads.begin(sender);
  await upload.append(chunks(0), { limit: 100 });
  t.match(await uploads.find(sender, 'one'), { id: 'one', size: 5 });
  while ((await uploads.find(sender, 'one')) !== undefined) await sleep(10);
  while (ends.length === 0) await sleep(10);
  t.match(ends, [Refusal]);
  await t.rejects(upload.append(chunks(0), { limit: 100 }), { code: 'blob-upload-unknown' });
});

t.test('an upload that was started and got no bytes is abandoned too', async (t) => {
  const uploads = await uploadsOf(t, taker().receive);
  await uploads.begin(sender);
  while ((await uploads.find(sender, 'one')) !== undefined) await sleep(10);
});

t.test('a moving upload continues, even if it is slow', async (t) => {
  const { receive, ends } = taker();
  const uploads = await uploadsOf(t, receive);
  const upload = await uploads.begin(sender);
  await upload.append(chunks(0, idle * 2, idle * 2), { limit: 100 });
  for (let time = 0; time < 4; time++) {
    await sleep(idle / 5);
    await upload.append(chunks(0), { limit: 100 });
  }
  t.match(await upload.finish({ algorithm: 'sha256', digits: '35' }, 100), { size: 35 });
  t.same(ends, [35]);
  await sleep(idle * 2);
});

t.test('an upload is known to the account that started it, in its own repository', async (t) => {
  const uploads = await uploadsOf(t, taker().receive);
  await uploads.begin(sender);
  t.match(await uploads.find({ ...sender }, 'one'), { id: 'one' });
  for (const other of [
    { accountId: 'bob' },
    { accountId: null },
    { resource: 'other' },
    { packageId: 'B'.repeat(32) },
  ]) {
    t.equal(await uploads.find({ ...sender, ...other }, 'one'), undefined, JSON.stringify(other));
  }
  await uploads.close();
  t.equal(await uploads.find(sender, 'one'), undefined);
});

t.test('while a request sends to an upload at one process, none does at another', async (t) => {
  const both = await openRecords(t, 2);
  const [first, second] = both.map((records) => {
    const { receive } = taker();
    return createBlobUploads({ records, receive, free, newId: () => 'one', now: () => new Date() });
  }) as [BlobUploads, BlobUploads];
  const last = Promise.withResolvers<undefined>();
  const sending = (await first.begin(sender)).append(
    (async function* () {
      yield [Buffer.from('chunk')];
      await last.promise;
      yield [Buffer.from('chunk')];
    })(),
    { limit: 100 },
  );
  const at = new Date().toISOString();
  while (typeof (await both[0].registryUploads.find('one', at))?.sender !== 'string') await sleep(1);
  const other = (await second.find(sender, 'one'))!;
  const busy = { code: 'conflict' };
  await t.rejects(other.append(chunks(0), { limit: 100 }), busy);
  await t.rejects(other.append(chunks(), { limit: 100 }), busy);
  await t.rejects(other.finish({ algorithm: 'sha256', digits: '5' }, 100), busy);
  last.resolve(undefined);
  await sending;
  t.match(await second.find(sender, 'one'), { size: 10 }, 'and then it knows how much has come');
  await first.close();
  t.equal(await second.find(sender, 'one'), undefined, 'what nobody goes on with ends with the process that has it');
});

/** The result of a body from this sender. */
async function bodyOf(
  t: { teardown(work: () => unknown): void },
  send: (write: (text: string) => void) => Promise<void>,
  take: (source: AsyncIterable<Chunks>) => Promise<unknown>,
): Promise<unknown> {
  const taken = Promise.withResolvers<unknown>();
  const server = createServer((request: IncomingMessage, response) => {
    take(readChunks(request, () => undefined, idle))
      .then(taken.resolve, taken.resolve)
      .finally(() => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  t.teardown(() => {
    socket.destroy();
    server.close();
  });
  socket.write('PATCH / HTTP/1.1\r\nHost: store\r\nContent-Length: 10\r\n\r\n');
  await send((text) => void socket.write(text));
  return taken.promise;
}

const whole = async (source: AsyncIterable<Chunks>): Promise<string> =>
  Buffer.concat((await Array.fromAsync(source)).flat()).toString();

t.test('a sender that stalls in the middle of a body is abandoned', async (t) => {
  const refusal = await bodyOf(
    t,
    async (write) => {
      write('12345');
      await sleep(idle / 5);
      write('6');
    },
    whole,
  );
  t.match(refusal, { code: 'blob-upload-invalid', message: /ended before the body did/ });
});

t.test('a slow upload is not, and neither is an upload that waits for the store', async (t) => {
  const slowly = async (write: (text: string) => void): Promise<void> => {
    for (const part of ['12', '34', '56', '78', '90']) {
      write(part);
      await sleep(idle / 5);
    }
  };
  t.equal(await bodyOf(t, slowly, whole), '1234567890');
  const parts = await bodyOf(
    t,
    async (write) => {
      write('12345');
      await sleep(1);
      write('67890');
    },
    async (source) => {
      let text = '';
      for await (const chunks of source) {
        text += Buffer.concat(chunks).toString();
        await sleep(idle * 2);
      }
      return text;
    },
  );
  t.equal(parts, '1234567890');
});

t.test('a refusal before the first byte is sent at once', async (t) => {
  for (const code of ['insufficient-storage', 'too-many-requests', 'shutting-down'] as const) {
    const receive: ReceiveBlob = () => Promise.reject(new Refusal(code, 'There is no room for this.', 300));
    const uploads = await uploadsOf(t, receive);
    const upload = await uploads.begin(sender);
    await t.rejects(upload.append(chunks(0, 0), { limit: 100 }), { code, retryAfter: 300 });
    t.equal(await uploads.find(sender, 'one'), undefined, 'and the upload has ended');
    await t.rejects(
      upload.append(chunks(0), { limit: 100 }),
      { code: 'blob-upload-unknown' },
      'for who goes on sending, too',
    );
    await uploads.close();
  }
});
