// The plan of a rollout through each door, and the approvals that it needs.
import t from 'tap';

import { approveProposal } from '#acts/approvals/proposals.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { larder } from '../../cli/world.ts';

t.setTimeout(300_000);

t.test('a release or its track names the steps, and a percentage keeps its meaning', async (t) => {
  const store = await startStore(t);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const revision of [1, 2, 3]) await addRevision(store, id, revision);
  const run = (line: string) => larder(`${line} --data ${store.directory}`);
  const release = (more: object) => ada.post('/v1/snap/hello/releases', [{ channel: 'stable', ...more }]);
  const held = async () =>
    (await store.beside.records.releases.current(id, store.clock.now.toISOString())).map(
      ({ revision, progressive, plan }) => [revision, progressive.percentage, plan?.steps.length ?? 0],
    );
  const track = '/internal/v1/packages/snap/hello/tracks/latest';

  await t.test('the plan of a track applies to a release that states nothing', async (t) => {
    t.match(await ada.patch(track, { 'automatic-phasing-percentage': 10 }), { status: 200 });
    t.equal((await release({ revision: 1 })).status, 200);
    t.same(await held(), [[1, null, 0]], 'the first release has no devices to protect');
    await ada.post('/dev/api/snap-release/', { name: 'hello', series: '16', revision: '2', channels: ['stable'] });
    t.same(await held(), [
      [1, null, 0],
      [2, 10, 10],
    ]);
    await release({ revision: 2, progressive: { percentage: 20 } });
    t.same(
      await held(),
      [
        [1, null, 0],
        [2, 20, 0],
      ],
      'a percentage stays as it is',
    );
    t.match(await run('release snap/hello 2 stable --progressive 100'), { code: 0 });
    t.same(await held(), [[2, null, 0]], 'all devices at once');
    t.match(await run('track set snap/hello latest --phasing 1%,50%,100% --every 6h --max-failures 2% --notify bob'), {
      code: 0,
    });
    t.match((await ada.get('/v1/snap/hello')).body.metadata.tracks, [
      {
        'automatic-phasing-percentage': null,
        rollout: { steps: [1, 50, 100], notify: ['bob'], failures: { percentage: 2, devices: 20 } },
      },
    ]);
    t.match(await run('release snap/hello 3 stable'), { out: /reaches more devices in steps: rollout 2\./ });
    t.same(await held(), [
      [2, null, 0],
      [3, 1, 3],
    ]);
    t.match(await run('track list snap/hello'), {
      out: /in steps to 1, 50 and 100 % every 6 h, pauses if more than 2 % of/,
    });
    await release({ revision: 3, rollout: null });
    t.same(await held(), [[3, null, 0]], 'a release can leave out the plan');
    await run('track set snap/hello latest --phasing none');
    await release({ revision: 1 });
    t.same(await held(), [[1, null, 0]]);
  });

  await t.test('a plan that makes no sense is refused at each door', async (t) => {
    for (const [plan, problem] of [
      [{ steps: [0] }, /A step of 0 % reaches no device/],
      [{ steps: [100] }, /single step of 100 %/],
      [{ steps: [10], failures: { percentage: 100 } }, /A bound of 100 % never pauses/],
      [{ steps: [10], notify: ['zoe'] }, /no account 'zoe' to notify/],
      [{ steps: [] }, /fewer than 1 items/],
      [{ steps: [10], more: 1 }, /additional/i],
    ] as const) {
      t.match(await release({ revision: 2, rollout: plan }), {
        status: 400,
        body: { 'error-list': [{ message: problem }] },
      });
      t.match(await ada.patch(track, { rollout: plan }), {
        status: 400,
        body: { 'error-list': [{ message: problem }] },
      });
    }
    const both = await release({ revision: 2, rollout: { steps: [10] }, progressive: { percentage: 5 } });
    t.match(both, { status: 400, body: { 'error-list': [{ message: /a percentage or a rollout/ }] } });
    for (const [options, problem] of [
      ['--steps 0', /A step of 0 % reaches no device/],
      ['--steps 10% --max-failures 100%', /A bound of 100 % never pauses/],
      ['--steps ten', /--steps is a percentage/],
      ['--steps 10 --every soon', /--every is a length of time/],
      ['--steps 10 --max-failures many', /--max-failures is a bound/],
      ['--steps 10 --progressive 5', /exclude each other/],
      ['--every 1h', /need --steps/],
    ] as const)
      t.match(await run(`release snap/hello 2 stable ${options}`), { code: /^[12]$/, err: problem }, options);
    const { id: tool } = (await ada.post('/v1/bin', { name: 'tool' })).body as { id: string };
    await addRevision(store, tool, 1);
    const binary = await ada.post('/v1/bin/tool/releases', [
      { channel: 'stable', revision: 1, rollout: { steps: [10] } },
    ]);
    t.match(binary, { status: 400, body: { 'error-list': [{ message: /only devices with snaps report results/ }] } });
    t.match(await run('track set bin/tool latest --phasing 1%,100%'), {
      code: 1,
      err: /only devices with snaps report results/,
    });
    t.same(await held(), [[1, null, 0]], 'and nothing has changed');
  });

  await t.test('a rollout is changed by the people who release, in their channels', async (t) => {
    await release({ revision: 2, rollout: { steps: [10] } });
    const at = '/internal/v1/packages/snap/hello/rollouts';
    const [{ number }] = (await ada.get(at)).body.rollouts as [{ number: number }];
    for (const verb of ['pause', 'resume', 'roll-back']) {
      const body = verb === 'pause' ? {} : undefined;
      t.equal((await bob.post(`${at}/${String(number)}/${verb}`, body)).status, 404, `bob may not ${verb}`);
      const edge = await store.as('ada', { channels: ['latest/edge'] });
      t.equal(
        (await edge.post(`${at}/${String(number)}/${verb}`, body)).status,
        401,
        `a token for edge may not ${verb}`,
      );
    }
    t.equal((await ada.get(`${at}/99`)).status, 404);
    t.equal((await ada.get(`${at}/x`)).status, 404);
    t.match(await ada.post(`${at}/${String(number)}/pause`, { reason: 'It crashes.' }), {
      body: { state: 'paused', because: 'It crashes.' },
    });
    t.match(await run('rollout list'), { out: /snap\/hello +latest\/stable +2 +paused +10 % +It crashes/ });
    t.equal((await release({ revision: 2, rollout: { steps: [10] } })).status, 200);
    t.match(
      await ada.get(`${at}/${String(number)}`),
      { body: { state: 'paused' } },
      'the same release does not resume it',
    );
    t.match(await ada.post(`${at}/${String(number)}/resume`), { body: { state: 'running' } });
    await ada.post(`${at}/${String(number)}/pause`, {});
    t.match(await run(`rollout resume ${String(number)}`), { code: 0 });
    t.match(await run(`rollout pause ${String(number)}`), { code: 0 });
    t.match(await run(`rollout roll-back ${String(number)} --yes`), { code: 0 });
    t.match(await run(`rollout pause ${String(number)}`), { code: 1, err: /has ended/ });
    t.match(await run('rollout pause 99'), { code: 1, err: /There is no rollout 99/ });
    t.match(await run('rollout pause x'), { code: 2 });
    t.match((await ada.get(`${at}?page-size=1`)).body, { rollouts: [{ number }], next: /./ });
  });
});

