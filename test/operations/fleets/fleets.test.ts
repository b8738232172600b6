// Fleets: other revisions for some devices, and what decides between fleets.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { findOldRevisions } from '#acts/revisions/old-revisions.ts';
import { deviceHeaders, refresh } from '#test/fixtures/devices.ts';
import { made, timestamp } from '#test/assertions/world.ts';
import { keep, modelOf } from '#test/operations/devices/world.ts';
import { pumpOf, refreshResult, refreshTo, startWithFleets } from './world.ts';

t.setTimeout(600_000);

t.test('the devices of a fleet get the revisions that it sets, and all others those of the store', async (t) => {
  const { store, id, fleet, release, root } = await startWithFleets(t);
  const [pump, mill] = [await pumpOf(store, 'pump', '0001'), await pumpOf(store, 'mill', '0001')];
  const refreshAll = async (channel = 'latest/stable') => [
    await refreshTo(store, id, { headers: pump, channel }),
    await refreshTo(store, id, { headers: mill, channel }),
    await refreshTo(store, id, { channel }),
  ];
  t.same(await refreshAll(), [3, 3, 3]);
  await fleet('create pumps --model acme/pump');
  t.same(await refreshAll(), [3, 3, 3], 'a new fleet changes nothing');

  t.match(
    await fleet('pin pumps snap/hello stable 2'),
    'For the fleet pumps, snap/hello latest/stable is pinned to 2 (amd64).',
  );
  for (let time = 0; time < 2; time++) t.same(await refreshAll(), [2, 3, 3], 'also from the cache');
  t.same(await refreshAll('edge'), [6, 6, 6], 'another channel');
  t.same(await refreshAll('latest/candidate'), [4, 4, 4]);
  await release('candidate', null);
  t.same(await refreshAll('latest/candidate'), [2, 3, 3], 'an empty channel falls back to the pinned one');
  await release('candidate', 4);
  await release('stable', 5);
  t.same(await refreshAll(), [2, 5, 5], 'a release does not reach a pinned channel');

  await fleet('hold pumps snap/hello stable');
  t.same(await refreshAll(), [5, 5, 5], 'held at the revision of now');
  await release('stable', 3);
  t.same(await refreshAll(), [5, 3, 3]);
  await fleet('follow pumps snap/hello stable=candidate');
  t.same(await refreshAll(), [4, 3, 3]);
  await release('candidate', 5);
  t.same(await refreshAll(), [5, 3, 3], 'a followed channel moves');
  await release('candidate', null);
  t.same(await refreshAll(), [3, 3, 3], 'and falls back as it does for others');
  await fleet('clear pumps snap/hello stable');
  t.same(await refreshAll(), [3, 3, 3]);

  // The same over HTTP, with the entries of the audit log.
  const at = '/internal/v1/packages/snap/hello/fleets/pumps';
  const set = { channel: 'stable', mode: 'pin', revision: 1 };
  t.match(await root.post(`${at}/channel`, set), { status: 200, body: { channels: [{ revision: 1, mode: 'pin' }] } });
  t.same(await refreshAll(), [1, 3, 3]);
  const shown = (await root.get('/internal/v1/fleets/pumps')).body;
  t.match(shown, { kind: 'model', 'device-count': 1, channels: [{ package: 'snap/hello', architecture: 'amd64' }] });
  for (const wrong of [
    { ...set, mode: 'hold' },
    { channel: 'stable', mode: 'pin' },
    { ...set, channel: 'no/such/a/b' },
  ])
    t.equal((await root.post(`${at}/channel`, wrong)).status, 400, JSON.stringify(wrong));
  t.equal((await (await store.as('ada')).post(`${at}/channel`, set)).status, 401, 'for administrators only');
  const [entry] = (await root.get('/internal/v1/audit?action=set_fleet_channel')).body['entries'] as object[];
  t.match(entry, {
    object: 'fleet/pumps',
    details: { changes: ['snap/hello:latest/stable (fleet pumps, amd64): as in the store → pinned to 1'] },
  });

  // Information and search agree with a refresh.
  const info = await store.anyone.get('/v2/snaps/info/hello?fields=revision', { ...deviceHeaders(), ...pump });
  const channels = info.body['channel-map'] as { channel: { name: string }; revision: number }[];
  t.equal(channels.find(({ channel }) => channel.name === 'stable')?.revision, 1);
  t.match(info.headers.get('vary'), /Snap-Device-Authorization/);
});

