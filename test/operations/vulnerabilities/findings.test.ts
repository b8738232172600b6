// Known vulnerabilities of revisions: over HTTP and by command, with VEX statements and acceptances.
import t from 'tap';

import { days } from '#domain/clock.ts';
import { advisory, alpineRock, charmOf, findingWorld, newSsl, oldSsl, publish, snapOf } from './world.ts';

const remembering = (text: string): string => text.replace(/^# remember = false$/m, 'remember = true');

t.test('the vulnerabilities of revisions are listed with channel, component, fix and devices', async (t) => {
  const world = await findingWorld(t, remembering);
  const { store, ada, root, larder, json } = world;
  const bob = await store.as('bob');
  await publish(world, 'snap', 'hello', {
    'latest/stable': snapOf('hello', '1', `libssl3=${oldSsl}`),
    'latest/edge': snapOf('hello', '2', `libssl3=${newSsl}`),
  });
  await publish(world, 'snap', 'torn', { 'latest/stable': snapOf('torn', '1', `libssl3=${newSsl}, torn`) });
  await publish(world, 'snap', 'silent', { 'latest/stable': snapOf('silent', '1') });
  await publish(world, 'snap', 'focal', {
    'latest/stable': snapOf('focal', '1', 'libssl1.1=1.1.1f-1ubuntu2', 'core20'),
  });
  await publish(world, 'charm', 'greeter', { 'latest/stable': charmOf('greeter') });
  await publish(world, 'rock', 'stone', { 'latest/stable': alpineRock('stone') });
  const list = async (query = '') => (await root.get(`/internal/v1/findings${query}`)).body;

  await t.test('nothing counts as clean before a feed is imported', async (t) => {
    const { revisions } = await list();
    t.same(
      (revisions as { package: string; coverage: string }[]).map((listed) => `${listed.package} ${listed.coverage}`),
      ['charm/greeter', 'rock/stone', 'snap/focal', 'snap/hello', 'snap/hello', 'snap/silent', 'snap/torn'].map(
        (name) => `${name} not-matched`,
      ),
    );
  });

  await world.advisories([advisory(1001), advisory(1002, 'low')]);
  await world.exploited(['CVE-2026-1002']);
  t.match(await world.record(), { recorded: 1 });

  await t.test('the list has every finding, and every revision about which nothing is known', async (t) => {
    const { revisions } = await list();
    t.match(revisions, [
      { package: 'charm/greeter', coverage: 'ecosystem-not-covered', unchecked: ['pypi'], findings: [] },
      { package: 'rock/stone', coverage: 'release-unknown' },
      { package: 'snap/focal', coverage: 'release-not-covered', release: 'ubuntu:20.04' },
      {
        package: 'snap/hello',
        revision: 1,
        channels: ['latest/stable'],
        coverage: 'covered',
        'open-findings': 2,
        findings: [
          { vulnerability: 'CVE-2026-1002', severity: 'low', 'known-exploited': true, state: 'open' },
          {
            vulnerability: 'CVE-2026-1001',
            advisories: ['UBUNTU-CVE-2026-1001'],
            severity: 'high',
            'known-exploited': false,
            component: { ecosystem: 'deb', name: 'libssl3', version: oldSsl },
            'fixed-in': newSsl,
            since: '2026-05-01T12:00:00.000Z',
          },
        ],
      },
      { package: 'snap/silent', coverage: 'no-bill' },
      { package: 'snap/torn', coverage: 'covered', incomplete: true, findings: [] },
    ]);
    t.equal(revisions.length, 6, 'the revision with the fix is not listed');
  });

  await t.test('filters select findings, and never hide a revision about which nothing is known', async (t) => {
    const search = async (query: string) =>
      ((await list(query)).revisions as { findings: { vulnerability: string }[] }[]).flatMap(({ findings }) =>
        findings.map(({ vulnerability }) => vulnerability),
      );
    t.same(await search('?severity=high'), ['CVE-2026-1001']);
    t.same(await search('?severity=negligible&known-exploited=true'), ['CVE-2026-1002']);
    t.same(await search('?new-since=2026-05-01T12:00:00.001Z'), []);
    t.equal((await search('?new-since=2026-05-01T12:00:00Z')).length, 2);
    t.equal((await list('?severity=critical')).revisions.length, 5);
    for (const query of ['?severity=grave', '?known-exploited=1', '?new-since=today', '?cursor=x'])
      t.equal((await root.get(`/internal/v1/findings${query}`)).status, 400, query);
  });

  await t.test('the command prints the same as a table, and counts devices', async (t) => {
    const [{ id }] = (await ada.get('/v1/snap?fields=id,name')).body.results.filter(
      ({ name }: { name: string }) => name === 'hello',
    );
    const { records } = store.beside;
    const at = store.clock.now.toISOString();
    for (const [serial, revision] of [1, 1, 2].entries())
      records.noteContact({
        brand: 'acme',
        model: 'box',
        serial: String(serial),
        at,
        holds: [{ packageId: id, revision }],
      });
    await records.writeContacts();
    const { out } = await larder('vulnerabilities');
    t.match(out, /^SEVERITY +VULNERABILITY +PACKAGE +REVISION +CHANNELS +COMPONENT +FIXED IN +DEVICES$/m);
    t.match(
      out,
      /^low, exploited +CVE-2026-1002 +snap\/hello +1 +latest\/stable +libssl3 3\.0\.2-0ubuntu1\.1 +3\.0\.2-0ubuntu1\.20 +2$/m,
    );
    t.match(out, /snap\/silent revision 1: Unknown: it lists no contents\./);
    t.match(out, /snap\/focal revision 1: Not covered: no feed covers ubuntu:20\.04\./);
    t.match((await json('vulnerabilities --package snap/hello --severity high')).revisions, [
      { revision: 2, devices: 1, findings: [] },
      { revision: 1, devices: 2, findings: [{ vulnerability: 'CVE-2026-1001' }] },
    ]);
    t.match(await larder('vulnerabilities --new-since 2026-05-02 --package snap/hello'), { out: /no such findings/ });
    t.match(await larder('vulnerabilities --severity grave'), { code: 2 });
  });

  await t.test('a fleet lists the revisions that its devices have or get', async (t) => {
    for (const line of ['fleet create pumps --serial acme/box/0', 'fleet create idle --serial acme/box/9'])
      t.match(await larder(line), { code: 0 }, line);
    const ofFleet = async (name: string) => (await list(`?fleet=${name}`)).revisions;
    t.match(await ofFleet('pumps'), [
      { package: 'snap/hello', revision: 1, channels: [], devices: 1, 'open-findings': 2 },
    ]);
    t.equal((await ofFleet('pumps')).length, 1, 'no other device has an unknown revision');
    t.same(await ofFleet('idle'), []);
    t.match(await larder('fleet pin idle snap/hello edge 1'), { code: 0 });
    t.match(await ofFleet('idle'), [{ revision: 1, channels: ['latest/edge (a fleet)'], devices: 0 }]);
    t.same((await ofFleet('pumps'))[0].channels, [], 'the setting of another fleet');
    t.match((await list('')).revisions[3], { channels: ['latest/stable', 'latest/edge (a fleet)'], devices: 2 });
    t.match(
      (await larder('vulnerabilities --fleet pumps --severity high')).out,
      /^high +CVE-2026-1001 +snap\/hello +1 +- .* 1$/m,
    );
    t.match(await larder('vulnerabilities --fleet nurses'), { code: 1, err: /There is no fleet 'nurses'/ });
    t.equal((await root.get('/internal/v1/findings?fleet=nurses')).status, 404);
    t.match(await larder('fleet clear idle snap/hello edge'), { code: 0 });
  });

  await t.test('a publisher sees the findings of their own packages only', async (t) => {
    const findings = '/internal/v1/packages/snap/hello/findings';
    t.equal((await ada.get(findings)).body.revisions.length, 2);
    t.equal((await bob.get(findings)).status, 404);
    t.equal((await ada.get('/internal/v1/findings')).status, 401);
    t.equal((await store.anyone.get(findings)).status, 401);
  });

  const at = '/internal/v1/packages/snap/hello';
  /** The finding of the first revision, at the time of the still clock. */
  const findingOf = async (vulnerability: string) => {
    const { revisions } = (await root.get(`${at}/findings?all=true`)).body;
    return revisions[1].findings.find((finding: { vulnerability: string }) => finding.vulnerability === vulnerability);
  };

  await t.test('a VEX statement suppresses a finding with its reason, until a newer one says otherwise', async (t) => {
    const about = { vulnerability: 'CVE-2026-1001', products: [{ '@id': 'pkg:snap/hello' }] };
    await world.vex([{ ...about, status: 'not_affected', justification: 'vulnerable_code_not_in_execute_path' }]);
    const suppressed = { state: 'not_affected', reason: 'vulnerable_code_not_in_execute_path', source: /^vex-/ };
    t.match(await findingOf('CVE-2026-1001'), suppressed);
    t.match((await larder('vulnerabilities --all')).out, /not affected by vex-.*: vulnerable_code_not_in_execute_path/);
    t.notMatch((await larder('vulnerabilities')).out, /CVE-2026-1001/);
    await world.vex([{ ...about, status: 'affected' }], '2026-04-29T09:00:00Z');
    t.match(await findingOf('CVE-2026-1001'), { state: 'open' });
  });

  const acceptance = { vulnerability: 'CVE-2026-1001', until: '2026-06-01T00:00:00Z', reason: 'The port is closed.' };

  await t.test('an administrator accepts a finding until a date', async (t) => {
    const accept = async (change: Partial<typeof acceptance>, client = root) =>
      (await client.post(`${at}/accepted-findings`, { ...acceptance, ...change })).status;
    t.equal(await accept({}, ada), 401, 'not the publisher');
    t.equal(await accept({ until: '2026-05-01T12:00:00Z' }), 400, 'not in the past');
    t.equal(await accept({ until: '2027-06-01T00:00:00Z' }), 400, 'not for more than a year');
    t.equal(await accept({ vulnerability: 'CVE-2026-9999' }), 404);
    t.equal(await accept({ reason: ' ' }), 400);
    const accepted = {
      package: 'snap/hello',
      severity: 'high',
      'known-exploited': false,
      'accepted-by': store.ids.root,
    };
    const both = [1, 2].map(() => root.post(`${at}/accepted-findings`, acceptance));
    t.match(
      await Promise.all(both),
      [1, 2].map(() => ({ status: 200, body: accepted })),
      'two at once are one',
    );
    t.match((await root.get('/internal/v1/accepted-findings')).body.accepted, [accepted]);
    t.match(await findingOf('CVE-2026-1001'), {
      state: 'accepted',
      until: '2026-06-01T00:00:00.000Z',
      reason: acceptance.reason,
    });
    t.match((await root.get(`${at}/findings`)).body.revisions[1], { 'open-findings': 1, findings: [{}] });
    const { entries } = (await root.get('/internal/v1/audit?action=accept_finding')).body;
    t.match(entries, [
      { object: 'snap/hello', details: { vulnerability: 'CVE-2026-1001', because: acceptance.reason } },
    ]);
    store.clock.advance(days(32));
    t.match(await findingOf('CVE-2026-1001'), { state: 'open' }, 'it counts again at its date');
    const ends = [1, 2].map(() => root.delete(`${at}/accepted-findings/CVE-2026-1001`));
    t.same((await Promise.all(ends)).map(({ status }) => status).sort(), [204, 404], 'two at once are one');
  });

  await t.test('an acceptance ends when the vulnerability becomes known to be exploited', async (t) => {
    await root.post(`${at}/accepted-findings`, { ...acceptance, until: '2026-07-01T00:00:00Z' });
    t.match(await findingOf('CVE-2026-1001'), { state: 'accepted' });
    await world.exploited(['CVE-2026-1001', 'CVE-2026-1002']);
    t.match(await findingOf('CVE-2026-1001'), { state: 'open', 'known-exploited': true });
  });

  await t.test('the command accepts too, and doctor names acceptances that end', async (t) => {
    const acceptances = async () => /Acceptances: .*/.exec((await larder('doctor')).out)?.[0];
    t.match(await larder('vulnerability withdraw snap/hello CVE-2026-1001'), { code: 0 });
    t.match(await acceptances(), /no accepted vulnerability counts again/);
    const tomorrow = new Date(Date.now() + days(1)).toISOString().slice(0, 10);
    t.match(await larder(`vulnerability accept snap/hello CVE-2026-1001 --until ${tomorrow} --reason 'Until then.'`), {
      code: 0,
      out: /CVE-2026-1001 \(high, known to be exploited\) of snap\/hello is accepted until/,
    });
    t.match(
      (await larder('vulnerability accepted')).out,
      /^snap\/hello +CVE-2026-1001 +high +2\d{3}-\d\d-\d\d +cli:\S+ +Until then\.$/m,
    );
    t.match((await larder('vulnerabilities --all')).out, /accepted until 2\d{3}-\d\d-\d\d: Until then\./);
    t.match(await acceptances(), /1 acceptance of a vulnerability ends soon, first CVE-2026-1001 of/);
  });

  await t.test('new findings are in the change feed, with the package', async (t) => {
    const { next } = (await root.get('/internal/v1/changes')).body;
    const modified = '2026-06-01T10:00:00Z';
    await world.advisories([
      { ...advisory(1001), modified },
      { ...advisory(1003, 'critical'), modified },
    ]);
    await world.record();
    const { changes } = (await root.get(`/internal/v1/changes?since=${next}`)).body;
    t.match(
      changes.filter(({ act }: { act: string }) => act === 'record_findings'),
      [{ object: 'snap/hello' }],
    );
    const [entry] = (await root.get('/internal/v1/audit?action=record_findings')).body.entries;
    t.match(entry, { details: { new: 1, ended: 1, vulnerabilities: ['CVE-2026-1003'] } });
    t.match(await world.record(), {}, 'nothing is recorded twice');
    const { revisions } = await list('?new-since=2026-05-20T00:00:00Z');
    t.match(
      revisions.flatMap(({ findings }: { findings: object[] }) => findings),
      [{ vulnerability: 'CVE-2026-1003' }],
    );
  });
});
