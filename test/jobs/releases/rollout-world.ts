// A store with a snap that it rolls out, and pumps of acme that call it as snapd does.
import { raiseRollouts } from '#jobs/releases/raise-rollouts.ts';
import { createDeviceSessions } from '#macaroons/device-sessions.ts';
import type { RolloutPlanRequest } from '#contract/wire.ts';
import { hours, minutes, seconds } from '#domain/clock.ts';
import type { startStore, Client, TestAppliance } from '#test/fixtures/appliance.ts';
import { refresh } from '#test/fixtures/devices.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { until } from '#test/fixtures/until.ts';
import { larder } from '../../cli/world.ts';
import { sessionOf, startForDevices } from '../../operations/devices/world.ts';

type Test = Parameters<typeof startStore>[0];

export interface Pump {
  serial: string;
  headers: Record<string, string>;
  /** The installed revision. */
  has: number;
}

const remembering = (text: string): string => text.replace(/^# remember = false$/m, 'remember = true');

/** Sessions of further pumps, made from the session of a pump that has proven its serial. */
export async function makePumps(store: TestAppliance, count: number): Promise<Pump[]> {
  const header = 'snap-device-authorization';
  const first = (await sessionOf(store.anyone, { brand: 'acme', model: 'pump', serial: 'p-0' }))[header];
  const sessions = createDeviceSessions(store.beside.siteKey, () => store.clock.now);
  const proven = sessions.read(/"(.*)"/.exec(first)?.[1] ?? '');
  if (proven === undefined) throw new Error('the store issued no session');
  const end = new Date(store.clock.now.getTime() + hours(24 * 300));
  return Array.from({ length: count }, (_, at) => {
    const serial = `p-${String(at)}`;
    const session = sessions.write({ ...proven, device: { ...proven.device, serial }, until: end });
    return { serial, headers: { [header]: `Macaroon root="${session}"` }, has: 1 };
  });
}

/** ada's snap hello: revision 1 is in stable; 2 and 3 wait for their release. */
export async function startRollouts(t: Test) {
  const { store } = await startForDevices(t, remembering);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const revision of [1, 2, 3]) await addRevision(store, id, revision);
  await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 1 }]);
  return { store, ada, id, ...actionsOf(store, ada, id) };
}

export type RolloutWorld = Awaited<ReturnType<typeof startRollouts>>;

function actionsOf(store: TestAppliance, ada: Client, id: string) {
  const { beside: writableStore, clock } = store;
  let jumped = 0;
  const warnings: unknown[] = [];
  const job = raiseRollouts({
    records: writableStore.records,
    acts: writableStore.acts,
    now: () => clock.now,
    elapsed: () => clock.now.getTime() - jumped,
    isClockInDoubt: () => false,
    remembersDevices: () => true,
    log: { warn: (about: unknown) => void warnings.push(about) } as never,
  });
  const at = '/internal/v1/packages/snap/hello/rollouts';
  const world = {
    job,
    warnings,
    run: (line: string) => larder(`${line} --data ${store.directory}`),
    release: (revision: number | null, more: object = {}) =>
      ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision, ...more }]),
    rollOut: (revision: number, rollout: RolloutPlanRequest) => world.release(revision, { rollout }),
    show: async (number: number) => (await ada.get(`${at}/${String(number)}`)).body,
    change: (number: number, verb: string) =>
      ada.post(`${at}/${String(number)}/${verb}`, verb === 'pause' ? {} : undefined),
    /** The clock of the host jumps: no time has gone by. */
    jump(milliseconds: number) {
      jumped += milliseconds;
      clock.advance(milliseconds);
    },
    /** A refresh of each pump; each installs the offered revision if `installs` says so. Resolves when the store has written it. */
    async call(pumps: readonly Pump[], installs: (pump: Pump) => boolean = () => true, more: object = {}) {
      const offered: Pump[] = [];
      clock.advance(seconds(1));
      const last = pumps.at(-1);
      const waiting = pumps.filter((pump) => pump !== last).values();
      const visit = async (pump: Pump): Promise<void> => {
        const revision = await offerTo(store, id, pump, more);
        if (revision === undefined || revision === pump.has) return;
        offered.push(pump);
        if (installs(pump)) pump.has = revision;
      };
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (const pump of waiting) await visit(pump);
        }),
      );
      if (last !== undefined) await visit(last);
      const moment = clock.now.toISOString();
      if (last !== undefined) {
        await until(async () => {
          const [brand] = await writableStore.records.seenDevices.list(['', '', ''], '9999', 1);
          const seen = brand && (await writableStore.records.seenDevices.find(brand.brandId, 'pump', last.serial));
          return seen?.lastAt === moment;
        });
      }
      return offered;
    },
    /** Lets time go by while the store runs. */
    async pass(milliseconds: number) {
      for (let left = milliseconds; left > 0; left -= minutes(5)) {
        clock.advance(Math.min(left, minutes(5)));
        await job.run();
      }
    },
  };
  return world;
}

/** The revision that a pump gets for its tracked channel. */
export async function offerTo(
  store: TestAppliance,
  id: string,
  { headers, has }: Pump,
  more: object,
): Promise<number | undefined> {
  const context = [{ 'snap-id': id, 'instance-key': id, revision: has, 'tracking-channel': 'stable', ...more }];
  const [result] = await refresh(store, [{ action: 'refresh', 'snap-id': id, 'instance-key': id }], context, headers);
  return result?.snap?.revision;
}

/** A plan of two steps of an hour each, judged on few devices. */
export const quickPlan: RolloutPlanRequest = {
  steps: [50, 100],
  'interval-seconds': hours(1) / seconds(1),
  failures: { percentage: 20, devices: 2 },
};