t.test('the most specific fleet decides about each channel, and explain says which', async (t) => {
  const { store, id, fleet, refused } = await startWithFleets(t);
  const device = await pumpOf(store, 'pump', '0001');
  const other = await pumpOf(store, 'pump', '0002');
  await fleet('create all --store larder');
  await fleet('create brands --brand acme');
  await fleet('create pumps --model acme/pump');
  await fleet('create ones --serial acme/pump/0001');
  await fleet('pin all snap/hello stable 1');
  t.equal(await refreshTo(store, id), 1, 'a device without a serial belongs to the fleet of its store');
  t.equal(await refreshTo(store, id, { headers: { 'snap-device-store': 'another' } }), 3);
  t.equal(await refreshTo(store, id, { headers: device }), 1);
  await fleet('pin brands snap/hello stable 2');
  t.equal(await refreshTo(store, id, { headers: device }), 2);
  await fleet('pin pumps snap/hello stable 4');
  t.equal(await refreshTo(store, id, { headers: device }), 4);
  await fleet('pin ones snap/hello stable 5');
  t.equal(await refreshTo(store, id, { headers: device }), 5);
  t.equal(await refreshTo(store, id, { headers: other }), 4, 'another serial');
  await fleet('pin brands snap/hello edge 1');
  t.equal(await refreshTo(store, id, { headers: device, channel: 'edge' }), 1, 'each channel is decided alone');

  const explained = await fleet('explain 0001 snap/hello');
  t.match(
    explained,
    'acme/pump/0001 is in the fleets ones (by serial), pumps (by model), brands (by brand), all (by store)',
  );
  t.match(explained, /latest\/stable +5 +ones +pinned to 5\n/);
  t.match(explained, /latest\/edge +1 +brands +pinned to 1\n/);
  t.match(explained, /latest\/candidate +4 +- +as in the store\n/);
  t.match(await refused('explain 0002 snap/hello'), 'No fleet and no issued serial names');
  t.match(await fleet('explain acme/pump/0002 snap/hello --channel stable'), /pumps +pinned to 4\n/);
  await fleet('add ones acme/mill/0001');
  t.match(await refused('explain 0001 snap/hello'), 'belongs to acme/mill/0001, acme/pump/0001');
});

