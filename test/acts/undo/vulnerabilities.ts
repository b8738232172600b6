// Undoing acts of vulnerabilities.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { itself } from '#acts/act.ts';
import { storeBills } from '#acts/vulnerabilities/bills-of-materials.ts';
import { days } from '#domain/clock.ts';
import { matchBills } from '#jobs/vulnerabilities/match-bills.ts';
import { commandsOn, type folder } from '#test/cli/process.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { kevCatalog, osvZip } from '#test/fixtures/vulnerabilities/feeds.ts';
import { handOver, status, type UndoRow, type World } from './world.ts';

const vulnerability = 'CVE-2026-1001';

async function importFeed(store: TestAppliance, content: string | Uint8Array): Promise<void> {
  const file = join(store.directory, 'tmp-feed');
  writeFileSync(file, content);
  const { code, err } = await commandsOn(store.directory).larder(`feed import ${file}`);
  if (code !== 0) throw new Error(err);
}

/** A store with a feed that has the vulnerability. */
async function withFeed(t: Parameters<typeof folder>[0]): Promise<TestAppliance> {
  const store = await startStore(t);
  const advisory = {
    id: `UBUNTU-${vulnerability}`,
    upstream: [vulnerability],
    fixes: { 'Ubuntu:22.04:LTS openssl': '3.0.2' },
  };
  await importFeed(store, osvZip([advisory]));
  return store;
}

async function accept({ root, at, store }: World, until = days(30)): Promise<void> {
  const end = new Date(store.clock.now.getTime() + until).toISOString();
  const { status: code } = await root.post(`${at}/accepted-findings`, {
    vulnerability,
    until: end,
    reason: 'It is closed.',
  });
  if (code !== 200) throw new Error(`it is not accepted: ${String(code)}`);
}

const withdraw = ({ root, at }: World) => status(root.delete(`${at}/accepted-findings/${vulnerability}`));

/** The state of the finding as releases and lists see it. */
async function state({ root, name, at }: World): Promise<string> {
  await root.post(`/v1/snap/${name}/releases`, [{ channel: 'latest/stable', revision: 1 }]);
  const { body } = await root.get(`${at}/findings?all=true`);
  return (
    (body.revisions as { findings: { state: string }[] }[]).flatMap(({ findings }) => findings)[0]?.state ?? 'none'
  );
}

const removeFeed = async ({ store }: World): Promise<number> =>
  (await commandsOn(store.directory).larder('feed remove cisa-kev --yes')).code === 0 ? 200 : 404;

const feedsOf = async ({ store }: World): Promise<string[]> =>
  (await store.beside.records.vulnerabilityFeeds.list()).map(({ source }) => source);

export const vulnerabilityRows: Readonly<Record<string, UndoRow>> = {
  remove_feed: {
    done: ({ store }) => importFeed(store, kevCatalog([vulnerability])),
    undone: removeFeed,
    cases: [
      { between: 'nothing', after: feedsOf, equals: [] },
      {
        between: 'a newer one took its place',
        event: ({ store }) => importFeed(store, kevCatalog([vulnerability], '2026-04-30T12:00:00.000Z')),
        after: feedsOf,
        equals: [],
      },
      { between: 'it was removed', event: removeFeed, status: 404, after: feedsOf, equals: [] },
      {
        between: 'another feed was imported',
        event: ({ store }) => importFeed(store, osvZip([{ id: 'USN-1-1', fixes: { 'Debian:12 openssl': '3' } }])),
        after: feedsOf,
        equals: ['debian'],
      },
    ],
  },
  withdraw_accepted_finding: {
    start: withFeed,
    async done(world) {
      const { acts, records } = world.store.beside;
      const now = () => world.store.clock.now;
      const component = { ecosystem: 'deb', name: 'openssl', version: '3.0.1' } as const;
      const distribution = { id: 'ubuntu', version: '22.04' };
      const bill = { distribution, files: ['snap/manifest.yaml'], gaps: [], components: [component] };
      await acts.do(storeBills, itself, { revisions: [{ packageId: world.id, revision: 1, bill }], manifests: [] });
      await matchBills({ records, now, signal: new AbortController().signal });
      await accept(world);
    },
    undone: withdraw,
    cases: [
      { between: 'nothing', after: state, equals: 'open' },
      {
        between: 'it was accepted again until another date',
        event: (world) => accept(world, days(60)),

        after: state,
        equals: 'open',
      },
      { between: 'it was withdrawn already', event: withdraw, status: 404, after: state, equals: 'open' },
      {
        between: 'it was withdrawn and accepted again',
        async event(world) {
          await withdraw(world);
          await accept(world);
        },

        after: state,
        equals: 'open',
      },
      {
        between: 'it became known to be exploited',
        event: ({ store }) => importFeed(store, kevCatalog([vulnerability])),

        after: state,
        equals: 'open',
      },
      { between: 'the package got another publisher', event: handOver, after: state, equals: 'open' },
    ],
  },
};
