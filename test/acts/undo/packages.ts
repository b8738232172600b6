// Undoing acts of the people and devices of a package.
import { days, minutes } from '#domain/clock.ts';
import { addCollaborator, addRevision } from '#test/fixtures/packages/packages.ts';
import { handOver, held, release, status, type UndoRow, type World } from './world.ts';

const grant = ({ root, at }: World, devices: object) => root.post(`${at}/device-grants`, devices);
const revoke = ({ root, at }: World, devices: object) => root.post(`${at}/device-grants/revoke`, devices);
const grants = async ({ root, at }: World) => {
  const { body } = await root.get(`${at}/device-grants`);
  return (body.grants as { model: string | null; serial: string | null }[]).map(
    ({ model, serial }) => (model ?? '') + (serial ?? ''),
  );
};
const pump = { 'brand-id': 'acme', model: 'pump' };

export const packageRows: Readonly<Record<string, UndoRow>> = {
  revoke_from_devices: {
    done: (world) => grant(world, pump),
    undone: (world) => status(revoke(world, pump)),
    cases: [
      { between: 'nothing', after: grants, equals: [] },
      {
        between: 'the whole brand got a grant',
        event: (world) => grant(world, { 'brand-id': 'acme' }),
        after: grants,
        equals: [''],
      },
      {
        between: 'one device of the model got a grant of its own',
        event: (world) => grant(world, { ...pump, serial: '0001' }),
        after: grants,
        equals: ['pump0001'],
      },
      {
        between: 'another model of the brand got a grant',
        event: (world) => grant(world, { ...pump, model: 'valve' }),
        after: grants,
        equals: ['valve'],
      },
      {
        between: 'it was revoked already',
        event: (world) => revoke(world, pump),
        status: 404,
        after: grants,
        equals: [],
      },
      {
        between: 'it was revoked and granted again',
        async event(world) {
          await revoke(world, pump);
          await grant(world, pump);
        },
        after: grants,
        equals: [],
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
        after: held,
        equals: { 'latest/edge': 2 },
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
  revoke_invites: {
    done: (world) => inviteBob(world, 'first'),
    undone: ({ ada, name }) =>
      status(ada.post(`/v1/snap/${name}/collaborators/invites/revoke`, { invites: [{ email: bobsAddress }] })),
    cases: [
      { between: 'nothing', after: (world) => joins(world, 'first'), equals: false },
      {
        between: 'the invite was accepted',
        event: (world) => joins(world, 'first'),
        after: (world) => status(release(world.bob, world, 'latest/edge', 1)),
        equals: 200,
      },
      {
        between: 'the invite was rejected',
        event: ({ bob, name, notes }) =>
          bob.post(`/v1/snap/${name}/collaborators/invites/reject`, { token: notes['first'] }),
        after: (world) => joins(world, 'first'),
        equals: false,
      },
      {
        between: 'the account was invited again',
        event: (world) => inviteBob(world, 'second'),
        after: async (world) => [await joins(world, 'first'), await joins(world, 'second')],
        equals: [false, false],
      },
      {
        between: 'the account got another e-mail address',
        event: (world) => setEmail(world, 'bob@new.example.com'),
        async after(world) {
          const isJoined = await joins(world, 'first');
          await setEmail(world, bobsAddress);
          return isJoined;
        },
        equals: false,
      },
      {
        between: 'the invite ran out',
        async event({ store }) {
          store.clock.advance(days(7) + minutes(1));
        },
        after: (world) => joins(world, 'first'),
        equals: false,
      },
      {
        between: 'nothing, and the account is invited again',
        async after(world) {
          await inviteBob(world, 'second');
          return [await joins(world, 'first'), await joins(world, 'second')];
        },
        equals: [false, true],
      },
      {
        between: 'the package got another publisher',
        event: handOver,
        status: 404,
        after: (world) => joins(world, 'first'),
        equals: false,
      },
    ],
  },
  withdraw_package_offer: {
    done: ({ ada, at }) => ada.post(`${at}/offer`, { email: bobsAddress }),
    undone: ({ ada, at }) => status(ada.delete(`${at}/offer`)),
    cases: [
      { between: 'nothing', after: (world) => takes(world), equals: false },
      {
        between: 'the offer was accepted',
        event: (world) => takes(world),
        status: 404,
        after: (world) => status(release(world.bob, world, 'latest/edge', 1)),
        equals: 200,
      },
      {
        between: 'the offer was rejected',
        event: ({ bob, at }) => bob.post(`${at}/offer/answer`, { accept: false }),
        status: 404,
        after: (world) => takes(world),
        equals: false,
      },
      {
        between: 'the package was offered to another account',
        event: ({ ada, at }) => ada.post(`${at}/offer`, { email: 'root@example.com' }),
        after: async (world) => [await takes(world), await takes({ ...world, bob: world.root })],
        equals: [false, false],
      },
      {
        between: 'it was withdrawn already',
        event: ({ ada, at }) => ada.delete(`${at}/offer`),
        status: 404,
        after: (world) => takes(world),
        equals: false,
      },
      {
        between: 'an administrator handed the package over',
        event: handOver,
        status: 404,
        after: (world) => status(release(world.bob, world, 'latest/edge', 1)),
        equals: 200,
      },
      {
        between: 'the offer ran out',
        async event({ store }) {
          store.clock.advance(days(8));
        },
        after: (world) => takes(world),
        equals: false,
      },
      {
        between: 'nothing, and it is offered again',
        async after(world) {
          await world.ada.post(`${world.at}/offer`, { email: bobsAddress });
          return takes(world);
        },
        equals: true,
      },
    ],
  },
  leave_package: {
    done: ({ store, id }) => addCollaborator(store, id, 'bob'),
    undone: ({ bob, at }) => status(bob.delete(`${at}/collaboration`)),
    cases: [
      { between: 'nothing', after: (world) => status(release(world.bob, world, 'latest/edge', 1)), equals: 404 },
      {
        between: 'the collaborator released a revision',
        event: (world) => release(world.bob, world, 'latest/edge', 2),
        after: held,
        equals: { 'latest/edge': 2 },
      },
      {
        between: 'the collaborator was removed',
        event: ({ ada, at, store }) => ada.delete(`${at}/collaborators/${store.ids.bob}`),
        status: 404,
        after: (world) => status(release(world.bob, world, 'latest/edge', 1)),
        equals: 404,
      },
      {
        between: 'the collaborator became the publisher',
        event: handOver,
        status: 404,
        after: (world) => status(release(world.bob, world, 'latest/edge', 1)),
        equals: 200,
      },
      {
        between: 'nothing, and the account is invited again',
        async after(world) {
          await inviteBob(world, 'again');
          return joins(world, 'again');
        },
        equals: true,
      },
    ],
  },
  unregister_package: {
    done: ({ ada, name }) => ada.post('/v1/snap', { name: `${name}-new` }),
    undone: ({ ada, name }) => status(ada.delete(`/v1/snap/${name}-new`)),
    cases: [
      { between: 'nothing', after: isRegistered, equals: false },
      {
        between: 'it got a revision',
        async event({ store, ada, name }) {
          const { id } = (await ada.get(`/v1/snap/${name}-new`)).body.metadata as { id: string };
          await addRevision(store, id, 1);
        },
        status: 403,
        after: isRegistered,
        equals: true,
      },
      {
        between: 'an account was invited',
        event: (world) => inviteBob({ ...world, name: `${world.name}-new` }, 'first'),
        async after(world) {
          await world.ada.post('/v1/snap', { name: `${world.name}-new` });
          return joins({ ...world, name: `${world.name}-new` }, 'first');
        },
        equals: false,
      },
      {
        between: 'it was unregistered, and another account registered the name',
        async event({ ada, bob, name }) {
          await ada.delete(`/v1/snap/${name}-new`);
          await bob.post('/v1/snap', { name: `${name}-new` });
        },
        status: 404,
        after: isRegistered,
        equals: true,
      },
      {
        between: 'it got another publisher',
        event: ({ root, at, store }) => root.post(`${at}-new/publisher`, { 'account-id': store.ids.bob }),
        status: 404,
        after: isRegistered,
        equals: true,
      },
    ],
  },
};

async function isRegistered({ root, at }: World): Promise<boolean> {
  return (await root.get(`${at}-new`)).status === 200;
}

const bobsAddress = 'bob@example.com';

/** Invites bob, and remembers the token of the invite. */
async function inviteBob({ ada, name, notes }: World, key: string): Promise<void> {
  const invites = [{ email: bobsAddress }];
  const { status, body } = await ada.post(`/v1/snap/${name}/collaborators/invites`, { invites });
  const [token] = (body.tokens ?? []) as { token: string }[];
  if (token === undefined) throw new Error(`cannot invite: ${String(status)} ${JSON.stringify(body)}`);
  notes[key] = token.token;
}

/** Whether bob becomes a collaborator by an invite. */
async function joins({ bob, name, notes }: World, key: string): Promise<boolean> {
  return (await bob.post(`/v1/snap/${name}/collaborators/invites/accept`, { token: notes[key] })).status < 300;
}

/** Whether bob becomes the publisher by the offer. */
const takes = async ({ bob, at }: World): Promise<boolean> =>
  (await bob.post(`${at}/offer/answer`, { accept: true })).status < 300;

async function setEmail({ root, store }: World, email: string): Promise<void> {
  const answer = await root.patch(`/internal/v1/accounts/${store.ids.bob}`, { email });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}