t.test('input that contradicts itself, other fleets or the snap is refused with its reason', async (t) => {
  const { store, acme, fleet, refused, root } = await startWithFleets(t);
  await fleet('create pumps --model acme/pump');
  await fleet('create others --model acme/pump');
  await keep(store, await modelOf());
  await fleet('pin pumps snap/hello stable 2');
  t.match(
    await refused('pin others snap/hello stable 3'),
    "The fleets 'others' and 'pumps' both select acme/pump and differ about snap/hello latest/stable.",
  );
  await fleet('pin others snap/hello stable 2');
  t.match(await refused('pin others snap/hello stable 1'), 'differ about snap/hello latest/stable');
  await fleet('clear others snap/hello stable');
  t.match(await refused('hide others snap/hello'), 'differ about whether snap/hello is hidden');
  t.match(await refused('hide pumps snap/hello'), 'the fleet sets channels of the snap');
  await fleet('create mills --model acme/mill');
  await fleet('pin mills snap/hello stable 1');
  t.match(await refused('add mills acme/pump'), "'mills' and 'pumps' both select acme/pump");
  t.match(await refused('pin pumps snap/hello stable 7'), 'is for arm64, and the devices of the fleet');
  t.match(await refused('pin pumps snap/hello stable 9'), 'was never released');
  t.match(await refused('pin pumps snap/hello stable 77'), "'hello' has no revision 77");
  t.match(await refused('pin pumps snap/hello 3.0/stable 1'), "'hello' has no track '3.0'");
  t.match(await refused('pin pumps snap/hello stable 2'), 'is pinned to 2 already');
  t.match(await refused('pin ghosts snap/hello stable 2'), "There is no fleet 'ghosts'");
  t.match(await refused('follow pumps snap/hello stable=stable'), 'cannot follow itself');
  t.match(await refused('follow pumps snap/hello stable=edge'), 'cannot follow latest/edge');
  t.match(await refused('follow pumps snap/hello candidate=stable'), 'latest/candidate would follow latest/stable');
  await fleet('follow pumps snap/hello edge=beta');
  t.match(await refused('pin pumps snap/hello beta 2'), 'latest/edge would follow latest/beta');
  t.match(await refused('hold pumps snap/hello 1.0/stable'), "no track '1.0'");
  t.match(await refused('hold others snap/hello beta'), 'is empty, so there is nothing to hold');
  await root.post('/internal/v1/packages/snap/hello/revisions/4/withdraw', { reason: 'it loses data' });
  t.match(await refused('pin others snap/hello candidate 4'), 'is withdrawn and cannot be pinned');
  await acme.post('/v1/snap/hello/releases', [
    { channel: 'candidate', revision: 5, progressive: { percentage: 10, paused: false } },
  ]);
  t.match(await refused('hold others snap/hello candidate'), 'has a progressive release');
  await acme.post('/v1/snap', { name: 'empty' });
  t.match(await refused('pin pumps snap/empty stable 1'), 'is not released to any channel yet');
  await (await store.as('ada')).post('/v1/charm', { name: 'charmed' });
  t.match(await refused('pin pumps charm/charmed stable 1'), 'is not a snap');
  t.match(await refused('delete pumps'), 'still changes what its devices get');
  t.match(await refused('create Pumps --model acme/pump'), 'is not the name of a fleet');
  t.match(await refused('create pumps --model acme/pump'), "There is a fleet 'pumps' already");
  t.match(await refused('create x --model acme/pump --brand acme'), 'name devices of one kind');
  t.match(await refused('create x --serial acme/pump'), 'is not a device. Write BRAND/MODEL/SERIAL');
  t.match(await refused('create x --brand a/b'), 'is not the account id of a brand');
  t.match(await refused('remove pumps acme/valve'), 'selects these devices already, or never did');
  for (const [window, problem] of [
    ['Sat 02:00-02:00 UTC', 'is empty'],
    ['Sat 02:00-03:00 Mars/Olympus', 'is not a time zone'],
    ['Sat 2:00-3:00 UTC', 'is not a refresh window'],
    ['Sat 24:00-03:00 UTC', 'are no hours of a day'],
    ['Someday 02:00-03:00 UTC', 'names no days'],
  ] as const)
    t.match(await refused(`window pumps '${window}'`), problem, window);
  await fleet("window pumps 'Sat 02:00-05:00 UTC'");
  t.match(await refused("window others 'Sun 02:00-05:00 UTC'"), 'differ about the refresh window');
  const list = join(store.directory, '..', 'list.txt');
  writeFileSync(list, '# pilots\nacme/pump/0001\n\nacme/pump/0002\nnonsense\n');
  t.match(await refused(`create pilots --list ${list}`), "'nonsense' is not a device");
  writeFileSync(list, '# pilots\nacme/pump/0001\n\nacme/pump/0002\n');
  t.match(await fleet(`create pilots --list ${list}`), '2 entries');
  t.match(await fleet('show pilots'), 'acme/pump/0001, acme/pump/0002');
  t.match(await fleet('list'), /pilots +serial +2/);
  await fleet('remove pilots acme/pump/0002');
  await fleet('delete pilots');
  const filterOf = await store.beside.records.fleets.filterOf('pumps', 'larder');
  const among = (model: string) => filterOf?.({ brandId: 'acme', model, serial: '7' });
  t.same([among('pump'), among('mill')], [true, false]);
  t.equal(await store.beside.records.fleets.filterOf('pilots', 'larder'), undefined);
});

t.test('a withdrawn revision leaves a fleet at once, and does not come back by itself', async (t) => {
  const { store, id, fleet, root } = await startWithFleets(t);
  const device = await pumpOf(store, 'pump', '0001');
  await fleet('create pumps --model acme/pump');
  await fleet('pin pumps snap/hello candidate 2');
  const refreshDevice = (channel = 'candidate') => refreshTo(store, id, { headers: device, channel });
  t.equal(await refreshDevice(), 2);
  const revision = '/internal/v1/packages/snap/hello/revisions/2';
  await root.post(`${revision}/withdraw`, { reason: 'it loses data' });
  t.equal(
    await refreshDevice(),
    null,
    'the device keeps its revision, and gets no revision that the fleet did not choose',
  );
  t.equal(await refreshDevice('edge'), 6);
  t.match(
    await fleet('explain acme/pump/0001 snap/hello --channel candidate'),
    /none +pumps +pinned to 2, which was withdrawn; it gives nothing until the fleet sets it again/,
  );
  t.equal((await root.post(`${revision}/restore`, undefined)).status < 300, true);
  t.equal(await refreshDevice(), null, 'approvers saw another state');
  await fleet('pin pumps snap/hello candidate 2');
  t.equal(await refreshDevice(), 2);

  const subject = { id, namespace: 'snap', name: 'hello' } as const;
  const old = async () =>
    (await findOldRevisions(store.beside.records, subject, { keep: 1 }, store.clock.now.toISOString())).revisions.map(
      ({ revision }) => revision,
    );
  t.same(await old(), [1, 5], 'retention keeps a pinned revision');
  await fleet('clear pumps snap/hello candidate');
  t.same(await old(), [1, 2, 5]);
});

