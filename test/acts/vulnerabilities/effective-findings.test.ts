// Effective findings: by the feeds of this moment, with one finding per component and CVE.
import t from 'tap';

import { effectiveFindings } from '#acts/vulnerabilities/effective-findings.ts';
import { advisory, findingWorld, newSsl, oldSsl, publish, snapOf } from '#test/operations/vulnerabilities/world.ts';

t.test('a feed counts from its import on, before revisions were compared with it', async (t) => {
  const world = await findingWorld(t);
  const { records } = world.store.beside;
  await publish(world, 'snap', 'hello', { 'latest/stable': snapOf('hello', '1', `libssl3=${oldSsl}`) });
  const subject = (await records.packages.find('snap', 'hello'))!;
  const { version, sha256 } = (await records.revisions.find(subject.id, 1))!;
  const read = async (revision = 1) => {
    const at = world.store.clock.now.toISOString();
    const result = await effectiveFindings(records, { package: subject, revision, version, sha256 }, at);
    const { coverage, findings } = result;
    return [
      coverage,
      ...findings.map(({ vulnerability, state, isExploited }) => [vulnerability, state, isExploited].join(' ')),
    ];
  };
  t.same(await read(), ['release-not-covered']);
  t.same(await read(2), [undefined], 'an unknown revision is never clean');

  const both = {
    id: 'USN-1-1',
    fixes: { 'Ubuntu:22.04:LTS openssl': newSsl },
    upstream: ['CVE-2026-1001', 'CVE-2026-1002'],
  };
  await world.unmatched([advisory(1001), both]);
  t.same(
    await read(),
    ['covered', 'CVE-2026-1001 open false', 'CVE-2026-1002 open false'],
    'an advisory about two CVEs is two findings',
  );
  await world.exploited(['CVE-2026-1002']);
  t.same(await read(), ['covered', 'CVE-2026-1002 open true', 'CVE-2026-1001 open false'], 'one of them is exploited');
  const statement = {
    products: [{ '@id': 'pkg:snap/hello' }],
    status: 'not_affected',
    justification: 'component_not_present',
  };
  await world.vex([{ vulnerability: 'CVE-2026-1001', ...statement }]);
  t.same(
    await read(),
    ['covered', 'CVE-2026-1002 open true', 'CVE-2026-1001 not_affected false'],
    'one of them is decided',
  );
  await world.vex([{ vulnerability: 'USN-1-1', ...statement }]);
  t.same(
    (await read())[1],
    'CVE-2026-1002 not_affected true',
    'a statement about the advisory is about all of its CVEs',
  );
});

t.test('a finding ends when all revisions were compared with the feeds, and not before', async (t) => {
  const world = await findingWorld(t);
  const { ada, larder } = world;
  const { records } = world.store.beside;
  await publish(world, 'snap', 'hello', { 'latest/stable': snapOf('hello', '1', `libssl3=${oldSsl}`) });
  await world.advisories([advisory(1001)]);
  const { id } = (await records.packages.find('snap', 'hello'))!;
  const recorded = async () => {
    await world.record();
    return (await records.packageFindings.ofPackage(id)).map(({ vulnerability }) => vulnerability);
  };
  t.same(await recorded(), ['CVE-2026-1001']);
  await ada.push('snap', 'hello', snapOf('hello', '2', `libssl3=${newSsl}`));
  await ada.post('/v1/snap/hello/releases', [{ channel: 'latest/stable', revision: 2 }]);
  t.same(await recorded(), ['CVE-2026-1001']);
  t.match(await larder('feed match'), { code: 0 });
  t.same(await recorded(), []);
});
