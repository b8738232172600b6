// A stop lets downloads come to their end as long as they move.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';

import { seconds } from '#domain/clock.ts';
import { begin, withLargeSnap } from './large.ts';

t.setTimeout(600_000);

/** A download that has begun, of the one store that all tests stop in turn. */
async function begun({ store, content, path }: Awaited<ReturnType<typeof withLargeSnap>>, drainMinutes = 10) {
  const file = join(store.directory, 'larder.toml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/drain_minutes = \d+/, `drain_minutes = ${drainMinutes}`));
  store.appliance.reload();
  return { store, content, ...(await begin(store.url + path)) };
}

/** Reads the next bytes when there are some; returns undefined if all are read or the connection was cut. */
async function take(response: IncomingMessage): Promise<Buffer | undefined> {
  while (!response.destroyed) {
    const piece = response.read() as Buffer | null;
    if (piece !== null) return piece;
    if (response.readableEnded) return undefined;
    await Promise.race([once(response, 'readable'), once(response, 'close')]);
  }
  return undefined;
}

t.test('while a store stops', async (t) => {
  const large = await withLargeSnap(t, (text) => text);

  await t.test('a moving download completes while the store stops, even if it is slow', async (t) => {
    const { store, content, response } = await begun(large);
    const restarted = store.restart();
    const digest = createHash('sha256');
    let [size, passed] = [0, 0];
    for (let piece = await take(response); piece !== undefined; piece = await take(response)) {
      digest.update(piece);
      size += piece.length;
      // Eight minutes in all; an idle client would be ended after one.
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

  await t.test('a download without progress is ended after a minute', async (t) => {
    const { store, response, closed } = await begun(large);
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

  await t.test('after the time that the configuration gives all are ended', async (t) => {
    const { store, response, content } = await begun(large, 1);
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
});
