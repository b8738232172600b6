// Very many assertions are verified like few, and only the trusted assertions that a transfer needs are imported.
import t from 'tap';

import { toAssertionRecord, verifyAssertions, verifySpooledAssertions } from '#acts/assertions/assertions.ts';
import { planAssertions } from '#acts/transfers/kinds/assertions.ts';
import type { TransferPlan, TransferPlanInputs, PlanLine } from '#acts/transfers/plan-types.ts';
import { joined, type Assertion } from '#assertions/format/assertion.ts';
import { SpilledAssertions } from '#assertions/spilled-assertions.ts';
import { nameOf } from '#assertions/format/types.ts';
import { PackedList } from '#domain/sequence.ts';
import { SpillFile } from '#files/spill-file.ts';
import { assertionsOf, offered } from '#test/fixtures/packages/online-store.ts';
import { openRecords } from '#test/fixtures/records/records.ts';
import { accountKey, adasAccount, adasKey, made, now, roots, storeKey, timestamp } from './world.ts';

const at = now.toISOString();
const origin = { at, actor: 'larder' };

async function world(t: Parameters<typeof openRecords>[0] & { testdir(): string }, ...storedAssertions: Assertion[]) {
  const [records] = await openRecords(t);
  await records.change({ ...origin, action: 'test', object: 'store' }, async (tx) => {
    for (const assertion of storedAssertions)
      await tx.assertions.keep(toAssertionRecord(assertion, 'imported', origin));
  });
  const many = (some: readonly Assertion[]): SpilledAssertions => {
    const upload = new SpilledAssertions(new SpillFile(t.testdir()));
    for (const assertion of some) upload.add(assertion);
    return upload;
  };
  return { records, many, looking: { records, roots, now } };
}

const outcomeOf = (work: Promise<{ accepted: Iterable<Assertion>; basis: string }>): Promise<unknown> =>
  work.then(
    ({ accepted, basis }) => ({ accepted: [...accepted].map(joined), basis }),
    (error: unknown) => (error as Error).message,
  );

t.test('many assertions are verified like few, by the new and the stored prerequisites', async (t) => {
  const model = await made('ada', 'ada', 'model', {
    series: '16',
    'brand-id': 'ada',
    model: 'pump',
    architecture: 'amd64',
    gadget: 'pc',
    kernel: 'pc-kernel',
    timestamp,
  });
  const revoked = await accountKey('ada', 'ada', 'default', { revision: '2', until: '2024-01-01T00:00:00Z' });
  const second = await accountKey('second', 'ada', 'default');
  const all = [model, adasKey, adasAccount, storeKey];
  for (const [name, storedAssertions, upload, expected] of [
    ['in whichever order they come', [], all, /^type: account-key/],
    ['with what is here passed over', [storeKey, adasAccount], all, /^type: account-key/],
    ['where all of it is here', all, all, undefined],
    ['an older revision of a key revokes nothing that is here', [storeKey, adasAccount, revoked], all, /is revoked/],
    ['a name that another key has here', [storeKey, adasAccount, adasKey], [second], /has the same name/],
    ['a name that another key in it has', [], [storeKey, adasAccount, adasKey, second], /has the same name/],
    ['what rests on nothing', [], [model, adasKey], /neither in the upload nor already here/],
  ] as const) {
    const { many, looking } = await world(t, ...storedAssertions);
    const outcome = await outcomeOf(verifySpooledAssertions(many(upload), looking));
    t.strictSame(outcome, await outcomeOf(verifyAssertions(upload, looking)), name);
    const text = typeof outcome === 'string' ? outcome : (outcome as { accepted: string[] }).accepted[0];
    if (expected === undefined) t.equal(text, undefined, name);
    else t.match(text, expected, name);
  }
});

t.test('the prerequisites of a revision are imported with it, and no other assertion of the source', async (t) => {
  const snap = offered('pumpctrl', 1);
  const other = await accountKey('second', 'ada', 'second');
  const some = [...(await assertionsOf(snap)), adasAccount, other];
  const { records, many, looking } = await world(t);
  const believed = await verifySpooledAssertions(many(some), looking);
  const revision = some.find(({ type }) => type === 'snap-revision')!;
  const packages = new PackedList<{ carried: object; revisions: object[] }>();
  const carried = { id: snap.id, namespace: 'snap', name: snap.name };
  packages.add({ carried, revisions: [{ assertion: nameOf(revision) }] });
  const plan = { packages, assertions: [], lines: new PackedList<PlanLine>(), leftOut: [] } as unknown as TransferPlan;
  const source = { packages: ['snap/*'], mayRelease: true };
  const planning = {
    believed,
    source,
    only: [],
    without: [],
    statement: { source: 'depot', packages: [carried] },
  };
  await planAssertions(records, planning as unknown as TransferPlanInputs, plan);
  t.strictSame([...plan.assertions].map(({ type }) => type).sort(), [
    'account',
    'account-key',
    'snap-declaration',
    'snap-revision',
  ]);
  t.strictSame([...plan.lines], [], 'which goes without saying');
  const leftOut = plan.leftOut.map(({ what: name }) => name);
  t.strictSame(leftOut, [adasAccount, other].map(nameOf), 'and what stands for itself does not, in its order');
});
