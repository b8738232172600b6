import { pino } from 'pino';
import t from 'tap';

import type { Acts } from '#acts/act.ts';
import { createActs } from '#acts/door.ts';
import { approveUpload, rejectUpload } from '#acts/uploads/reviews.ts';
import type { Blobs } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { randomIds } from '#domain/ids.ts';
import { Refusal } from '#domain/refusal.ts';
import { findingsOf } from '#jobs/uploads/findings.ts';
import { reviewQueue, type ReviewQueue } from '#jobs/uploads/review-uploads.ts';
import type { WritableRecords } from '#records/index.ts';
import type { Reviewer } from '#review/reviewer.ts';
import { createLeases, leaseLifeMs } from '#shared/leases.ts';
import { textOf } from '#platform/faults.ts';
import { createHealth } from '#platform/health.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { openRecords } from '#test/fixtures/records/records.ts';

const at = '2026-03-01T12:00:00.000Z';
const entry = { at, actor: 'test', action: 'try', object: 'x' };

interface World {
  known: WritableRecords;
  acts: Acts;
  clock: { now: Date };
  queue: ReviewQueue;
  /** Starts the queue of another process of the store. */
  elsewhere(): ReviewQueue;
  lines: string[];
  /** A result that needs manual review. */
  problems(): Promise<string[]>;
  /** Pushes an upload of its own content, as a revision or for a resource. */
  push(id: string, resource?: string): Promise<void>;
  status(id: string): Promise<{ status: string; revision: number | null; errors: unknown } | undefined>;
}

/** A queue over real records with a reviewer of the test's own. */
async function world(
  t: { teardown(work: () => unknown): void },
  review: Reviewer['review'],
  ofFile: () => Promise<{ sha384: string; sha512: string }> = () =>
    Promise.reject(new Error('no resource is pushed here')),
  recheckMs?: number,
): Promise<World> {
  const [firstRecords, otherRecords] = await openRecords(t, 2);
  const clock = { now: new Date(at) };
  const now = () => clock.now;
  await firstRecords.change(entry, async (tx) => {
    const fill = filler(tx, at);
    await fill.account('ada');
    await fill.package({ id: 'p1', namespace: 'bin', name: 'hello', publisherId: 'ada' });
  });
  const acts = createActs(firstRecords, now);
  const lines: string[] = [];
  const health = createHealth({ error: () => undefined, info: () => undefined });
  /** A lent file is called like its content; all are given back in the end. */
  let lent = 0;
  const borrow = async (file: string) => {
    lent++;
    const release = async () => {
      lent--;
    };
    return { file, release };
  };
  t.teardown(() => {
    if (lent !== 0) throw new Error(`${String(lent)} files that were lent have not been given back`);
  });
  const queueOf = (records: WritableRecords, holder: string) =>
    reviewQueue({
      records,
      acts: createActs(records, now),
      blobs: { makeLocalCopy: borrow, prove: () => Promise.resolve(true) } as unknown as Blobs,
      reviewer: { review },
      digests: { ofFile: ofFile as DigestPool['ofFile'] },
      leases: createLeases({ records, holder, now }),
      newId: randomIds,
      log: pino({ base: null }, { write: (line) => void lines.push(line) }),
      health,
      retry: 1,
      unavailableRetryMs: 1,
      ...(recheckMs !== undefined && { recheckMs }),
    });
  const queue = queueOf(firstRecords, 'here');
  t.teardown(() => queue.stop());
  return {
    known: firstRecords,
    acts,
    clock,
    queue,
    elsewhere() {
      const another = queueOf(otherRecords, 'there');
      t.teardown(() => another.stop());
      return another;
    },
    lines,
    problems: async () => (await health.look()).map(textOf),
    push: (id, resource) =>
      firstRecords.change(entry, async (tx) => {
        await tx.uploads.add({ id, sha3_384: id, sha256: id, size: 1, address: 'x', receivedAt: at });
        const request = { type: 'file', bases: [], architectures: null, packageRevision: null };
        const claim = { packageId: 'p1', pushedBy: 'ada', pushedAt: at };
        await tx.uploads.claim(
          id,
          resource === undefined ? claim : { ...claim, resource: { name: resource, request } },
        );
      }),
    async status(id) {
      const stored = await firstRecords.uploads.review('p1', id);
      return stored && { status: stored.status, revision: stored.revision, errors: stored.errors };
    },
  };
}

const approved = async () => ({ approved: true, kind: 'plain' }) as const;

