// `larder restore --missing` after everything that can happen between the backup, the loss and the command.
import { join } from 'node:path';

import t from 'tap';

import { itself } from '#acts/act.ts';
import { quarantineBlob } from '#acts/store/integrity.ts';
import { hasContent, readContent, removeContent } from '#test/fixtures/contents.ts';
import { saved, type Saved } from './saved.ts';

t.setTimeout(600_000);

interface Between {
  event?: (kept: Saved & { bytes: Buffer; backup: string }) => Promise<unknown>;
  /** The output of the command. */
  expected: { code: number; out: RegExp };
}

const back = { code: 0, out: /^1 blob is restored/ };
const nothing = { code: 0, out: /^Nothing is missing\.$/m };

const cases: Readonly<Record<string, Between>> = {
  nothing: { expected: back },
  'a restart': { event: ({ store }) => store.restart(), expected: back },
  'the same file was uploaded again': {
    event: ({ store, bytes }) => store.anyone.upload(bytes),
    expected: nothing,
  },
  'it was restored already': { event: ({ run, backup }) => run(`restore ${backup} --missing`), expected: nothing },
  'it was restored and lost again': {
    async event({ run, backup, store, sha3_384 }) {
      await run(`restore ${backup} --missing`);
      removeContent(store.directory, sha3_384);
    },
    expected: back,
  },
  'it was recorded as damaged': {
    event: ({ store, sha3_384, bytes }) =>
      store.beside.acts.do(quarantineBlob, itself, { sha3_384, size: bytes.length }),
    expected: back,
  },
  'its revision was released to a channel': {
    event: async ({ store }) =>
      (await store.as('ada')).post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: 1 }]),
    expected: back,
  },
  'its revision was withdrawn': {
    event: async ({ store }) => {
      const ada = await store.as('ada');
      return ada.post('/internal/v1/packages/snap/tiny-app/revisions/1/withdraw', { reason: 'It loses data.' });
    },
    expected: back,
  },
};

t.test('a missing blob is restored from a backup, after any event in between', async (t) => {
  for (const [between, { event, expected }] of Object.entries(cases)) {
    const savedStore = await saved(t);
    const { store, folder, sha3_384, run } = savedStore;
    const backup = join(folder, 'monday.tar');
    t.match(await run(`backup ${backup}`), { code: 0 });
    const bytes = readContent(store.directory, sha3_384);
    removeContent(store.directory, sha3_384);
    await event?.({ ...savedStore, bytes, backup });
    t.match(await run(`restore ${backup} --missing`), expected, `after ${between}`);
    t.equal(hasContent(store.directory, sha3_384), true, `after ${between}: it is there`);
    t.strictSame(await store.beside.records.damagedBlobs.list(10), [], `after ${between}: no blob is damaged`);
    await store.restart();
    t.ok(readContent(store.directory, sha3_384).equals(bytes), `after ${between}, and a restart`);
    t.strictSame((await store.anyone.get('/readyz')).body.problems, [], `after ${between}: the store is well`);
  }
});
