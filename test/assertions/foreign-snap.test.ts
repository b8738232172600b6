// The statements of the assertions of a snap about its file, and the outcome for many files together.
import fc from 'fast-check';
import t from 'tap';

import { joined, type Assertion } from '#assertions/format/assertion.ts';
import { readForeignSnap, delegates, disagreement, type ForeignSnap } from '#assertions/foreign-snap.ts';
import { AssertionPool } from '#assertions/assertion-pool.ts';
import { prerequisitesOf } from '#assertions/prerequisites.ts';
import { nameOf } from '#assertions/format/types.ts';
import { assertionsOf, declaration, offered, publisher, snapRevision } from '#test/fixtures/packages/online-store.ts';
import { adasAccount, adasKey, storeKey } from './world.ts';

const finder = (assertions: readonly Assertion[]) => (name: string) =>
  assertions.find((assertion) => nameOf(assertion) === name);

t.test('the assertions say what a file is', async (t) => {
  const hello = offered('hello-on', 12, { developer: 'helper' });
  const assertions = await assertionsOf(hello);
  const snap = readForeignSnap(assertions.at(-1)!, finder(assertions));
  t.match(snap, {
    id: hello.id,
    name: 'hello-on',
    revision: 12,
    provenance: 'global-upload',
    publisher: { id: 'maker', username: 'maker', displayName: 'The maker', validation: 'verified' },
    developer: { id: 'helper' },
  });
  t.throws(() => readForeignSnap(assertions.at(-1)!, finder(assertions.slice(0, 1))), {
    message: /is needed for this file/,
  });
  const gone = await declaration({ ...hello, declared: { 'snap-name': '' } });
  t.throws(() => readForeignSnap(assertions.at(-1)!, finder([...assertions.slice(0, 3), gone])), {
    message: /was withdrawn by/,
  });
  const factory = { 'revision-authority': [{ 'account-id': 'ada', provenance: ['factory'] }] };
  const delegated = await declaration({ ...hello, declared: factory });
  t.same([delegates(delegated, 'factory'), delegates(delegated, 'other')], [true, false]);
  t.equal(delegates(assertions.at(-2)!, 'factory'), false);
});

t.test('a file matches its assertions, or the error names the difference', (t) => {
  const facts = fc.record({
    sha3_384: fc.constantFrom('aa', 'bb'),
    size: fc.constantFrom(1, 2),
    name: fc.constantFrom('hello', 'other'),
    provenance: fc.constantFrom('global-upload', 'factory'),
  });
  fc.assert(
    fc.property(facts, facts, (statement, file) => {
      const wrong = disagreement(statement as ForeignSnap, file);
      for (const key of ['sha3_384', 'size', 'name', 'provenance'] as const) {
        const isTold = wrong?.includes(`'${String(file[key])}', and not '${String(statement[key])}'`) ?? false;
        t.equal(isTold, file[key] !== statement[key], key);
      }
    }),
  );
  t.end();
});

t.test('of several revisions of an assertion the newest counts, in any order of the files', async (t) => {
  const snap = offered('hello-on', 3);
  const all = await Promise.all([
    ...[0, 1, 2].map((revision) => publisher('maker', { revision: String(revision) })),
    ...[0, 5].map((revision) => declaration({ ...snap, declared: { revision: String(revision) } })),
    ...[3, 4].map((revision) => snapRevision(offered('hello-on', revision))),
  ]);
  const order = fc.shuffledSubarray([...all, storeKey, adasAccount, adasKey], { minLength: all.length + 3 });
  fc.assert(
    fc.property(order, (assertions) => {
      const pool = new AssertionPool();
      for (const assertion of assertions) t.equal(pool.add(assertion, nameOf(assertion)), undefined);
      t.equal(pool.find('account/maker')?.revision, 2);
      t.equal(pool.find(`snap-declaration/16/${snap.id}`)?.revision, 5);
      t.equal(pool.all.length, 7);
      for (const assertion of pool.all) {
        const chain = pool.withPrerequisites(assertion).map(nameOf);
        t.equal(chain.at(-1), nameOf(assertion));
        for (const [at, name] of chain.entries()) {
          const before = chain.slice(0, at);
          for (const needed of prerequisitesOf(pool.find(name)!)) t.ok(before.includes(needed) || !pool.find(needed));
        }
      }
    }),
    { numRuns: 20 },
  );
});

t.test('another text in the same revision is reported, and the first stays', async (t) => {
  const [maker, other] = [await publisher('maker'), await publisher('maker', { 'display-name': 'Somebody' })];
  const pool = new AssertionPool();
  t.equal(pool.add(maker, 'a'), undefined);
  t.equal(pool.add(maker, 'b'), undefined, 'the same is no other');
  t.equal(pool.add(other, 'c'), 'a');
  t.equal(joined(pool.find('account/maker')!), joined(maker));
  t.equal(pool.fileOf(maker), 'a');
  const [three, four] = await Promise.all([3, 4].map((number) => snapRevision(offered('hello-on', number))));
  pool.add(three!, 'd');
  pool.add(four!, 'e');
  const digest = Buffer.from(three!.headers['snap-sha3-384'] as string, 'base64url').toString('hex');
  t.same(pool.revisionsOf(digest).map(nameOf), [nameOf(three!)]);
});
