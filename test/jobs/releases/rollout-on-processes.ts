// A rollout on a store that several processes serve: the reports of its devices come to all of them.
import type { Test } from 'tap';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { trusting } from '#test/fixtures/brands.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { until } from '#test/fixtures/until.ts';
import { trusted } from '../../assertions/world.ts';
import { makeAcme } from '../../operations/devices/world.ts';
import { makePumps, offerTo, type Pump } from './rollout-world.ts';

const devices = 300;

export interface ServedRollout {
  store: TestAppliance;
  id: string;
  pumps: readonly Pump[];
}

/** A store with the clock of the host, which is not served yet, and its devices. */
export async function storeToServe(t: Test, url?: string): Promise<ServedRollout> {
  const trusts = trusting(t, trusted);
  const configure = (text: string): string =>
    servingSnaps(trusts(text))
      .replace(/^# remember = false$/m, 'remember = true')
      .replace(/^base_url = .*$/m, (line) => (url === undefined ? line : `base_url = "${url}"`));
  const store = await startStore(t, configure, new Date());
  await makeAcme(store);
  const { id } = (await (await store.as('ada')).post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const revision of [1, 2]) await addRevision(store, id, revision);
  const pumps = await makePumps(store, devices);
  await store.appliance.stop();
  Object.defineProperty(store.clock, 'now', { get: () => new Date() });
  return { store, id, pumps };
}

/** Three of ten devices take the revision and come back with the older one. The store stops the rollout in its first step, once. */
export async function stopsOnce(t: Test, { store, id, pumps }: ServedRollout, urls: readonly string[]): Promise<void> {
  let next = 0;
  const inTurn = async (some: readonly Pump[]): Promise<Pump[]> => {
    const offered: Pump[] = [];
    for (const pump of some) {
      store.url = urls[next++ % urls.length]!;
      const revision = await offerTo(store, id, pump, {});
      if (revision !== undefined && revision !== pump.has) offered.push(pump);
    }
    return offered;
  };
  const ada = await store.as('ada');
  const at = '/internal/v1/packages/snap/hello/rollouts/1';
  const results = async () => (await ada.get(at)).body.steps[0] as Record<'offered' | 'took' | 'came-back', number>;
  store.url = urls[0]!;
  await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 1 }]);
  const rollout = { steps: [10], 'interval-seconds': 3600, failures: { percentage: 5, devices: 5 } };
  const started = await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 2, rollout }]);
  t.equal(started.status, 200, JSON.stringify(started.body));
  // Caches of the other process see the release at their next look.
  const reached: Pump[] = [];
  await until(async () => {
    for (const pump of await inTurn(pumps)) if (!reached.includes(pump)) reached.push(pump);
    return reached.length > 10;
  });
  await until(async () => (await results()).offered === reached.length);
  for (const pump of reached) pump.has = 2;
  await inTurn(reached);
  await until(async () => (await results()).took === reached.length);
  const broken = reached.slice(0, Math.ceil(reached.length * 0.3));
  for (const pump of broken) pump.has = 1;
  await inTurn(broken);
  await until(async () => (await results())['came-back'] === broken.length);
  const passedAt = Date.now();
  await until(async () => (await ada.get(at)).body.state === 'paused');
  // The promise of the guide: four times the interval of the job.
  const tookSeconds = (Date.now() - passedAt) / 1000;
  t.ok(tookSeconds <= 60, `${broken.length} of ${reached.length} came back; paused after ${tookSeconds.toFixed(0)} s`);
  await until(async () => (await inTurn(pumps.filter((pump) => !reached.includes(pump)))).length === 0);
  t.match((await ada.get(at)).body, { percentage: 10, because: /came back with the older revision/ });
  const entries = await store.beside.records.audit.newest(1e9, 50);
  t.equal(entries.filter(({ action }) => action === 'pause_rollout').length, 1, 'one process did it');
  t.equal(entries.filter(({ action }) => action === 'raise_rollout').length, 0);
}
