// The same is done through the interface and as the older publishing tools ask for it: the same rows, the same entry in the
// audit log, the same refusal.
import t, { type Test } from 'tap';

import { startStore, type Client, type Reply, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addCollaborator, addRevision } from '#test/fixtures/packages/packages.ts';
import { newest } from '../../acts/ways.ts';

interface Wanted {
  revision: number;
  channels: string[];
  progressive?: { percentage: number; paused: boolean };
}

/** The two doors to one snap. */
interface Door {
  name: string;
  id: string;
  release(client: Client, wanted: Wanted): Promise<Reply>;
  close(client: Client, channels: string[]): Promise<Reply>;
}

async function doors(store: TestAppliance): Promise<[Door, Door]> {
  const ada = await store.as('ada');
  const snap = async (name: string): Promise<string> => {
    const { id } = (await ada.post('/v1/snap', { name })).body as { id: string };
    await addRevision(store, id, 1, { details: { architectures: ['amd64', 'arm64'] } });
    for (const revision of [2, 3]) await addRevision(store, id, revision, { details: { architectures: ['amd64'] } });
    await addCollaborator(store, id, 'carol');
    return id;
  };
  const [current, older] = [await snap('given'), await snap('older')];
  const push = (client: Client, channels: string[], rest: object): Promise<Reply> =>
    client.post(
      '/v1/snap/given/releases',
      channels.map((channel) => ({ channel, ...rest })),
    );
  return [
    {
      name: 'given',
      id: current,
      release: (client, { channels, ...rest }) => push(client, channels, rest),
      close: (client, channels) => push(client, channels, { revision: null }),
    },
    {
      name: 'older',
      id: older,
      release: (client, { revision, ...rest }) =>
        client.post('/dev/api/snap-release/', { name: 'older', revision: String(revision), ...rest }),
      close: (client, channels) => client.post(`/dev/api/snaps/${older}/close`, { channels }),
    },
  ];
}

/** The records of a snap, and the last entry of the audit log, without its name and id. */
async function readState(store: TestAppliance, { id, name }: Door) {
  const { releases, pastReleases, revisions, packages } = store.beside.records;
  const now = store.clock.now.toISOString();
  const state = {
    releases: await releases.current(id, now),
    past: await pastReleases.newest(id, Number.MAX_SAFE_INTEGER, 100),
    revisions: (await revisions.list(id, 10)).map(({ revision, status }) => [revision, status]),
    status: (await packages.byId(id))?.status,
    entry: await newest(store),
  };
  return JSON.parse(JSON.stringify(state).replaceAll(id, 'ID').replaceAll(name, 'NAME')) as typeof state;
}

const errorOf = (reply: Reply): unknown => (reply.body['error-list'] ?? reply.body.error_list)[0] as unknown;

t.test('both interfaces change a snap by the same acts', async (t) => {
  const store = await startStore(t);
  await store.join('carol');
  const [current, older] = await doors(store);
  const ada = await store.as('ada');

  const same = async (t: Test, label: string, ask: (door: Door) => Promise<Reply>): Promise<Reply[]> => {
    const replies = [];
    const states = [];
    for (const door of [current, older]) {
      replies.push(await ask(door));
      states.push(await readState(store, door));
    }
    t.same(states[1], states[0], label);
    return replies;
  };

  await t.test('the rows and the audit entry are the same', async (t) => {
    const steps: [string, (door: Door) => Promise<Reply>][] = [
      ['a release', (door) => door.release(ada, { revision: 1, channels: ['stable'] })],
      ['to several channels', (door) => door.release(ada, { revision: 2, channels: ['candidate', 'latest/edge'] })],
      ['to a branch', (door) => door.release(ada, { revision: 2, channels: ['edge/fix'] })],
      [
        'a progressive one',
        (door) =>
          door.release(ada, { revision: 3, channels: ['stable'], progressive: { percentage: 30, paused: false } }),
      ],
      ['the same again', (door) => door.release(ada, { revision: 1, channels: ['stable'] })],
      ['a closing', (door) => door.close(ada, ['edge'])],
      ['of what is closed', (door) => door.close(ada, ['edge'])],
      ['of several', (door) => door.close(ada, ['candidate', 'edge/fix'])],
    ];
    for (const [label, ask] of steps) {
      for (const { status } of await same(t, label, ask)) t.equal(status, 200, label);
    }
    t.match(await newest(store), {
      action: 'push_releases',
      details: {
        releases: [
          ['latest/candidate', null],
          ['latest/edge/fix', null],
        ],
      },
    });
  });

  await t.test('a collaborator and a store administrator may, and the entry is the same', async (t) => {
    for (const person of ['carol', 'root']) {
      const client = await store.as(person, { permissions: [person === 'root' ? 'store-manage' : 'package-manage'] });
      const replies = await same(t, person, (door) => door.release(client, { revision: 2, channels: ['beta'] }));
      for (const { status } of replies) t.equal(status, 200, person);
    }
  });

  await t.test('and it is refused in the same words, with nothing changed', async (t) => {
    const narrow = await store.as('ada', { channels: ['edge'] });
    const views = await store.as('ada', { permissions: ['package-view'] });
    const bob = await store.as('bob');
    const cases: [string, number, (door: Door) => Promise<Reply>][] = [
      ['no such revision', 400, (door) => door.release(ada, { revision: 9, channels: ['edge'] })],
      ['no such track', 400, (door) => door.release(ada, { revision: 1, channels: ['edge', '9/edge'] })],
      ['no channel', 400, (door) => door.release(ada, { revision: 1, channels: ['edge', 'sharp'] })],
      ['no such track to close', 400, (door) => door.close(ada, ['9/edge'])],
      ['a channel out of reach', 403, (door) => door.release(narrow, { revision: 1, channels: ['edge', 'stable'] })],
      ['a channel out of reach to close', 403, (door) => door.close(narrow, ['stable'])],
      ['a right that is missing', 403, (door) => door.release(views, { revision: 1, channels: ['edge'] })],
      ['a right that is missing to close', 403, (door) => door.close(views, ['edge'])],
      ["somebody else's", 404, (door) => door.release(bob, { revision: 1, channels: ['edge'] })],
    ];
    for (const [label, status, ask] of cases) {
      const [first, second] = await same(t, label, ask);
      // A right that is missing is no login that has ended: their clients would throw that away.
      t.equal(second?.status, status, label);
      t.equal(first?.status, status === 403 ? 401 : status, label);
      const words = JSON.stringify(errorOf(second!)).replaceAll(older.name, current.name);
      t.same(JSON.parse(words), errorOf(first!), label);
    }
    t.match(await older.close(bob, ['edge']), {
      status: 404,
      body: { error_list: [{ code: 'resource-not-found', message: /There is no snap with the id/ }] },
    });
  });
});
