// Acts that undo something, each after everything that can happen between. Undoing affects what was done, and nothing that came later.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { itself } from '#acts/act.ts';
import { everyAct } from '#acts/index.ts';
import { subscribe, unsubscribe } from '#acts/subscriptions.ts';
import { minutes } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addCollaborator, addRevision } from '#test/fixtures/packages.ts';

t.setTimeout(300_000);

interface World {
  store: TestAppliance;
  root: Client;
  ada: Client;
  bob: Client;
  /** The snap of this case, with the revisions 1 and 2; ada publishes it. */
  name: string;
  id: string;
  /** The internal address of the snap. */
  at: string;
  /** Other things that a case remembers between its steps. */
  notes: Record<string, string>;
}

interface UndoCase {
  /** What happens between the act and its undoing. */
  between: string;
  event?(world: World): Promise<unknown>;
  /** The status of the undoing; 200 if nothing else is said. */
  status?: number;
  /** What is true afterwards. */
  after(world: World): Promise<unknown>;
  equals: unknown;
}

interface UndoRow {
  done(world: World): Promise<unknown>;
  undone(world: World): Promise<number>;
  cases: readonly UndoCase[];
}

const release = (client: Client, { name }: World, channel: string, revision: number | null) =>
  client.post(`/v1/snap/${name}/releases`, [{ channel, revision }]);
const withdraw = (client: Client, { at }: World, revision: number, reason = 'It loses data.') =>
  client.post(`${at}/revisions/${String(revision)}/withdraw`, { reason });
const restore = (client: Client, { at }: World, revision: number) =>
  client.post(`${at}/revisions/${String(revision)}/restore`, {});
const handOver = ({ root, at, store }: World) => root.post(`${at}/publisher`, { 'account-id': store.ids.bob });
/** Deletes the revision 1, which no channel holds; the newest stays. */
const deleteFirst = async (world: World) => {
  const answer = await world.root.post(`${world.at}/revisions/delete`, { keep: 1, revisions: [1] });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
};
/** Each channel with the revision that it holds. */
const held = async ({ store, id }: World): Promise<Record<string, number>> => {
  const now = store.clock.now.toISOString();
  const current = await store.beside.records.releases.current(id, now);
  return Object.fromEntries(current.map(({ channel, revision }) => [channel, revision]));
};
const isWithdrawn = async ({ store, id }: World, revision: number) =>
  (await store.beside.records.revisions.find(id, revision))?.withdrawnBecause ?? null;
const grant = ({ root, at }: World, devices: object) => root.post(`${at}/device-grants`, devices);
const revoke = ({ root, at }: World, devices: object) => root.post(`${at}/device-grants/revoke`, devices);
const grants = async ({ root, at }: World) => {
  const { body } = await root.get(`${at}/device-grants`);
  return (body.grants as { model: string | null; serial: string | null }[]).map(
    ({ model, serial }) => (model ?? '') + (serial ?? ''),
  );
};
const pump = { 'brand-id': 'acme', model: 'pump' };
const status = async (reply: Promise<{ status: number }>) => (await reply).status;

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

