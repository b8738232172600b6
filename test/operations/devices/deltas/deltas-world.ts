// The world that the tests of deltas.test.ts and deltas.tools.test.ts share.

import type { SnapDelta } from '#contract/wire.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { deltaWork, offeringDeltas, snapOf } from '#test/fixtures/packages/deltas.ts';
import { refresh } from '#test/fixtures/devices.ts';

export const accepting = { 'snap-accept-delta-format': 'snap-1-1-xdelta3,xdelta3' };

export type Test = Parameters<typeof startStore>[0] & Parameters<typeof snapOf>[0];

/** Revisions 1 and 2 of a snap, released to stable one after the other, and their deltas. */
export async function withDelta(t: Test, configure: (text: string) => string = offeringDeltas) {
  const store = await startStore(t, configure);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const contents = ['1', '2'].map((version) => snapOf(t, version));
  for (const content of contents) await ada.push('snap', 'hello', content);
  for (const revision of [1, 2]) await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision }]);
  const work = await deltaWork(t, store);
  t.same(await work.run(), { made: 1 });
  /** The deltas that are offered to a device with a revision. */
  const offered = async (has: number, headers: Record<string, string> = accepting, more = {}): Promise<SnapDelta[]> => {
    const context = [{ 'snap-id': id, 'instance-key': id, revision: has, 'tracking-channel': 'stable' }];
    const [result] = await refresh(
      store,
      [{ action: 'refresh', 'snap-id': id, 'instance-key': id, ...more }],
      context,
      headers,
    );
    return result!.snap!.download!.deltas!;
  };
  return { store, ada, id, contents, offered, ...work };
}
