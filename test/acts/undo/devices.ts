// Undoing what devices have: their serials. Each case has a pump of its own, with the name of the case as its serial.
import type { Reply } from '#test/fixtures/appliance.ts';
import { bring, pumpDevice, serialOf, startForDevices } from '#test/operations/devices/world.ts';
import { status, type UndoRow, type World } from './world.ts';

type Pump = Awaited<ReturnType<typeof pumpDevice>> & { header: string };

/** The pumps, by case and serial. */
const pumps = new Map<string, Pump>();

/** A pump with this serial, and its session. */
async function newPump({ store, name }: World, serial: string): Promise<void> {
  const pump = await pumpDevice(store.anyone, { serial: await serialOf({ serial }) });
  const { body } = await pump.send(await pump.texts({ serial }));
  pumps.set(`${name} ${serial}`, { ...pump, header: `Macaroon root="${String(body.macaroon)}"` });
}

const revoke = async ({ store }: World, serial: string): Promise<Reply> => {
  const acme = await store.as('acme');
  return acme.post(`/v1/brand/acme/model/pump/serial/${serial}/revoke`, { reason: 'It was stolen.' });
};

/** The status of a read with the session that a pump has, and of its request for another session. */
async function statuses({ store, name }: World, serial = name): Promise<number[]> {
  const { header, texts, send } = pumps.get(`${name} ${serial}`)!;
  const read = store.anyone.get('/v2/assertions/account/acme', { 'snap-device-authorization': header });
  return [await status(read), await status(send(await texts({ serial })))];
}

export const deviceRows: Readonly<Record<string, UndoRow>> = {
  revoke_serial: {
    start: async (t) => (await startForDevices(t)).store,
    done: (world) => newPump(world, world.name),
    undone: (world) => status(revoke(world, world.name)),
    cases: [
      { between: 'nothing', after: (world) => statuses(world), equals: [401, 401] },
      {
        between: 'the device got another session',
        event: (world) => newPump(world, world.name),
        after: (world) => statuses(world),
        equals: [401, 401],
      },
      {
        between: 'another device of the model got a session',
        event: (world) => newPump(world, `${world.name}-other`),
        after: async (world) => [await statuses(world), await statuses(world, `${world.name}-other`)],
        equals: [
          [401, 401],
          [200, 200],
        ],
      },
      {
        between: 'it was revoked already',
        event: (world) => revoke(world, world.name),
        status: 409,
        after: (world) => statuses(world),
        equals: [401, 401],
      },
      {
        between: 'the serial of another device was revoked',
        async event(world) {
          await newPump(world, `${world.name}-other`);
          await revoke(world, `${world.name}-other`);
        },
        after: (world) => statuses(world),
        equals: [401, 401],
      },
      {
        between: 'nothing, and its brand signs a newer revision of the serial',
        async after(world) {
          await bring(world.store, [await serialOf({ serial: world.name, revision: '1' })]);
          return statuses(world);
        },
        equals: [401, 401],
      },
    ],
  },
};
