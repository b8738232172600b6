// The job that matches: a few new revisions at once, and all of them in a thread after a feed that needs an index.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { matchBills } from '#jobs/vulnerabilities/match-bills.ts';
import { matchVulnerabilities } from '#jobs/vulnerabilities/match-vulnerabilities.ts';
import { createLeases } from '#shared/leases.ts';
import { commandsOn } from '#test/cli/process.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { squashfsImage } from '#test/fixtures/packages/squashfs-image.ts';
import { osvZip } from '#test/fixtures/vulnerabilities/feeds.ts';

t.test('a new revision is matched without a command, and a feed without an index by one', async (t) => {
  const store = await startStore(t);
  const { records } = store.beside;
  const ada = await store.as('ada');
  const commands = commandsOn(store.directory);
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const push = (version: string) =>
    ada.push(
      'snap',
      'hello',
      squashfsImage({
        'meta/snap.yaml': `name: hello\nversion: '${version}'\nbase: core22\n`,
        'snap/manifest.yaml': `primed-stage-packages: [libssl3=3.0.${version}]\n`,
      }),
    );
  let started = 0;
  const job = matchVulnerabilities({
    records,
    now: () => store.clock.now,
    signal: new AbortController().signal,
    match: async () => {
      started++;
      return commands.json('feed match');
    },
  });

  await push('1');
  t.same(await job.run(), { revisions: 1, images: 0, indexed: 0 });
  t.match(await records.findings.ofRevision(id, 1), { coverage: 'release-not-covered' });
  t.same(await job.run(), {}, 'nothing has changed');

  const file = join(store.directory, 'osv.zip');
  const fixes = { 'Ubuntu:22.04:LTS openssl': '3.0.9' };
  writeFileSync(file, osvZip([{ id: 'USN-1-1', fixes, binaries: { libssl3: '3.0.9' } }]));
  await commands.json(`feed import ${file}`);
  t.same(await job.run(), { revisions: 1, images: 0, indexed: 0 });
  await push('2');
  t.same(await job.run(), { revisions: 1, images: 0, indexed: 0 });
  t.match(await records.findings.ofRevision(id, 2), { findings: [{ advisory: 'USN-1-1', fixed: '3.0.9' }] });
  t.equal(started, 0);

  // As after the restore of a backup, which has no index.
  const [index] = await records.feedIndexes.inForce();
  await store.beside.records.change(
    { at: store.clock.now.toISOString(), actor: 'test', action: 'test', object: 'feed/ubuntu' },
    (tx) => tx.vulnerabilityFeeds.endIndex('ubuntu'),
  );
  t.equal(index?.source, 'ubuntu');
  t.same(await job.run(), { revisions: 0, images: 0, indexed: 1 });
  t.equal(started, 1);
  t.match(await commands.json('feed list'), { feeds: [{ 'in-force': true }] });
});

t.test('a stop ends the matching of a few revisions without a failure, and the next start matches them', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  await ada.push('snap', 'hello', squashfsImage({ 'meta/snap.yaml': "name: hello\nversion: '1'\nbase: core22\n" }));
  const stopping = new AbortController();
  const jobOf = (signal: AbortSignal) =>
    matchVulnerabilities({
      records: store.beside.records,
      now: () => store.clock.now,
      signal,
      match: () => t.fail('a few revisions need no thread') as never,
    });
  const job = jobOf(stopping.signal);
  stopping.abort();
  t.same(await job.run(), {});
  t.match(await jobOf(new AbortController().signal).run(), { revisions: 1 });
});

t.test('a process that matches waits for another one that does', async (t) => {
  const store = await startStore(t);
  const { records } = store.beside;
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const now = () => store.clock.now;
  const [begun, ended] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const other = createLeases({ records, holder: 'another process', now }).withLease('matching of bills', () => {
    begun.resolve(undefined);
    return ended.promise;
  });
  await begun.promise;
  await ada.push('snap', 'hello', squashfsImage({ 'meta/snap.yaml': "name: hello\nversion: '1'\nbase: core22\n" }));
  const tried = Promise.withResolvers<undefined>();
  const { signal } = new AbortController();
  const tells = () => {
    tried.resolve(undefined);
    return now();
  };
  const matching = matchBills({ records, now: tells, signal });
  await Promise.race([matching, tried.promise]);
  t.equal(await records.findings.ofRevision(id, 1), undefined);
  ended.resolve(undefined);
  await other;
  t.same(await matching, { revisions: 1, images: 0 });
  t.match(await records.findings.ofRevision(id, 1), { coverage: 'no-bill' });
});

t.test('the complete index of a feed in a waiting transfer is kept for its acceptance', async (t) => {
  const { records } = (await startStore(t)).beside;
  const [startedAt, endsAt, before] = ['2026-01-01', '2026-02-01', '2026-01-02'].map((day) => `${day}T00:00:00.000Z`);
  const sha3_384 = 'a'.repeat(96);
  const [complete, begun] = await records.ephemeral(async ({ feedIndexes, transfers }) => {
    await transfers.arrive('0'.repeat(64), sha3_384, endsAt!);
    const first = await feedIndexes.begin({ sha3_384, startedAt: startedAt! });
    const second = await feedIndexes.begin({ sha3_384, startedAt: startedAt! });
    await feedIndexes.complete({ id: first, source: 'ubuntu', format: 'osv', releases: [] });
    return [first, second];
  });
  t.same(await records.feedIndexes.unneeded(before!), [begun], 'an interrupted one is not');
  await records.ephemeral(({ transfers }) => transfers.sweep(endsAt!));
  t.same(await records.feedIndexes.unneeded(before!), [complete, begun]);
});