t.test('uploads are reviewed one after the other in the order of their pushes', async (t) => {
  let [under, maximum] = [0, 0];
  const order: string[] = [];
  const {
    queue,
    push,
    known: records,
  } = await world(t, async ({ path }) => {
    maximum = Math.max(maximum, ++under);
    await new Promise((resolve) => setTimeout(resolve, 2));
    order.push(path);
    under--;
    return approved();
  });
  for (const id of ['c', 'a', 'b']) await push(id);
  queue.soon();
  queue.soon();
  await push('d');
  queue.soon();
  await queue.idle();
  t.same(order, ['c', 'a', 'b', 'd']);
  t.equal(maximum, 1);
  t.same(
    (await records.revisions.list('p1', 10)).map(({ revision, sha3_384: content }) => `${revision}${content}`),
    ['4d', '3b', '2a', '1c'],
  );
});

t.test('two processes never review one upload at the same time, and review all of them', async (t) => {
  const reviewed: string[] = [];
  const {
    queue,
    elsewhere,
    push,
    known: records,
  } = await world(t, async ({ path }) => {
    reviewed.push(path);
    await new Promise((resolve) => setTimeout(resolve, 2));
    return approved();
  });
  const ids = Array.from({ length: 20 }, (_, at) => `upload-${String(at).padStart(2, '0')}`);
  for (const id of ids) await push(id);
  for (const instance of [queue, elsewhere()]) instance.soon();
  while ((await records.revisions.newest('p1')) < ids.length) await new Promise(setImmediate);
  t.same([...reviewed].sort(), ids, 'each once');
});

t.test('the review of a dead process is taken over by another one, when its lease has ended', async (t) => {
  const { queue, push, status, clock, known: records } = await world(t, approved, undefined, 5);
  await push('left');
  const dead = createLeases({ records, holder: 'dead', now: () => clock.now });
  await dead.withLease(
    'review left',
    async () => true,
    (isHeld) => isHeld,
  );
  await push('next');
  queue.soon();
  while ((await status('next'))?.status !== 'approved') await new Promise(setImmediate);
  t.match(await status('left'), { status: 'new' });
  clock.now = new Date(clock.now.getTime() + leaseLifeMs);
  while ((await status('left'))?.status !== 'approved') await new Promise(setImmediate);
});

t.test('a review of an upload that was settled in between changes nothing', async (t) => {
  const {
    queue,
    push,
    status,
    known: records,
  } = await world(t, async ({ path }) => {
    const errors = [{ code: 'review-error', message: 'by hand' }];
    await records.change(entry, (tx) => tx.uploads.reject(path, errors));
    return approved();
  });
  await push('late');
  queue.soon();
  await queue.idle();
  t.match(await status('late'), { status: 'rejected', errors: [{ message: 'by hand' }] });
  t.equal(await records.revisions.newest('p1'), 0);
});

t.test('an internal error is tried three times, and then the publisher is told to push again', async (t) => {
  let tries = 0;
  const { queue, push, status, lines } = await world(t, async ({ path }) => {
    if (path !== 'bad') return approved();
    tries++;
    throw new Error('cannot review');
  });
  await push('bad');
  await push('good');
  queue.soon();
  await queue.idle();
  t.equal(tries, 3);
  t.same(await status('good'), { status: 'approved', revision: 1, errors: null });
  t.match(await status('bad'), {
    status: 'rejected',
    revision: null,
    errors: [{ code: 'review-error', message: /Push the file again\.$/ }],
  });
  t.equal(lines.filter((line) => line.includes('cannot review an upload')).length, 3);
});

t.test('an unreadable upload keeps waiting, and is reviewed when it is readable', async (t) => {
  let tries = 0;
  let fails = true;
  const { queue, push, status, problems } = await world(t, async ({ path }) => {
    if (path !== 'unread') return approved();
    tries++;
    if (!fails) return approved();
    const cause = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    throw new Error('cannot review', { cause });
  });
  await push('unread');
  await push('good');
  queue.soon();
  // How soon it is tried again says nothing of how soon the next one's review ends.
  while (tries < 4 || (await status('good'))?.status === 'new') await new Promise(setImmediate);
  t.match(await status('unread'), { status: 'new', errors: null }, 'its publisher has done nothing wrong');
  t.match(await status('good'), { status: 'approved', revision: 1 }, 'and nobody waits behind it');
  t.match(await problems(), [/^1 upload waits for its review because the store cannot read the file\. /]);
  fails = false;
  while ((await status('unread'))?.status === 'new') await new Promise(setImmediate);
  await queue.idle();
  t.match(await status('unread'), { status: 'approved', revision: 2 });
  t.same(await problems(), []);
});

t.test('a fault that passes leaves no trace in the verdict', async (t) => {
  let tries = 0;
  const { queue, push, status } = await world(t, async () => {
    if (++tries === 1) throw new Error('cannot review');
    return approved();
  });
  await push('one');
  queue.soon();
  await queue.idle();
  t.same(await status('one'), { status: 'approved', revision: 1, errors: null });
});