t.test(
  'a pinned revision of all architectures reaches every device, and one of another architecture only its own',
  async (t) => {
    const { store, id, fleet } = await startWithFleets(t);
    const device = await pumpOf(store, 'pump', '0001');
    const refreshFor = (architecture: string) =>
      refreshTo(store, id, { headers: { ...device, 'snap-device-architecture': architecture }, channel: 'edge' });
    await fleet('create pumps --model acme/pump');
    await fleet('pin pumps snap/hello edge 7');
    t.same([await refreshFor('amd64'), await refreshFor('arm64')], [6, 7]);
    await fleet('pin pumps snap/hello edge 5');
    t.same([await refreshFor('amd64'), await refreshFor('arm64')], [5, 7], 'each architecture has its pin');
    await fleet('pin pumps snap/hello edge 8');
    t.same([await refreshFor('amd64'), await refreshFor('arm64'), await refreshFor('riscv64')], [8, 8, 8]);
  },
);

t.test('a revision by number, and one that a validation set names, precede a fleet', async (t) => {
  const { store, id, fleet } = await startWithFleets(t);
  const device = await pumpOf(store, 'pump', '0001');
  const set = { series: '16', 'account-id': 'acme', name: 'pumps', sequence: '1', timestamp };
  await keep(
    store,
    await made('ada', 'acme', 'validation-set', { ...set, snaps: [{ name: 'hello', id, revision: '5' }] }),
  );
  await fleet('create pumps --model acme/pump');
  const byNumber = async (revision: number, sets: string[][] = []) => {
    const context = { 'snap-id': id, 'instance-key': id, revision: 1, 'tracking-channel': 'latest/stable' };
    const action = { action: 'refresh', 'snap-id': id, 'instance-key': id, revision, 'validation-sets': sets } as const;
    const [result] = await refresh(store, [action], [context], { ...device, 'snap-refresh-reason': 'scheduled' });
    return result?.snap?.revision ?? result?.error?.code;
  };
  const validationSets = [['16', 'acme', 'pumps', '1']];
  await fleet('pin pumps snap/hello stable 2');
  t.same([await byNumber(5), await byNumber(5, validationSets)], ['revision-not-found', 5]);
  t.same([await byNumber(2), await byNumber(3)], [2, 3], 'by hand: a revision of the fleet, or of the store');
  await fleet('clear pumps snap/hello stable');
  await fleet('hide pumps snap/hello');
  t.same([await byNumber(3), await byNumber(5, validationSets)], ['revision-not-found', 5]);
  await fleet("window pumps 'Sat 02:00-05:00 UTC'");
  t.equal(await byNumber(5, validationSets), 5, 'also outside the refresh window');
});

t.test('a hidden snap does not exist for the devices of the fleet', async (t) => {
  const { store, id, fleet, release } = await startWithFleets(t);
  const [pump, mill] = [await pumpOf(store, 'pump', '0001'), await pumpOf(store, 'mill', '0001')];
  await release('stable', 4);
  await fleet('create pumps --model acme/pump');
  const askAll = async (headers: Record<string, string>) => [
    (await refreshResult(store, id, { headers })).result,
    (await refresh(store, [{ action: 'install', name: 'hello' }], [], headers))[0]?.result,
    (await store.anyone.get('/v2/snaps/info/hello', headers)).status,
    ((await store.anyone.get('/v2/snaps/find?q=hello&architecture=amd64', headers)).body['results'] as unknown[])
      .length,
  ];
  t.same(await askAll(pump), ['refresh', 'install', 200, 1]);
  await fleet('hide pumps snap/hello');
  t.same(await askAll(pump), ['error', 'error', 404, 0]);
  t.same(await askAll(mill), ['refresh', 'install', 200, 1]);
  t.match(await fleet('explain acme/pump/0001 snap/hello'), 'The fleet pumps hides snap/hello');
  await fleet('create ones --serial acme/pump/0001');
  await fleet('pin ones snap/hello edge 2');
  t.equal(await refreshTo(store, id, { headers: pump, channel: 'edge' }), 2, 'a more specific fleet shows it');
  await fleet('clear ones snap/hello edge');
  await fleet('unhide pumps snap/hello');
  t.same(await askAll(pump), ['refresh', 'install', 200, 1]);
});

