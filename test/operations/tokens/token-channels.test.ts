// The channels that a token names, from the request for it to the release.
import t from 'tap';

import { caveatsFor } from '#macaroons/caveats.ts';
import { mint, withFirstPartyCaveat } from '#macaroons/codec/macaroon.ts';
import { writeToken } from '#macaroons/codec/text.ts';
import { writeIdentifier } from '#macaroons/identifier.ts';
import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';

const everyChannel = ['latest', 'stable', 'edge', 'latest/edge', 'latest/edge/fix'];

/** A store with a package of ada that has a revision. */
async function withRevision(t: Parameters<typeof startStore>[0]): Promise<TestAppliance> {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  await ada.push('bin', 'hello', 'content');
  return store;
}

/** The channels of the list that an account may release to. */
async function released(client: Client, channels = everyChannel): Promise<string[]> {
  const taken: string[] = [];
  for (const channel of channels) {
    const { status, body } = await client.post('/v1/bin/hello/releases', [{ channel, revision: 1 }]);
    if (status === 200) taken.push(channel);
    else if (body['error-list'][0].code !== 'permission-required') throw new Error(JSON.stringify(body));
  }
  return taken;
}

t.test('an invalid channel is refused by name when a token is requested', async (t) => {
  const store = await startStore(t);
  for (const wrong of ['latest/sharp', 'latest/egde', '1/2/3', 'LATEST/EDGE', '3.*/stable', '**', 'edge/stable', 'é']) {
    const request = { channels: ['latest/edge', wrong, '*/beta'] };
    const message = new RegExp(`^'${wrong.replaceAll('*', '\\*').replaceAll('.', '\\.')}' is not a valid channel name`);
    const refused = { status: 400, body: { 'error-list': [{ code: 'api-error', message }] } };
    t.match(await store.anyone.post('/v1/tokens', request), refused, wrong);
    t.match(await store.anyone.post('/v1/tokens/usso', request), refused, wrong);
    t.match(await store.anyone.post('/dev/api/acl/', { permissions: ['package_push'], ...request }), {
      status: 400,
      body: { error_list: [{ code: 'api-error', message }] },
    });
  }
  const good = ['latest', 'edge', 'latest/edge/fix', '*', '*/edge', '*/*/fix', 'edge/*'];
  t.match(await store.anyone.post('/v1/tokens', { channels: good }), { status: 200 });
});

t.test('a token releases to what its words mean in a release', async (t) => {
  const store = await withRevision(t);
  const cases: [string[], string[]][] = [
    [['latest'], ['latest', 'stable']],
    [['stable'], ['latest', 'stable']],
    [['edge'], ['edge', 'latest/edge']],
    [['latest/edge/fix'], ['latest/edge/fix']],
    [['*/edge'], ['edge', 'latest/edge']],
    [['latest/*'], ['latest', 'stable', 'edge', 'latest/edge']],
    [['*/*/*'], ['latest/edge/fix']],
    [['edge/*'], ['latest/edge/fix']],
    [['*'], everyChannel],
    [['beta', '2.0'], []],
    [[], []],
  ];
  for (const [channels, expected] of cases) {
    const client = await store.as('ada', { channels });
    t.same(await released(client), expected, JSON.stringify(channels));
    t.match((await client.get('/v1/tokens/whoami')).body, { channels }, 'and is shown as it was asked for');
  }
});

t.test('a token of the first release keeps its meaning', async (t) => {
  const store = await withRevision(t);
  const issued = async (channels: string[]): Promise<Client> => store.with(await ofTheFirstRelease(store, channels));
  const cases: [string[], string[]][] = [
    [['latest'], []],
    [['*'], []],
    [
      ['latest/egde', 'edge'],
      ['edge', 'latest/edge'],
    ],
    [
      ['la*/e*', 'LATEST/EDGE'],
      ['edge', 'latest/edge'],
    ],
    [['*/*/f*'], ['latest/edge/fix']],
  ];
  for (const [channels, expected] of cases) {
    const client = await issued(channels);
    t.same(await released(client), expected, JSON.stringify(channels));
    t.match((await client.get('/v1/tokens/whoami')).body, { channels });
  }
});

/** A token as the first release issued it, with its session. */
async function ofTheFirstRelease(
  { beside: hostStore, clock, ids }: TestAppliance,
  channels: string[],
): Promise<string> {
  const { records, rootKeys } = hostStore;
  const root = await rootKeys.current();
  const id = crypto.randomUUID();
  const [since, until] = [clock.now.toISOString(), new Date(clock.now.getTime() + 60_000).toISOString()];
  const session = { sessionId: id, accountId: ids.ada, rootKeyId: root.id, description: null };
  await records.change({ at: since, actor: 'test', action: 'test', object: 'session' }, (tx) =>
    tx.macaroons.add({ ...session, validSince: since, validUntil: until }),
  );
  const identifier = writeIdentifier({ kind: 'token', version: '1', rootKeyId: root.id, description: null });
  const caveats = caveatsFor({ id, since, until }, { channels });
  return writeToken(caveats.reduce(withFirstPartyCaveat, mint(root.key, identifier, 'http://store')));
}