t.test('a stop finishes the current review without a verdict, and starts no other', async (t) => {
  const goOn = Promise.withResolvers<undefined>();
  const began = Promise.withResolvers<undefined>();
  const { queue, push, status } = await world(t, async () => {
    began.resolve(undefined);
    await goOn.promise;
    return approved();
  });
  await push('one');
  await push('two');
  queue.soon();
  await began.promise;
  const stopped = queue.stop();
  goOn.resolve(undefined);
  await stopped;
  for (const id of ['one', 'two']) t.match(await status(id), { status: 'new' }, `${id} waits for the next start`);
  queue.soon();
  await queue.idle();
  t.match(await status('one'), { status: 'new' }, 'a stopped queue does nothing more');
});

t.test('a resource that takes long to hash delays no package, and no stop', async (t) => {
  const hashed = Promise.withResolvers<{ sha384: string; sha512: string }>();
  const { queue, push, status, known: records } = await world(t, approved, () => hashed.promise);
  for (const id of ['large', 'small']) await push(id, 'config');
  await push('one');
  queue.soon();
  while ((await status('one'))?.status !== 'approved') await new Promise(setImmediate);
  t.match(await status('large'), { status: 'new' });
  await queue.stop();
  hashed.resolve({ sha384: 'x', sha512: 'y' });
  t.match(await status('large'), { status: 'new' }, 'it waits for the next start');
  t.same(await records.resourceRevisions.list('p1', 'config'), []);
});

t.test('a rejection keeps its sentences', async (t) => {
  const errors = [
    { code: 'review-error' as const, message: 'First.' },
    { code: 'review-error' as const, message: 'Second.' },
  ];
  const { queue, push, status, known: records } = await world(t, async () => ({ approved: false, errors }));
  await push('one');
  queue.soon();
  await queue.idle();
  t.same(await status('one'), { status: 'rejected', revision: null, errors });
  t.match((await records.audit.list(0, 100)).at(-1), {
    action: 'reject_upload',
    object: 'bin/hello',
    details: /First\./,
  });
});

t.test('a decision of another process or a person during a review stays', async (t) => {
  const hello = { namespace: 'bin', name: 'hello' } as const;
  const findings = findingsOf({ approved: true, kind: 'plain' }, null);
  const other = { actor: 'other' };
  const errors = [{ code: 'review-error', message: 'No.' }];
  const {
    queue,
    push,
    status,
    known: records,
    acts,
    lines,
  } = await world(t, async ({ path: upload }) => {
    if (upload === 'approved') await acts.do(approveUpload, other, { upload, package: hello, findings });
    else await acts.do(rejectUpload, other, { upload, package: hello, waitsFor: 'review', errors });
    return approved();
  });
  for (const id of ['approved', 'rejected']) await push(id);
  queue.soon();
  await queue.idle();
  t.same(await status('approved'), { status: 'approved', revision: 1, errors: null });
  t.same(await status('rejected'), { status: 'rejected', revision: null, errors });
  t.same(
    (await records.audit.list(0, 100)).flatMap(({ action, actor }) => (actor === 'test' ? [] : [`${actor} ${action}`])),
    ['other approve_upload', 'other reject_upload'],
  );
  t.notMatch(lines.join('\n'), /cannot review/);
  t.equal(lines.filter((line) => /no longer needed/.test(line)).length, 2);
});

t.test('an upload that went to manual review in between is not approved by the automatic review', async (t) => {
  const { push, known: records, acts, status } = await world(t, approved);
  await push('one');
  await records.change(entry, (tx) => tx.packages.reviewByHand('p1', true));
  const findings = findingsOf({ approved: true, kind: 'plain' }, null);
  const input = { upload: 'one', package: { namespace: 'bin', name: 'hello' } as const, findings };
  await t.rejects(acts.do(approveUpload, { actor: 'larder' }, input), { code: 'conflict' });
  t.match(await status('one'), { status: 'new', revision: null });
});

t.test(
  'while the server of the files or of the records is away an upload waits, and is reviewed afterwards',
  async (t) => {
    const away = new Refusal(
      'remote-service-unavailable',
      'The server does not answer. Try again in a few seconds.',
      5,
    );
    let tries = 0;
    const { queue, push, status, lines } = await world(t, () => (++tries < 8 ? Promise.reject(away) : approved()));
    await push('a');
    queue.soon();
    await queue.idle();
    t.equal(tries, 8);
    t.match(await status('a'), { status: 'approved', revision: 1 });
    t.equal(lines.filter((line) => line.includes('it waits')).length, 7);
  },
);