const rows: Record<string, UndoRow> = {
  withdraw_revision: {
    done: (world) => release(world.ada, world, 'latest/stable', 1),
    undone: (world) => status(withdraw(world.ada, world, 1)),
    cases: [
      { between: 'nothing', after: held, equals: {} },
      {
        between: 'the revision was released to another channel too',
        event: (world) => release(world.ada, world, 'latest/edge', 1),
        ...{ after: held, equals: {} },
      },
      {
        between: 'the channel got another revision',
        event: (world) => release(world.ada, world, 'latest/stable', 2),
        ...{ after: held, equals: { 'latest/stable': 2 } },
      },
      {
        between: 'the channel was closed',
        event: (world) => release(world.ada, world, 'latest/stable', null),
        ...{ after: held, equals: {} },
      },
      {
        between: 'the revision was withdrawn for another reason',
        event: (world) => withdraw(world.ada, world, 1, 'It was first.'),
        ...{ status: 409, after: (world) => isWithdrawn(world, 1), equals: 'It was first.' },
      },
      {
        between: 'the package got another publisher',
        event: handOver,
        ...{ status: 404, after: held, equals: { 'latest/stable': 1 } },
      },
    ],
  },
  restore_revision: {
    async done(world) {
      await release(world.ada, world, 'latest/stable', 1);
      await withdraw(world.ada, world, 1);
    },
    undone: (world) => status(restore(world.ada, world, 1)),
    cases: [
      {
        between: 'nothing',
        after: async (world) => [await held(world), await isWithdrawn(world, 1)],
        equals: [{}, null],
      },
      {
        between: 'another revision was released to its channel',
        event: (world) => release(world.ada, world, 'latest/stable', 2),
        ...{ after: held, equals: { 'latest/stable': 2 } },
      },
      {
        between: 'another revision was withdrawn',
        event: (world) => withdraw(world.ada, world, 2, 'The second.'),
        ...{ after: (world) => isWithdrawn(world, 2), equals: 'The second.' },
      },
      {
        between: 'the revision was deleted',
        event: deleteFirst,
        status: 404,
        after: async (world) => (await release(world.ada, world, 'latest/stable', 1)).status >= 400,
        equals: true,
      },
      {
        between: 'the channel was filled and closed again',
        async event(world) {
          await release(world.ada, world, 'latest/stable', 2);
          await release(world.ada, world, 'latest/stable', null);
        },
        ...{ after: held, equals: {} },
      },
      {
        between: 'the package got another publisher',
        event: handOver,
        status: 404,
        after: async (world) => [await isWithdrawn(world, 1), await status(restore(world.bob, world, 1))],
        equals: ['It loses data.', 200],
      },
      {
        between: 'it was restored already',
        event: (world) => restore(world.ada, world, 1),
        ...{ status: 409, after: (world) => isWithdrawn(world, 1), equals: null },
      },
    ],
  },
  'close, then release again': {
    async done(world) {
      await release(world.ada, world, 'latest/stable', 1);
      await release(world.ada, world, 'latest/stable', null);
    },
    undone: (world) => status(release(world.ada, world, 'latest/stable', 1)),
    cases: [
      { between: 'nothing', after: held, equals: { 'latest/stable': 1 } },
      {
        between: 'the revision was withdrawn',
        event: (world) => withdraw(world.ada, world, 1),
        ...{ status: 400, after: held, equals: {} },
      },
      { between: 'the revision was deleted', event: deleteFirst, status: 400, after: held, equals: {} },
      {
        between: 'the channel got another revision',
        event: (world) => release(world.ada, world, 'latest/stable', 2),
        ...{ after: held, equals: { 'latest/stable': 1 } },
      },
      { between: 'the package got another publisher', event: handOver, status: 404, after: held, equals: {} },
    ],
  },
  revoke_from_devices: {
    done: (world) => grant(world, pump),
    undone: (world) => status(revoke(world, pump)),
    cases: [
      { between: 'nothing', after: grants, equals: [] },
      {
        between: 'the whole brand got a grant',
        event: (world) => grant(world, { 'brand-id': 'acme' }),
        ...{ after: grants, equals: [''] },
      },
      {
        between: 'one device of the model got a grant of its own',
        event: (world) => grant(world, { ...pump, serial: '0001' }),
        ...{ after: grants, equals: ['pump0001'] },
      },
      {
        between: 'another model of the brand got a grant',
        event: (world) => grant(world, { ...pump, model: 'valve' }),
        ...{ after: grants, equals: ['valve'] },
      },
      {
        between: 'it was revoked already',
        event: (world) => revoke(world, pump),
        ...{ status: 404, after: grants, equals: [] },
      },
      {
        between: 'it was revoked and granted again',
        async event(world) {
          await revoke(world, pump);
          await grant(world, pump);
        },
        ...{ after: grants, equals: [] },
      },
      { between: 'the package got another publisher', event: handOver, after: grants, equals: [] },
    ],
  },
  remove_collaborator: {
    done: ({ store, id }) => addCollaborator(store, id, 'bob'),
    undone: ({ ada, at, store }) => status(ada.delete(`${at}/collaborators/${store.ids.bob}`)),
    cases: [
      { between: 'nothing', after: (world) => status(release(world.bob, world, 'latest/edge', 1)), equals: 404 },
      {
        between: 'the collaborator released a revision',
        event: (world) => release(world.bob, world, 'latest/edge', 2),
        ...{ after: held, equals: { 'latest/edge': 2 } },
      },
      {
        between: 'the collaborator became the publisher',
        event: handOver,
        status: 404,
        after: (world) => status(release(world.bob, world, 'latest/edge', 1)),
        equals: 200,
      },
      {
        between: 'the collaborator left',
        event: ({ bob, at }) => bob.delete(`${at}/collaboration`),
        status: 404,
        after: (world) => status(release(world.bob, world, 'latest/edge', 1)),
        equals: 404,
      },
    ],
  },
  unsubscribe: {
    done: (world) => wish(world, 'snap', ['latest/stable']),
    async undone({ store, name }) {
      try {
        await store.beside.acts.do(unsubscribe, itself, { namespace: 'snap', name });
        return 200;
      } catch (error) {
        if (error instanceof Refusal) return error.status;
        throw error;
      }
    },
    cases: [
      { between: 'nothing', after: wishes, equals: {} },
      {
        between: 'another channel was added',
        event: (world) => wish(world, 'snap', ['latest/edge']),
        ...{ after: wishes, equals: {} },
      },
      {
        between: 'a charm of the same name was subscribed to',
        event: (world) => wish(world, 'charm', ['latest/edge']),
        ...{ after: wishes, equals: { charm: ['latest/edge'] } },
      },
      {
        between: 'the subscription ended already',
        event: ({ store, name }) => store.beside.acts.do(unsubscribe, itself, { namespace: 'snap', name }),
        ...{ status: 404, after: wishes, equals: {} },
      },
      {
        between: 'nothing, and it begins again with another channel',
        async after(world) {
          await wish(world, 'snap', ['latest/edge']);
          return wishes(world);
        },
        equals: { snap: ['latest/edge'] },
      },
    ],
  },
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
        ...{ after: (world) => whoami(world, 'first'), equals: 401 },
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
        ...{ after: (world) => whoami(world, 'first'), equals: 401 },
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
        ...{ after: (world) => whoami(world, 'first'), equals: 401 },
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
        ...{ after: (world) => whoami(world, 'first'), equals: 401 },
      },
      {
        between: 'its token was revoked',
        event: ({ root, notes }) => root.post('/internal/v1/tokens/revoke', { 'session-id': notes['first'] }),
        ...{ after: (world) => whoami(world, 'first'), equals: 401 },
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
        ...{ after: (world) => whoami(world, 'first'), equals: 200 },
      },
    ],
  },
};

