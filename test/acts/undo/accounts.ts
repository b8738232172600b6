// Undoing acts of accounts, their tokens and their agents.
import { itself } from '#acts/act.ts';
import { registerAgent, removeAgent } from '#acts/accounts/agents.ts';
import { days, minutes } from '#domain/clock.ts';
import { forgetSessions } from '#jobs/tokens/forget-sessions.ts';
import type { Client } from '#test/fixtures/appliance.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';
import { release, status, statusOf, type UndoRow, type World } from './world.ts';

/** Bob's tokens by case and name. */
const tokens = new Map<string, Client>();

/** Issues a token to bob, and remembers its session under the same name. */
async function newToken({ store, name, notes }: World, key: string): Promise<void> {
  const accountId = store.ids.bob;
  const { token, sessionId } = await store.beside.authority.issue({ accountId }, { actor: accountId });
  notes[key] = sessionId;
  tokens.set(`${name} ${key}`, store.with(token));
}
const whoami = ({ name }: World, key: string) => status(tokens.get(`${name} ${key}`)!.get('/v1/tokens/whoami'));

/** Issues a token to bob for a day, revokes it, and lets so much time pass that no login can begin its session again. */
async function beginForgettable(world: World): Promise<void> {
  const { store, notes } = world;
  const accountId = store.ids.bob;
  const { token, sessionId } = await store.beside.authority.issue({ accountId, ttl: 86_400 }, { actor: accountId });
  notes['first'] = sessionId;
  tokens.set(`${world.name} first`, store.with(token));
  await (await store.as('bob')).post('/v1/tokens/revoke', { 'session-id': sessionId });
  store.clock.advance(days(457));
}
const forget = ({ store: { beside: writableStore } }: World) =>
  forgetSessions(writableStore.records, writableStore.acts, writableStore.latestTime).run();
/** Whether the session of the token is still listed. */
const isListed = async ({ store, notes }: World, key: string): Promise<boolean> => {
  const { body } = await (await store.as('bob')).get('/v1/tokens?include-inactive');
  return (body.macaroons as { 'session-id': string }[]).some((macaroon) => macaroon['session-id'] === notes[key]);
};

const sessionRows: Readonly<Record<string, UndoRow>> = {
  sweep_sessions: {
    done: beginForgettable,
    undone: (world) => statusOf(forget(world)),
    cases: [
      {
        between: 'nothing',
        after: async (world) => [await whoami(world, 'first'), await isListed(world, 'first')],
        equals: [401, false],
      },
      {
        between: 'the account got another token',
        event: (world) => newToken(world, 'second'),
        async after(world) {
          const others = [await whoami(world, 'second'), await isListed(world, 'second')];
          return [await whoami(world, 'first'), await isListed(world, 'first'), ...others];
        },
        equals: [401, false, 200, true],
      },
      {
        between: 'an administrator revoked it again',
        event: async ({ store, notes }) =>
          (await store.as('root')).post('/internal/v1/tokens/revoke', { 'session-id': notes['first'] }),
        after: async (world) => [await whoami(world, 'first'), await isListed(world, 'first')],
        equals: [401, false],
      },
      {
        between: 'it was forgotten already',
        event: forget,
        after: async (world) => [await whoami(world, 'first'), await isListed(world, 'first')],
        equals: [401, false],
      },
      {
        between: 'nothing, and the account is disabled and enabled',
        async after(world) {
          const root = await world.store.as('root');
          await setDisabled({ ...world, root }, 'disable');
          await setDisabled({ ...world, root }, 'enable');
          return [await whoami(world, 'first'), await isListed(world, 'first')];
        },
        equals: [401, false],
      },
    ],
  },
};

