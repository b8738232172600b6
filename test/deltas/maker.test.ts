// Deltas are made and rebuilt in threads that end with their work, their time or the store.
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { createDeltaMaker } from '#deltas/maker.ts';
import { startWorker } from '#platform/embedded.ts';

const maker = (timeLimitMs?: number) =>
  createDeltaMaker({
    startWorker: (options) => startWorker('src/deltas/worker.ts', options),
    ...(timeLimitMs !== undefined && { timeLimitMs }),
  });

const gathered = async (pieces: AsyncIterable<Uint8Array>): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(pieces));

t.test('a delta is made, and rebuilds the newer file', async (t) => {
  const { make, rebuild, close } = maker();
  const folder = t.testdir({});
  const [older, newer, delta] = ['older', 'newer', 'delta'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const bytes = randomBytes(5_000_000);
  writeFileSync(older, bytes);
  const changed = Buffer.concat([bytes.subarray(100_000), Buffer.from('news')]);
  writeFileSync(newer, changed);
  const made = await gathered(make(older, newer));
  t.ok(made.length < 200, `${String(made.length)} bytes`);
  writeFileSync(delta, made);
  const sha3_384 = createHash('sha3-384').update(changed).digest('hex');
  t.equal(await rebuild(older, delta, changed.length), sha3_384);
  await t.rejects(rebuild(older, delta, changed.length - 1), { message: /larger than allowed/ });
  await t.rejects(rebuild(newer, delta, changed.length), { message: /./ }, 'of another file');
  await t.rejects(gathered(make(join(folder, 'gone'), newer)), { code: 'ENOENT' });
  for await (const piece of make(older, newer)) {
    t.ok(piece.length > 0, 'whoever wants no more of it leaves it');
    break;
  }
  await close();
  await t.rejects(gathered(make(older, newer)), { message: 'the making of deltas was ended' });
});

t.test('a delta that takes too long, or is ended, rejects', async (t) => {
  const folder = t.testdir({ older: 'x'.repeat(1000), newer: 'y'.repeat(1000) });
  const [older, newer] = [join(folder, 'older'), join(folder, 'newer')];
  await t.rejects(gathered(maker(0).make(older, newer)), { message: 'a delta took more than 0 seconds' });
  const { make, close } = maker();
  const pieces = make(older, newer);
  await pieces.next();
  const rest = gathered(pieces);
  await close();
  await t.rejects(rest, { message: 'the making of deltas was ended' });
});