function setDisabled({ root, store }: World, what: 'disable' | 'enable') {
  return root.post(`/internal/v1/accounts/${store.ids.bob}/${what}`, {});
}

function wish({ store, name }: World, namespace: 'snap' | 'charm', channels: string[]) {
  const one = { namespace, name, channels, architectures: ['amd64'] } as const;
  return store.beside.acts.do(subscribe, itself, { wishes: [one], because: null });
}

async function wishes({ store, name }: World): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {};
  for (const namespace of ['snap', 'charm'] as const) {
    const one = await store.beside.records.subscriptions.find(namespace, name);
    if (one !== undefined) found[namespace] = one.channels;
  }
  return found;
}

/** Undoing acts whose tests, with the events between, are elsewhere: the file, and the name of a test in it. */
const elsewhere: Record<string, readonly [file: string, test: string]> = {
  'agent remove': ['cli/credentials.test.ts', 'agents are registered, listed and removed'],
  'guardrail remove': [
    'operations/releases/tracks.test.ts',
    'guardrails are added, listed and removed by HTTP as by command',
  ],
  delete_brand: [
    'operations/brands/update-and-delete-brand.test.ts',
    'a brand is deleted once it has neither models nor keys',
  ],
  delete_image_blob: [
    'operations/registry/deletions.test.ts',
    'a tag goes alone, a manifest with all its tags, and then its blobs',
  ],
  delete_image_manifest: ['operations/registry/deletions.test.ts', 'what an index names stays until the index goes'],
  delete_image_tag: [
    'operations/registry/deletions.test.ts',
    'what a resource names stays, from the moment at which it is pushed',
  ],
  delete_model: ['operations/models/models.test.ts', 'a model that is in use stays'],
  delete_remodel_allowlist: [
    'operations/remodel-allowlist/remodel-allowlist.test.ts',
    'pages follow one another without a gap, whatever is added and removed between',
  ],
  delete_revisions: [
    'operations/revisions/delete-revisions.test.ts',
    'deleted, two at once: one does it, the other is told; numbers and the reason stay',
  ],
  delete_serial_policy: [
    'operations/serial-policies/serial-policies.test.ts',
    'serial policies are numbered per model, newest first, and no number comes twice',
  ],
  delete_signing_key: [
    'operations/signing-keys/delete-signing-key.test.ts',
    'a signing key is made, listed and deleted, and its private half is nowhere to be read',
  ],
  delete_track: ['operations/releases/tracks.test.ts', 'a track is deleted when it is empty, and no other'],
  distrust_source: [
    'transfers/source-trust.test.ts',
    'whatever is changed of a source while its transfer waits counts when the transfer is accepted',
  ],
  end_pull_credential: [
    'operations/registry/pull-credentials.test.ts',
    'credentials to pull are listed and ended, and the next image is given others',
  ],
  forget_images: [
    'jobs/forget-images.test.ts',
    'asking for what deployments need, and pushing again, makes an image wait longer',
  ],
  forget_sessions: [
    'jobs/forget-sessions.test.ts',
    'a revoked session stays for as long as its login could begin it again',
  ],
  remove_approver_key: ['acts/signed-approvals.test.ts', 'what was signed counts as long as the key does'],
  restore_missing: ['integrity/verify.test.ts', 'a blob that is missing, cut short or grown is found'],
  revoke_invites: [
    'operations/collaborators/invites.test.ts',
    'an invite is worth nothing to others, for other packages, when revoked, replaced or too old',
  ],
  revoke_serial: [
    'operations/devices/device-session.test.ts',
    'a device whose serial is revoked loses its session at once, and gets no other',
  ],
  withdraw_package_offer: [
    'operations/ownership/ownership.test.ts',
    'an offer is left, withdrawn, replaced, or runs out',
  ],
  withdraw_transfer: [
    'transfers/across.test.ts',
    'the next transfer holds what was not sent, and a withdrawal puts the channels back',
  ],
};

