// Threads that review uploads or compute digests are lent to the next test once they have nothing to do.
import { once } from 'node:events';

import t from 'tap';

import { startWorker } from '#platform/embedded.ts';
import './kept-workers.ts';

const review = (heapMb = 48) =>
  startWorker('src/review/worker.ts', { env: {}, resourceLimits: { maxOldGenerationSizeMb: heapMb } });
const digest = () => startWorker('src/blobs/digest-worker.ts', { resourceLimits: { maxOldGenerationSizeMb: 33 } });
const question = { kind: 'plain', name: 'hello', file: 0 };
const beginning = { job: 1, order: 'follow', path: import.meta.filename, algorithms: ['sha256'], direct: false };

/** The messages of a thread. */
async function answer(thread: ReturnType<typeof startWorker>, message: unknown): Promise<unknown> {
  const heard = once(thread, 'message');
  thread.postMessage(message);
  const [reply] = (await heard) as [unknown];
  return reply;
}

t.test('an idle thread serves the next caller', async (t) => {
  const first = review();
  const { threadId } = first;
  await answer(first, question);
  const ended = once(first, 'exit');
  t.equal(await first.terminate(), 1);
  t.same(await ended, [1], 'its user is told what he would be told of its end');
  const second = review();
  t.equal(second.threadId, threadId);
  t.same(await answer(second, question), { result: { approved: true, kind: 'plain' } });
  t.equal(first.listenerCount('message'), 0);
  await second.terminate();
  const other = review(49);
  t.not(other.threadId, threadId, 'other limits are another thread');
  await other.terminate();
});

t.test('a thread that is ended while a question is open ends', async (t) => {
  const first = review(47);
  const { threadId } = first;
  first.postMessage(question);
  await first.terminate();
  const second = review(47);
  t.not(second.threadId, threadId);
  await second.terminate();
});

t.test(
  'a thread that computes digests is kept after the last digest, and not after a job that was let go of',
  async (t) => {
    const first = digest();
    const { threadId } = first;
    t.match(await answer(first, [beginning, { job: 1, order: 'end' }]), { job: 1, report: 'digests' });
    await first.terminate();
    const second = digest();
    t.equal(second.threadId, threadId);
    await answer(second, [beginning, { job: 1, order: 'grown', size: 1 }]);
    second.postMessage([{ job: 1, order: 'abandon' }]);
    await second.terminate();
    const third = digest();
    t.not(third.threadId, threadId);
    await third.terminate();
  },
);
