// A stop lets downloads come to their end as long as they move.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';

import { seconds } from '#domain/clock.ts';
import { begin, withLargeSnap } from './large.ts';

t.setTimeout(600_000);

/** A download of which the first bytes have come, and the store that serves it. */
async function begun(t: Parameters<typeof withLargeSnap>[0], drainMinutes = 10) {
  const { store, content, path } = await withLargeSnap(t, (text) =>
    text.replace('drain_minutes = 10', `drain_minutes = ${drainMinutes}`),
  );
  return { store, content, ...(await begin(store.url + path)) };
}

/** Takes what has come, when something has; nothing more when all is there or the connection was cut. */
async function take(response: IncomingMessage): Promise<Buffer | undefined> {
  while (!response.destroyed) {
    const piece = response.read() as Buffer | null;
    if (piece !== null) return piece;
    if (response.readableEnded) return undefined;
    await Promise.race([once(response, 'readable'), once(response, 'close')]);
  }
  return undefined;
}

t.test('a download that moves comes to its end while the store stops, however slowly', async (t) => {
  const { store, content, response } = await begun(t);
  const restarted = store.restart();
  const digest = createHash('sha256');
  let [size, passed] = [0, 0];
  for (let piece = await take(response); piece !== undefined; piece = await take(response)) {
    digest.update(piece);
    size += piece.length;
    // Eight minutes in all; whoever moved nothing would be given up after one.
    if (size > (passed + 1) * 6 * 1024 * 1024) {
      passed++;
      store.clock.advance(seconds(59));
      await pause(150);
    }
  }
  t.equal(size, content.length);
  t.equal(digest.digest('hex'), createHash('sha256').update(content).digest('hex'));
  t.ok(passed >= 7);
  await restarted;
});

t.test('one that nobody takes is ended after a minute', async (t) => {
  const { store, response, closed } = await begun(t);
  const stop = new AbortController();
  const restarted = store.restart().finally(() => stop.abort());
  while (!stop.signal.aborted) {
    store.clock.advance(seconds(20));
    await pause(50);
  }
  await restarted;
  response.resume();
  await closed;
  t.notOk(response.complete, 'it was cut, and nobody is told that it was whole');
});

t.test('after the time that the configuration gives all are ended', async (t) => {
  const { store, response, content } = await begun(t, 1);
  const restarted = store.restart();
  let size = 0;
  for (let piece = await take(response); piece !== undefined; piece = await take(response)) {
    size += piece.length;
    store.clock.advance(seconds(1));
    await pause(10);
  }
  t.ok(size < content.length, `${size} bytes of it came`);
  await restarted;
});