t.test('outside its refresh window a fleet gives new revisions only by hand and for installs', async (t) => {
  const { store, id, fleet } = await startWithFleets(t);
  await fleet('create pumps --model acme/pump');
  await fleet("window pumps 'Sat 23:00-01:00 Europe/Berlin'");
  const at = async (moment: string) => {
    store.clock.advance(Date.parse(moment) - store.clock.now.getTime());
    const headers = await pumpOf(store, 'pump', '0001');
    const [install] = await refresh(store, [{ action: 'install', name: 'hello' }], [], headers);
    const scheduled = { ...headers, 'snap-refresh-reason': 'scheduled' };
    return [
      await refreshTo(store, id, { headers: scheduled, revision: 2 }),
      await refreshTo(store, id, { headers: scheduled, revision: 1 }),
      await refreshTo(store, id, { headers, revision: 2 }),
      install?.snap?.revision,
    ];
  };
  const year = store.clock.now.getUTCFullYear() + 1;
  // The first Saturday of July: in summer Berlin is two hours before UTC.
  const saturday = new Date(Date.UTC(year, 6, 1));
  while (saturday.getUTCDay() !== 6) saturday.setUTCDate(saturday.getUTCDate() + 1);
  const day = saturday.toISOString().slice(0, 10);
  t.same(await at(`${day}T20:59:00Z`), [2, 1, 3, 3], 'closed: each device keeps its revision');
  t.same(await at(`${day}T20:59:30Z`), [2, 1, 3, 3], 'from the cache, too');
  t.match(await fleet('explain acme/pump/0001 snap/hello'), /Sat 23:00-01:00 Europe\/Berlin \(fleet pumps\)/);
  t.same(await at(`${day}T21:00:00Z`), [3, 3, 3, 3], 'open');
  t.same(await at(`${day}T22:59:00Z`), [3, 3, 3, 3], 'after midnight in Berlin');
  t.same(await at(`${day}T23:00:00Z`), [2, 1, 3, 3], 'closed again');
});

t.test('fleets are changed over HTTP with the same rules', async (t) => {
  const { store, id, root } = await startWithFleets(t);
  const device = await pumpOf(store, 'pump', '0001');
  const at = '/internal/v1/fleets';
  const created = await root.post(at, { name: 'pumps', kind: 'model', devices: ['acme/pump'] });
  t.match(created, { status: 201, body: { name: 'pumps', kind: 'model', window: null } });
  t.equal((await root.post(at, { name: 'pumps', kind: 'brand', devices: ['acme'] })).status, 409);
  t.match((await root.get(at)).body, { fleets: [{ name: 'pumps' }], 'next-cursor': null });
  const added = await root.post(`${at}/pumps/devices`, { add: ['acme/valve'], remove: ['acme/nothing'] });
  t.match(added, { status: 200, body: { added: 1, removed: 0 } });
  t.same((await root.get(`${at}/pumps/devices`)).body, { devices: ['acme/pump', 'acme/valve'], 'next-cursor': null });
  const both = await root.post(`${at}/pumps/devices`, { add: ['acme/mill'], remove: ['acme/mill'] });
  t.match(both, { status: 400, body: { 'error-list': [{ message: /acme\/mill is named twice/ }] } });
  const window = await root.post(`${at}/pumps/window`, { window: 'Mon-Tue,Sat 02:00-05:00 utc' });
  t.match(window, { status: 200, body: { window: 'Mon,Tue,Sat 02:00-05:00 UTC' } });
  t.equal((await root.post(`${at}/pumps/window`, { window: 'Mon,Tue,Sat 02:00-05:00 UTC' })).status, 409);
  const visibility = '/internal/v1/packages/snap/hello/fleets/pumps/visibility';
  t.equal((await root.post(visibility, { hidden: true })).status, 204);
  t.equal(await refreshTo(store, id, { headers: device }), null);
  t.match((await root.get(`${at}/pumps`)).body, { hidden: ['snap/hello'], channels: [], 'device-count': 2 });
  const explanation = '/internal/v1/packages/snap/hello/fleet-explanation?device=acme/pump/0001';
  t.match((await root.get(explanation)).body, { 'hidden-by': 'pumps', window: { fleet: 'pumps' }, channels: [] });
  t.equal((await root.post(visibility, { hidden: false })).status, 204);
  t.match((await root.get(`${explanation}&channel=stable`)).body, { channels: [{ revision: 3, fleet: null }] });
  t.equal((await root.delete(`${at}/pumps`)).status, 409, 'it has a refresh window');
  await root.post(`${at}/pumps/window`, { window: null });
  t.equal((await root.delete(`${at}/pumps`)).status, 204);
  t.equal((await root.get(`${at}/pumps`)).status, 404);
});