/** Undoing acts after which nothing of what was done is left that an event between could change: why. */
const final: Record<string, string> = {
  forget_image_blobs: 'a job removes files that no record names any longer',
  forget_invites: 'a job removes invites that ended long ago and let no account in',
  forget_proposals: 'a job removes proposals that ended long ago and cannot be approved',
  forget_pull_credentials: 'a job removes credentials that ended long ago and open nothing',
  restore: 'a store is made from a backup in an empty folder, where nothing happened before',
};

const undoing = /^(?:withdraw|restore|revoke|remove|end|disable|enable|distrust|unsubscribe|delete|forget)$/;

t.test('every act that undoes something is tried after the events between, or says where or why not', async (t) => {
  const acts = everyAct.map(({ name }) => name).filter((name) => name.split(/[_ ]/).some((word) => undoing.test(word)));
  const listed = [rows, elsewhere, final].flatMap((list) => Object.keys(list));
  t.strictSame(
    acts.filter((name) => !listed.includes(name)),
    [],
    'add a row for a new act',
  );
  const known = new Set([...everyAct.map(({ name }) => name), 'close, then release again']);
  t.strictSame(
    listed.filter((name) => !known.has(name)),
    [],
    'an act that is gone',
  );
  t.equal(new Set(listed).size, listed.length, 'each is listed once');
  for (const [file, test] of Object.values(elsewhere)) {
    const text = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
    t.ok(text.includes(`'${test}'`), `${file}: ${test}`);
  }
  for (const why of Object.values(final)) t.match(why, /^\S+( \S+){3,}[^.]$/);
});

for (const [act, { done, undone, cases }] of Object.entries(rows)) {
  t.test(`${act}, after each event between`, async (t) => {
    const store = await startStore(t);
    const [root, ada, bob] = await Promise.all(['root', 'ada', 'bob'].map((who) => store.as(who)));
    if (root === undefined || ada === undefined || bob === undefined) throw new Error('a person is missing');
    let number = 0;
    for (const { between, event, status: expected = 200, after, equals } of cases) {
      const name = `${act.replaceAll(/[^a-z]+/g, '-').slice(0, 20)}-${String(number++)}`;
      const { id } = (await ada.post('/v1/snap', { name })).body as { id: string };
      for (const revision of [1, 2]) await addRevision(store, id, revision, { size: 1000 * number + revision });
      const world: World = {
        store,
        root,
        ada,
        name,
        id,
        bob: await store.as('bob'),
        at: `/internal/v1/packages/snap/${name}`,
        notes: {},
      };
      await done(world);
      await event?.(world);
      const given = await undone(world);
      t.equal(given === 204 || given === 201 ? 200 : given, expected, `after ${between}: the status`);
      t.strictSame(await after(world), equals, `after ${between}: what is left`);
      store.clock.advance(minutes(1));
    }
  });
}
