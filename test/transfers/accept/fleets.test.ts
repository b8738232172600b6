// Fleets travel in transfers: by name only, each row seen by people, and never over edits of the receiver.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import type { TransferFleet } from '#contract/wire.ts';
import { folder } from '#test/cli/process.ts';
import { offered } from '#test/fixtures/packages/online-store.ts';
import { refreshTo } from '#test/operations/fleets/world.ts';
import { carryTo, site, trust } from '../sites.ts';
import { depotAndShip, fleet, forging, type Preview } from './ship-world.ts';

t.setTimeout(600_000);

const linesOf = ({ lines }: Preview): string[] =>
  lines
    .filter(({ kind }) => kind === 'fleet')
    .map(({ package: called, what: object, from, to }) => `${called} ${object}: ${from ?? '-'} → ${to ?? '-'}`);

t.test('a fleet comes with a transfer as it was previewed, stays as it was edited, and can be withdrawn', async (t) => {
  const { depot, store, run, done, json, carry, stick } = await depotAndShip(t);
  const bring = carryTo(depot, stick);
  await bring(offered('hello-on', 1));
  await done(`transfer accept ${(await carry('snap/*')).id} --yes`);
  await bring(offered('hello-on', 2));
  for (const line of [
    'create pumps --store pumps',
    'pin pumps snap/hello-on stable 1',
    "window pumps 'Mon-Fri 22:00-04:00 Europe/Berlin'",
    'create pilots --serial acme/pump/0001',
    'hide pilots snap/hello-on',
    'create idle --model acme/mill',
  ])
    await depot.done(`fleet ${line}`);

  const without = await carry('*/*');
  t.same(linesOf(without.preview), [], 'fleets are named, or stay');
  await done(`transfer accept ${without.id} --yes`);
  const { id } = (await store.beside.records.packages.find('snap', 'hello-on'))!;
  const refreshInFleet = () => refreshTo(store, id, { revision: 7, headers: { 'snap-device-store': 'pumps' } });
  const elsewhere = () => refreshTo(store, id, { revision: 7 });
  t.same([await refreshInFleet(), await elsewhere()], [2, 2]);

  const first = await carry('fleet/*');
  t.same(first.preview.problems, []);
  t.same(linesOf(first.preview), [
    'fleet/idle rule: - → by model',
    'fleet/idle device acme/mill: - → in the fleet',
    'fleet/pilots rule: - → by serial',
    'fleet/pilots device acme/pump/0001: - → in the fleet',
    'fleet/pilots snap/hello-on: shown → hidden',
    'fleet/pilots all devices: without effect → acme/pump/0001',
    'fleet/pumps rule: - → by store',
    'fleet/pumps device pumps: - → in the fleet',
    'fleet/pumps snap/hello-on latest/stable (amd64): as in the store → pinned to 1',
    'fleet/pumps refresh window: - → Mon,Tue,Wed,Thu,Fri 22:00-04:00 Europe/Berlin',
    'fleet/pumps all devices: without effect → pumps',
  ]);
  t.same((await done(`transfer accept ${first.id} --yes`)).lines, [
    'snap/hello-on:* fleet pilots: shown → hidden',
    'snap/hello-on:* fleet pilots, devices: without effect → acme/pump/0001',
    'snap/hello-on:latest/stable fleet pumps, amd64: as in the store → pinned to 1',
    'fleet/pumps refresh window: - → Mon,Tue,Wed,Thu,Fri 22:00-04:00 Europe/Berlin',
    'snap/hello-on:latest/stable fleet pumps, devices: without effect → pumps',
  ]);
  t.same([await refreshInFleet(), await elsewhere()], [1, 2], 'the next call of a device has the new revision');
  t.match(await json('fleet explain acme/pump/9 snap/hello-on --channel stable --store pumps'), {
    channels: [{ revision: 1, fleet: 'pumps', because: 'pinned to 1, by the site depot' }],
  });
  t.match(await json('fleet show pumps'), { source: 'depot', window: 'Mon,Tue,Wed,Thu,Fri 22:00-04:00 Europe/Berlin' });
  const file = join(stick, 'receipt.json');
  await done(`transfer receipt ${first.id} ${file}`);
  const receipt = JSON.parse(readFileSync(file, 'utf8')) as { payload: string };
  const { fleets, lines } = JSON.parse(Buffer.from(receipt.payload, 'base64').toString()) as Record<string, unknown[]>;
  t.same([fleets, lines?.length], [undefined, 11], 'the receipt has the lines, and not the data of the rollback');
  t.match(
    await json(`audit list --object transfer/${first.id} --action accept_transfer`),
    { entries: [{ details: { changes: 11, lines: first.preview.lines.map(() => /^fleet\//) } }] },
    'the audit log has the lines',
  );
  const same = await carry('fleet/pumps');
  t.match(same.preview, {
    lines: [],
    'left-out': [
      { what: 'fleet/pumps', why: 'It is here already.' },
      { what: 'fleet/idle', why: "It came from 'depot' earlier and is not in this transfer, so it stays as it is." },
      { what: 'fleet/pilots' },
    ],
  });

  await done("fleet window pumps 'daily 01:00-02:00 UTC'");
  await depot.done('fleet window pumps none');
  await depot.done('fleet clear pumps snap/hello-on stable');
  await depot.done('fleet follow pumps snap/hello-on candidate=stable');
  await depot.done('fleet add pumps more');
  const second = await carry('fleet/pumps');
  t.same(linesOf(second.preview), [
    'fleet/pumps device more: - → in the fleet',
    'fleet/pumps snap/hello-on latest/stable (amd64): pinned to 1 → as in the store',
    'fleet/pumps snap/hello-on latest/candidate: as in the store → follows latest/stable',
  ]);
  t.match(second.preview['left-out'][0], {
    what: 'fleet/pumps',
    why: 'The refresh window is daily 01:00-02:00 UTC here and not set at its source. It was edited here and is not changed.',
  });
  await done(`transfer accept ${second.id} --yes`);
  t.same([await refreshInFleet(), await elsewhere()], [2, 2]);
  t.match((await done(`transfer withdraw ${second.id} --yes`)).lines, [
    'fleet/pumps more: in the fleet → -',
    'snap/hello-on:latest/stable fleet pumps, amd64: as in the store → pinned to 1',
    'snap/hello-on:latest/candidate fleet pumps: follows latest/stable → as in the store',
  ]);
  t.same([await refreshInFleet(), await elsewhere()], [1, 2], 'the withdrawal restores the pin');
  t.match(await json('fleet show pumps'), { window: 'daily 01:00-02:00 UTC', devices: ['pumps'] });
  t.match(
    (await run(`transfer withdraw ${first.id} --yes`)).err,
    'fleet/pumps was changed after the transfer was accepted, so nothing was withdrawn.',
    'what was edited since is not withdrawn',
  );
  t.match(await json('fleet show pilots'), { hidden: ['snap/hello-on'] });
});

t.test('a fleet that cannot be as its text says is a problem of the transfer, and nothing is accepted', async (t) => {
  const { run, json, send, pin, follow, snap } = await forging(t);
  const first = await send([], [{}]);
  t.equal((await first.accept()).code, 0);
  t.equal((await run('revision withdraw snap/hello-on 3 --reason bad --yes')).code, 0);
  const other = { ...snap, id: 'o'.repeat(32) };
  const long = 'a'.repeat(40);
  const wrong: Record<string, [TransferFleet, RegExp]> = {
    bytes: [fleet('bytes', [pin(1, { 'sha3-384': '0'.repeat(96) })]), /Revision 1 has other content here/],
    nowhere: [
      fleet('nowhere', [pin(9)]),
      /Revision 9 is neither here nor in the transfer\. Ask 'depot' for a transfer with snap\/hello-on/,
    ],
    unreleased: [fleet('unreleased', [pin(4)]), /Revision 4 was never released here/],
    withdrawn: [fleet('withdrawn', [pin(3)]), /Revision 3 is withdrawn here/],
    arm: [fleet('arm', [pin(1, { slot: 'arm64' })]), /Revision 1 is not for arm64/],
    unknown: [fleet('unknown', [pin(1, { snap: other })]), /snap\/hello-on is neither here nor in the transfer/],
    renamed: [fleet('renamed', [pin(1, { snap: { ...snap, name: 'hello-x' } })]), /is 'hello-on' here/],
    track: [fleet('track', [pin(1, { channel: '9/stable' })]), /no track '9' here/],
    channel: [fleet('channel', [pin(1, { channel: 'stable' })]), /not a valid channel name/],
    twice: [fleet('twice', [pin(1), pin(2)]), /It sets snap\/hello-on latest\/stable twice/],
    mixed: [fleet('mixed', [pin(1), follow('latest/stable', 'latest/candidate')]), /twice/],
    itself: [fleet('itself', [follow('latest/stable', 'latest/stable')]), /would follow/],
    chain: [fleet('chain', [follow('latest/beta', 'latest/edge'), pin(2, { channel: 'latest/edge' })]), /would follow/],
    unsafe: [fleet('unsafe', [follow('latest/stable', 'latest/edge')]), /cannot follow latest\/edge/],
    shapeless: [fleet('shapeless', [pin(1, { mode: 'follow' })]), /Only a channel that follows/],
    component: [
      fleet('component', [pin(1, { resources: [{ name: 'tools', type: 'component/standard', revision: 1 }] })]),
      /The revision 1 of its component tools is neither here/,
    ],
    both: [fleet('both', [pin(1)], { hidden: [snap] }), /It would hide snap\/hello-on and set its channels/],
    window: [fleet('window', [], { window: 'Sat 05:00' }), /is not a refresh window/],
    serial: [fleet('serial', [], { devices: ['pump'] }), /'pump' is not a device/],
    doubled: [fleet('doubled', [], { devices: ['acme/pump/1', 'acme/pump/1'] }), /names a device twice/],
    'bad--name': [fleet('bad--name'), /not the name of a fleet/],
    one: [fleet('one', [pin(1)], { devices: ['acme/pump/shared'] }), /^$/],
    two: [
      fleet('two', [pin(2)], { devices: ['acme/pump/shared'] }),
      /'two' and 'one' both select acme\/pump\/shared and differ/,
    ],
    [long]: [fleet(long, [pin(1)]), /^$/],
  };
  const { preview, accept } = await send(Object.values(wrong).map(([text]) => text));
  const reasons = new Map(preview.problems.map(({ what: object, why: reason }) => [object, reason]));
  for (const [name, [, reason]] of Object.entries(wrong)) t.match(reasons.get(`fleet/${name}`) ?? '', reason, name);
  t.match(await accept(), { code: 1, err: /Nothing was accepted\. '--without fleet\/bytes' leaves the package out/ });
  t.match((await send([fleet('a'.repeat(41))])).received.err, /statement is invalid/);
  t.match((await send([fleet('pumps'), fleet('pumps')])).received.err, /contains a duplicate/);
  t.match(await run('fleet list --json'), { out: /"fleets":\[\]/ });

  const mine = await send([fleet('pumps', [pin(2)], { window: 'daily 01:00-02:00 UTC' })]);
  await run('fleet create pumps --serial acme/pump/mine');
  await run('fleet pin pumps snap/hello-on stable 1');
  t.match(await json(`transfer preview ${mine.id}`), {
    lines: [],
    problems: [],
    'left-out': [
      { what: 'fleet/pumps', why: 'A fleet of this name was created here, and is not changed.' },
      { why: 'snap/hello-on latest/stable is pinned to 1 (amd64) here and pinned to 2 (amd64) at its source.' },
      { why: 'The refresh window is not set here and daily 01:00-02:00 UTC at its source.' },
      { why: 'It selects 1 device only here and 1 device only at its source.' },
    ],
  });
  t.equal((await run('fleet create clash --serial acme/pump/clash')).code, 0);
  t.equal((await run('fleet pin clash snap/hello-on stable 1')).code, 0);
  const clash = await send([fleet('theirs', [pin(2)], { devices: ['acme/pump/clash'] })]);
  t.match(clash.preview.problems, [{ why: /'theirs' and 'clash' both select acme\/pump\/clash and differ/ }]);
});

t.test(
  'automatic acceptance stops at a new fleet and where the policy asks people, and keeps to the trust',
  async (t) => {
    const more = '--accept automatic --packages snap/* --packages fleet/pumps';
    const { store, done, json, send, pin, snap } = await forging(t, more, 'releases = ["1 of B for */*:*/candidate"]');
    await (await send([], [{}])).accept();
    const fresh = await send([fleet('pumps', [pin(1)])]);
    t.match(fresh.received.out, /fleet\/pumps rule: new fleet/);
    t.equal((await fresh.accept()).code, 0);
    t.match(
      (await send([fleet('pumps', [pin(2)])])).received.out,
      /accepted automatically/,
      'a change of it does not wait',
    );
    t.match(await json('fleet show pumps'), { channels: [{ revision: 2, 'set-by': /./ }] });
    const held = await send([fleet('pumps', [pin(2), pin(1, { channel: 'latest/candidate', mode: 'hold' })])]);
    t.match(held.received.out, /The approval policy requires approvals/);
    t.match((await held.accept()).err, /Waits for 1 more approval/);
    const windowed = await send([fleet('pumps', [pin(2)], { window: 'Sun 23:00-01:00 UTC' })]);
    t.match(windowed.received.out, /The approval policy requires approvals/, 'a window concerns every channel');
    const scope = await send([fleet('mills', [pin(1)])]);
    t.match(scope.preview.problems, [{ what: 'fleet/mills', why: /may bring snap\/\*, fleet\/pumps/ }]);

    const devices = Array.from({ length: 10_000 }, (_, at) => `acme/pump/${String(at)}`).sort();
    const many = await send([fleet('pumps', [], { devices })]);
    t.match(many.preview, {
      lines: [
        { what: 'devices', from: 'acme/pump/pumps', to: /^10000 \(sha256 [0-9a-f]{64}\)$/ },
        { what: 'snap/hello-on latest/stable (amd64)', from: 'pinned to 2', to: 'as in the store' },
      ],
    });
    t.match((await many.accept()).err, /Waits for 1 more approval/, 'devices concern every channel');
    await done(`transfer accept ${many.id} --yes`);
    t.equal(await store.beside.records.fleets.countSelectors('pumps'), 10_000);
    const hidden = await send([fleet('pumps', [], { devices, hidden: [snap] })]);
    t.match(
      hidden.received.out,
      /The approval policy requires approvals/,
      'a hidden snap concerns each of its channels',
    );
  },
);

t.test('a new site gets the revision that only a fleet has, and its approvers see that it is released', async (t) => {
  const { depot, store, done, carry, stick } = await depotAndShip(t);
  const bring = carryTo(depot, stick);
  await bring(offered('hello-on', 1));
  await bring(offered('hello-on', 2));
  await depot.done('fleet create pumps --store pumps');
  await depot.done('fleet pin pumps snap/hello-on stable 1');
  const { id, preview } = await carry('snap/*', 'fleet/pumps');
  t.match(preview, { problems: [] });
  t.match(
    preview.lines.filter(({ kind, what: object }) => kind === 'revision' || object.includes('stable')),
    [
      { what: 'revision 1' },
      { what: 'revision 2' },
      { what: 'latest/stable (amd64)', to: '2', notes: [] },
      { to: 'pinned to 1', notes: ['releases a revision that was in no channel here'] },
    ],
  );
  await done(`transfer accept ${id} --yes`);
  const snap = (await store.beside.records.packages.find('snap', 'hello-on'))!;
  t.equal(await refreshTo(store, snap.id, { revision: 7, headers: { 'snap-device-store': 'pumps' } }), 1);
  t.equal(await refreshTo(store, snap.id, { revision: 7 }), 2);

  t.same((await done(`transfer withdraw ${id} --yes`)).lines, [
    'snap/hello-on:latest/stable amd64: 2 → -',
    'fleet/pumps pumps: in the fleet → -',
    'snap/hello-on:latest/stable fleet pumps, amd64: pinned to 1 → as in the store',
  ]);
  t.equal(await store.beside.records.fleets.find('pumps'), undefined, 'the withdrawal removes the new fleet');
  t.equal(await refreshTo(store, snap.id, { revision: 7, headers: { 'snap-device-store': 'pumps' } }), null);
});

t.test(
  'a source without permission to release changes no fleet, and no site changes the fleet of another',
  async (t) => {
    const { run, json, send, pin, trustDepot } = await forging(t, '--no-releases');
    t.match((await send([fleet('pumps', [pin(1)])])).preview, {
      lines: [],
      'left-out': [{ what: 'fleet/pumps', why: 'Its source may not change channels, and fleets do.' }],
    });
    const [stick, mill] = [folder(t), await site(t, 'mill')];
    await trust({ ...mill, done: async (line: string) => run(line) }, mill, join(stick, 'mill.json'));
    await mill.done('fleet create pumps --model acme/pump');
    const { id } = (await mill.done(`transfer make ${join(stick, 'mill.tar')} --packages fleet/pumps`)) as {
      id: string;
    };
    await run(`transfer receive ${join(stick, 'mill.tar')}`);
    t.match(await run(`transfer accept ${id} --yes`), { code: 0 });
    t.match(await json('fleet show pumps'), { source: 'mill', kind: 'model' });
    await trustDepot('');
    t.match((await send([fleet('pumps')])).preview.problems, [
      { why: "It came from 'mill', so 'depot' cannot change it." },
    ]);
  },
);