t.test('approvers see the plan, and another plan needs another approval', async (t) => {
  const { store } = await askingSite(t, 'releases = ["1 of B for */*:*/stable"]');
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const revision of [1, 2]) await addRevision(store, id, revision);
  const release = (more: object) => ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 2, ...more }]);
  const plan = { steps: [10], 'interval-seconds': 86_400, failures: { percentage: 5, devices: 20 } };
  const approve = async (number: number) => {
    const login = { accountId: store.ids.bob, at: store.clock.now.toISOString() };
    await store.beside.acts.do(approveProposal, { actor: store.ids.bob }, { number, login });
  };
  t.equal((await release({ rollout: plan })).status, 403);
  const { lines } = (await store.beside.records.proposals.find(1))!;
  t.match(lines, [
    { to: /^2 for 10 %, in steps of 10 % every 1 d, pauses if more than 5 % of at least 20 devices fail/ },
  ]);
  await approve(1);
  for (const [wider, other] of [
    ['more devices', { ...plan, steps: [20] }],
    ['faster', { ...plan, 'interval-seconds': 3600 }],
    ['a looser bound', { ...plan, failures: { percentage: 6, devices: 20 } }],
    ['a bound of more devices', { ...plan, failures: { percentage: 5, devices: 21 } }],
    ['all devices at once', null],
  ] as const)
    t.equal((await release({ rollout: other })).status, 403, wider);
  t.equal((await release({ rollout: plan })).status, 200);
  const at = '/internal/v1/packages/snap/hello/rollouts/1';
  t.equal((await ada.post(`${at}/pause`, {})).status, 200, 'pausing needs no approval');
  t.equal((await ada.post(`${at}/resume`)).status, 403, 'resuming gives the revision to more devices');
  t.equal((await ada.post(`${at}/roll-back`)).status, 200, 'rolling back needs none');
});