export const accountRows: Readonly<Record<string, UndoRow>> = {
  ...sessionRows,
  revoke_token: {
    done: (world) => newToken(world, 'first'),
    undone: ({ root, notes }) => status(root.post('/internal/v1/tokens/revoke', { 'session-id': notes['first'] })),
    cases: [
      { between: 'nothing', after: (world) => whoami(world, 'first'), equals: 401 },
      {
        between: 'the account got another token',
        event: (world) => newToken(world, 'second'),
        after: async (world) => [await whoami(world, 'first'), await whoami(world, 'second')],
        equals: [401, 200],
      },
      {
        between: 'its owner revoked it',
        event: ({ bob, notes }) => bob.post('/v1/tokens/revoke', { 'session-id': notes['first'] }),
        after: (world) => whoami(world, 'first'),
        equals: 401,
      },
      {
        between: 'nothing, and the account is disabled and enabled',
        async after(world) {
          await setDisabled(world, 'disable');
          await setDisabled(world, 'enable');
          return whoami(world, 'first');
        },
        equals: 401,
      },
    ],
  },
  revoke_macaroon: {
    done: (world) => newToken(world, 'first'),
    undone: ({ bob, notes }) => status(bob.post('/v1/tokens/revoke', { 'session-id': notes['first'] })),
    cases: [
      { between: 'nothing', after: (world) => whoami(world, 'first'), equals: 401 },
      {
        between: 'the account got another token',
        event: (world) => newToken(world, 'second'),
        after: async (world) => [await whoami(world, 'first'), await whoami(world, 'second')],
        equals: [401, 200],
      },
      {
        between: 'an administrator revoked it',
        event: ({ root, notes }) => root.post('/internal/v1/tokens/revoke', { 'session-id': notes['first'] }),
        after: (world) => whoami(world, 'first'),
        equals: 401,
      },
    ],
  },
  end_tokens: {
    done: (world) => newToken(world, 'first'),
    undone: ({ root, store }) => status(root.post(`/internal/v1/accounts/${store.ids.bob}/end-tokens`, {})),
    cases: [
      { between: 'nothing', after: (world) => whoami(world, 'first'), equals: 401 },
      {
        between: 'another account got a token',
        event: async (world) => tokens.set(`${world.name} other`, await world.store.as('ada')),
        after: async (world) => [await whoami(world, 'first'), await whoami(world, 'other')],
        equals: [401, 200],
      },
      {
        between: 'nothing, and the account gets a new token',
        async after(world) {
          world.store.clock.advance(minutes(1));
          await newToken(world, 'second');
          return [await whoami(world, 'first'), await whoami(world, 'second')];
        },
        equals: [401, 200],
      },
      {
        between: 'the account was disabled and enabled',
        async event(world) {
          await setDisabled(world, 'disable');
          await setDisabled(world, 'enable');
        },
        after: (world) => whoami(world, 'first'),
        equals: 401,
      },
    ],
  },
  disable_account: {
    done: (world) => newToken(world, 'first'),
    undone: (world) => status(setDisabled(world, 'disable')),
    cases: [
      {
        between: 'nothing',
        async after(world) {
          const shut = await whoami(world, 'first');
          await setDisabled(world, 'enable');
          return shut;
        },
        equals: 401,
      },
      {
        between: 'it was disabled already',
        event: (world) => setDisabled(world, 'disable'),
        async after(world) {
          await setDisabled(world, 'enable');
          return whoami(world, 'first');
        },
        equals: 200,
      },
    ],
  },
  enable_account: {
    async done(world) {
      await newToken(world, 'first');
      await addCollaborator(world.store, world.id, 'bob');
      await setDisabled(world, 'disable');
    },
    undone: (world) => status(setDisabled(world, 'enable')),
    cases: [
      { between: 'nothing', after: (world) => whoami(world, 'first'), equals: 200 },
      {
        between: 'its tokens were ended',
        event: ({ root, store }) => root.post(`/internal/v1/accounts/${store.ids.bob}/end-tokens`, {}),
        after: (world) => whoami(world, 'first'),
        equals: 401,
      },
      {
        between: 'its token was revoked',
        event: ({ root, notes }) => root.post('/internal/v1/tokens/revoke', { 'session-id': notes['first'] }),
        after: (world) => whoami(world, 'first'),
        equals: 401,
      },
      {
        between: 'it was removed from a package',
        event: ({ ada, at, store }) => ada.delete(`${at}/collaborators/${store.ids.bob}`),
        after: async (world) => [
          await whoami(world, 'first'),
          await status(release(tokens.get(`${world.name} first`)!, world, 'latest/edge', 1)),
        ],
        equals: [200, 404],
      },
      {
        between: 'it was enabled already',
        event: (world) => setDisabled(world, 'enable'),
        after: (world) => whoami(world, 'first'),
        equals: 200,
      },
    ],
  },
  remove_agent: {
    done: (world) => registerAgentOf(world, 'ada'),
    undone: ({ store, name }) => statusOf(store.beside.acts.do(removeAgent, itself, { username: name })),
    cases: [
      { between: 'nothing', after: agents, equals: [] },
      {
        between: 'another agent of the account was registered',
        event: (world) => registerAgentOf({ ...world, name: `${world.name}-other` }, 'ada'),
        after: agents,
        equals: ['other'],
      },
      {
        between: 'the account was disabled',
        event: ({ root, store }) => root.post(`/internal/v1/accounts/${store.ids.ada}/disable`, {}),
        async after(world) {
          await world.root.post(`/internal/v1/accounts/${world.store.ids.ada}/enable`, {});
          return agents(world);
        },
        equals: [],
      },
      {
        between: 'it was removed already',
        event: ({ store, name }) => store.beside.acts.do(removeAgent, itself, { username: name }),
        status: 404,
        after: agents,
        equals: [],
      },
      {
        between: 'it was removed and registered again',
        async event(world) {
          await world.store.beside.acts.do(removeAgent, itself, { username: world.name });
          await registerAgentOf(world, 'bob');
        },
        after: agents,
        equals: [],
      },
    ],
  },
};

/** Registers an agent of the name of the case. */
function registerAgentOf({ store, name }: World, person: 'ada' | 'bob') {
  const publicKey = Buffer.alloc(32, 7).toString('base64');
  return store.beside.acts.do(registerAgent, itself, { username: name, accountId: store.ids[person], publicKey });
}

/** The suffixes of the agents of this case, after the name of the case. */
async function agents({ store, name }: World): Promise<string[]> {
  const all = await store.beside.records.agents.list();
  return all.filter(({ username }) => username.startsWith(name)).map(({ username }) => username.slice(name.length + 1));
}

function setDisabled({ root, store }: World, action: 'disable' | 'enable') {
  return root.post(`/internal/v1/accounts/${store.ids.bob}/${action}`, {});
}
