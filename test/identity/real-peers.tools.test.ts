// The bakery client that Debian packages, against a served store: through the login page and as an agent.
import { execFile, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import t from 'tap';

import { keyPairFrom, keyText, newKeyPair } from '#macaroons/codec/keys.ts';
import { withoutPythonPackages } from '#test/fixtures/programs.ts';
import { password, startIdentity, type IdentityStore } from './world.ts';

const python = '/usr/bin/python3';
const skip = withoutPythonPackages('python3-macaroonbakery', 'python3-pymacaroons');

interface Plan {
  method: 'browser' | 'agent' | 'legacy-browser' | 'legacy-agent' | 'sso';
  version?: 1 | 2 | 3;
  condition?: string;
  body?: object;
  password?: string;
  agents?: object;
}

let program: { child: ChildProcess; answers: AsyncIterator<string> } | undefined;
t.teardown(() => program?.child.stdin?.end());

/** The results of the Python program; one process serves all tests, because it starts slowly. */
async function peer(store: IdentityStore, plan: Plan): Promise<Record<string, unknown>> {
  if (program === undefined) {
    const child = execFile(python, [join(import.meta.dirname, 'peers.py')], { timeout: 300_000 });
    program = { child, answers: createInterface({ input: child.stdout! })[Symbol.asyncIterator]() };
  }
  const input = {
    base: store.url,
    username: 'ada',
    password,
    version: null,
    condition: 'is-authenticated-user',
    body: {},
  };
  program.child.stdin?.write(`${JSON.stringify({ ...input, ...plan })}\n`);
  const { value, done } = await program.answers.next();
  if (done === true) throw new Error('cannot ask the Python program: it has ended');
  return JSON.parse(value) as Record<string, unknown>;
}

/** An agent of ada's with its file. */
async function register(store: IdentityStore, username: string): Promise<object> {
  const { publicKey, privateKey } = newKeyPair();
  const at = store.clock.now.toISOString();
  const agent = { username, accountId: store.ids.ada, publicKey: keyText(publicKey), createdAt: at };
  await store.beside.records.change({ at, actor: 'test', action: 'agent', object: 'agent' }, (tx) =>
    tx.agents.claim(agent),
  );
  return fileOf(store, username, privateKey);
}

const fileOf = (store: IdentityStore, username: string, privateKey: Buffer): object => ({
  key: { private: keyText(privateKey), public: keyText(keyPairFrom(privateKey).publicKey) },
  agents: [{ url: `${store.url}/identity`, username }],
});

/** The Python client looks at its own clock, so the store's stands where that does. */
async function startNow(t: Parameters<typeof startIdentity>[0]): Promise<IdentityStore> {
  const store = await startIdentity(t);
  store.clock.now = new Date();
  await store.setPassword('ada');
  return store;
}

t.test('the Python client logs in to the store through the login page', { skip }, async (t) => {
  const store = await startNow(t);
  const body = { permissions: ['package-view'], description: 'peer', ttl: 3600 };
  const result = await peer(store, { method: 'browser', body });
  const whoami = { account: { username: 'ada' }, permissions: ['package-view'], channels: null, packages: null };
  t.match(result, { whoami, direct: whoami });
  t.match(result['conditions'], [/^time-before /, /^time-since /, /^session-id /, 'permissions ["package-view"]']);
});

t.test('a wrong password gets the Python client nothing', { skip }, async (t) => {
  const store = await startNow(t);
  // The login is not finished, so the waiting client is released when the store stops.
  const waiting = peer(store, { method: 'browser', password: 'not hers' });
  for (;;) {
    if (store.log.join('').includes('"operation":"submit_login","method":"POST","status":401')) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await store.restart();
  t.match(await waiting, { error: /InteractionError: cannot start interactive session: cannot get .*wait-token/ });
});

for (const version of [1, 2, 3] as const) {
  t.test(
    `the Python client logs in through the login page, for a service with version ${version} caveats`,
    { skip },
    async (t) => {
      const store = await startNow(t);
      const result = await peer(store, { method: 'browser', version });
      t.match(result, { conditions: ['declared username ada', /^time-before .*Z$/], unmet: [] });
    },
  );

  t.test(
    `the Python client logs in as an agent, for a service with version ${version} caveats`,
    { skip },
    async (t) => {
      const store = await startNow(t);
      const result = await peer(store, { method: 'agent', version, agents: await register(store, 'builder@site') });
      t.match(result, { conditions: ['declared username ada', /^time-before .*Z$/], unmet: [] });
    },
  );
}

t.test('the Python client logs in to the store as an agent, with version 2 caveats', { skip }, async (t) => {
  const store = await startNow(t);
  const result = await peer(store, {
    method: 'agent',
    agents: await register(store, 'builder'),
    body: { description: 'nightly' },
  });
  t.match(result, {
    whoami: { account: { username: 'ada', id: store.ids.ada } },
    direct: { account: { username: 'ada' } },
  });
});

t.test('an agent with another key, or of an unknown name, gets nothing', { skip }, async (t) => {
  const store = await startNow(t);
  await register(store, 'builder');
  const stranger = newKeyPair().privateKey;
  for (const username of ['builder', 'nobody']) {
    t.match(await peer(store, { method: 'agent', agents: fileOf(store, username, stranger) }), {
      error: /cannot acquire agent macaroon: 401 .*There is no agent of this name with this key/,
    });
  }
});

t.test(
  'the Python client logs in in the older way too, through the login page and as an agent',
  { skip },
  async (t) => {
    const store = await startNow(t);
    for (const version of [1, 2] as const) {
      const conditions = ['declared username ada', /^time-before .*Z$/];
      t.match(await peer(store, { method: 'legacy-browser', version }), { conditions });
      const agents = await register(store, `builder-${version}`);
      t.match(await peer(store, { method: 'legacy-agent', version, agents }), { conditions });
    }
  },
);

t.test('a service may ask the other questions that are known, and no others', { skip }, async (t) => {
  const store = await startNow(t);
  const agents = await register(store, 'builder');
  const ask = async (condition: string) => peer(store, { method: 'agent', version: 3, condition, agents });
  t.match(await ask('is-authenticated-userid'), { conditions: [`declared userid ${store.ids.ada}`, /^time-before /] });
  t.match(await ask('is-member-of nobody ada'), { conditions: [/^time-before /] });
  t.match(await ask('need-declared username,team is-authenticated-user'), {
    conditions: ['declared username ada', 'declared team ', /^time-before /],
  });
  t.match(await ask('is-member-of store-admin'), { error: /does not meet|discharge failed with code 403/ });
  t.match(await ask('is-a-good-friend'), { error: /third party refused discharge.*does not understand/ });
});

t.test('pymacaroons binds and parses what the Ubuntu One style needs', { skip }, async (t) => {
  const store = await startNow(t);
  const body = { permissions: ['package-manage', 'package-view'], ttl: 108_000 };
  const whoami = { account: { username: 'ada' }, permissions: body.permissions };
  t.match(await peer(store, { method: 'sso', body }), {
    location: [new URL(store.url).host],
    direct: whoami,
    whoami,
    description: 'charmcraft@peer',
  });
  t.match(await peer(store, { method: 'sso', password: 'not hers' }), {
    status: 401,
    refused: { code: 'INVALID_CREDENTIALS', error_list: [{ code: 'invalid-credentials' }] },
  });
});
