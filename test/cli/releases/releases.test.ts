// larder release history
import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { commandsOn } from '#test/cli/process.ts';

t.test('the history shows the actor, the channel, and the revision before and after', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  for (const number of [1, 2]) await addRevision(store, id, number);
  const release = (...requests: object[]) => ada.post('/v1/snap/hello/releases', requests);
  await release({ channel: 'stable', revision: 1 });
  store.clock.advance(60_000);
  await release({ channel: 'stable', revision: 2, progressive: { percentage: 30, paused: true } });
  await release({ channel: 'stable', revision: 2 }, { channel: 'edge', revision: 2 });
  await release({ channel: 'stable', revision: null });

  const { larder, json } = commandsOn(store.directory);
  const { releases } = (await json('release history snap/hello')) as { releases: Record<string, unknown>[] };
  t.same(
    releases.map(({ channel, revision, before }) => [channel, revision, before]),
    [
      ['latest/stable', null, 2],
      ['latest/edge', 2, null],
      ['latest/stable', 2, 1],
      ['latest/stable', 2, 1],
      ['latest/stable', 1, null],
    ],
  );
  t.match(releases[3], { who: store.ids.ada, slot: 'all', progressive: { percentage: 30, paused: true } });
  t.equal(((await json('release history snap/hello --channel edge')) as { releases: [] }).releases.length, 1);
  t.equal(((await json('release history snap/hello --limit 2')) as { releases: [] }).releases.length, 2);
  t.match(await larder('release history snap/hello'), { code: 0, out: /latest\/stable +all +2 for 30 %, paused +1/ });
  t.match(await larder('release history snap/hello --channel latest/sharp'), {
    code: 2,
    err: /'latest\/sharp' is not a channel/,
  });
});

t.test('an administrator releases, closes and looks without a second tool', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  for (const number of [1, 2]) await addRevision(store, id, number);
  const { larder, json } = commandsOn(store.directory);
  t.match(await larder('status snap/hello'), { code: 0, out: /^Nothing is released\.$/m });
  t.match(await larder('release snap/hello 1 stable,2.0/edge'), { code: 1, err: /has no track '2\.0'/ });
  t.match(await larder('status snap/hello'), { out: /^Nothing is released\.$/m }, 'all of it or nothing');
  t.match(await larder('release snap/hello 1 stable latest/edge/fix'), {
    code: 0,
    out: /Revision 1 of snap\/hello is released to latest\/stable, latest\/edge\/fix\./,
  });
  t.match(await larder('release snap/hello 2 stable --progressive 30'), { code: 0, out: /for 30 % of the devices/ });
  const rows = (await larder('status snap/hello')).out.split('\n').map((line) => line.trim().split(/ {2,}/));
  t.same(rows.slice(0, 4), [
    ['Track', 'Arch', 'Channel', 'Version', 'Revision', 'Progress', 'Expires at'],
    ['latest', 'all', 'stable', 'v1', '1', '?→70%', '-'],
    ['v2', '2', '?→30%', '-'],
    ['candidate', '↑', '↑', '-', '-'],
  ]);
  t.match(rows[6], ['edge/fix', 'v1', '1', '-', /^\d{4}-/]);
  const door = (await ada.get('/v1/snap/hello/releases')).body['channel-map'] as { channel: string }[];
  const status = (await json('status snap/hello')) as { channels: { channel: string }[] };
  t.same(status.channels.map(({ channel }) => channel).sort(), door.map(({ channel }) => channel).sort());
  t.match(await larder('close snap/hello stable'), { code: 0, out: /^Closed latest\/stable of snap\/hello\.$/m });
  t.equal(((await ada.get('/v1/snap/hello/releases')).body['channel-map'] as []).length, 1);
  t.match(await larder('release snap/hello 9 edge'), { code: 1, err: /has no revision 9/ });
  for (const line of ['release snap/hello 0 edge', 'release snap/hello 1', 'release snap/hello 1 sharp/er/x/y']) {
    t.equal((await larder(line)).code, 2, line);
  }
});

t.test('the table of channels has the form that publishing tools print', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  for (const [number, architecture] of [
    [1, 'arm64'],
    [2, 'amd64'],
    [3, 'amd64'],
  ] as const) {
    await addRevision(store, id, number, { details: { architectures: [architecture] } });
  }
  const release = async (revision: number, channel: string, progressive?: object) => {
    const input = { channel, revision, ...(progressive && { progressive }) };
    t.equal((await ada.post('/v1/snap/hello/releases', [input])).status, 200, channel);
  };
  const { larder } = commandsOn(store.directory);
  await release(1, 'candidate');
  await release(2, 'beta', { percentage: 20, paused: false });
  t.equal(
    (await larder('status snap/hello')).out,
    `Track    Arch    Channel    Version    Revision    Progress
latest   amd64   stable     -          -           -
                 candidate  -          -           -
                 beta       -          -           -
                            v2         2           ?→20%
                 edge       ↑          ↑           -
         arm64   stable     -          -           -
                 candidate  v1         1           -
                 beta       ↑          ↑           -
                 edge       ↑          ↑           -
`,
    'what a channel holds for a part of the devices is no reason to tell of the rest of them, unless something is before it',
  );
  await release(3, 'stable');
  await release(3, 'edge', { percentage: 33.6, paused: true });
  // By commands, which have a running clock. The clock of the store stands still, so the branch has ended only for
  // commands.
  for (const branch of ['candidate/one', 'candidate/two', 'edge/fix', 'edge/fix --progressive 50']) {
    const revision = branch.includes('--') ? 3 : 2;
    t.equal((await larder(`release snap/hello ${revision} ${branch}`)).code, 0, branch);
  }
  const moment = /\d{4}-\d\d-\d\dT[\d:.]{12}Z/g;
  const until = 'when it ends';
  t.equal(
    (await larder('status snap/hello')).out.replace(moment, until),
    `Track    Arch    Channel        Version    Revision    Progress       Expires at
latest   amd64   stable         v3         3           -              -
                 candidate      ↑          ↑           -              -
                 candidate/one  v2         2           -              ${until}
                 candidate/two  v2         2           -              ${until}
                 beta           ↑          ↑           ?→80%          -
                                v2         2           ?→20%          -
                 edge           ↑          ↑           ?→66%          -
                                v3         3           ?→34%, paused  -
                 edge/fix       v2         2           ?→50%          ${until}
                 edge/fix       v3         3           ?→50%          ${until}
         arm64   stable         -          -           -              -
                 candidate      v1         1           -              -
                 beta           ↑          ↑           -              -
                 edge           ↑          ↑           -              -
`,
  );
  const { channels } = (await ada.get('/api/v2/snaps/hello/channel-map')).body.snap as {
    channels: { name: string; fallback: string | null }[];
  };
  const order: string[] = [];
  for (const { name, fallback } of channels) order.splice(order.indexOf(fallback ?? '') + 1 || order.length, 0, name);
  t.same(
    order.map((name) => name.replace('latest/', '')),
    ['stable', 'candidate', 'candidate/one', 'candidate/two', 'beta', 'edge', 'edge/fix'],
    'those tools, which put each behind its fallback, come to the same order',
  );
});
