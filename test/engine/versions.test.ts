// The number of the last commit on a server: one query for all who ask, also when the server does not answer.
import t from 'tap';

import { Refusal } from '#domain/refusal.ts';
import { unavailable } from '#engine/postgres/errors.ts';
import { Versions } from '#engine/postgres/versions.ts';

/** Queries that are answered when the test says so. */
function queries() {
  const sent: PromiseWithResolvers<number>[] = [];
  const versions = new Versions(() => {
    const query = Promise.withResolvers<number>();
    sent.push(query);
    return query.promise;
  });
  /** Lets everything happen that waits for nothing. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { sent, versions, settle };
}

t.test('callers that come while a query is under way share the next one', async (t) => {
  const { sent, versions, settle } = queries();
  const first = versions.current();
  await settle();
  const [second, third] = [versions.current(), versions.current()];
  sent[0]!.resolve(1);
  t.equal(await first, 1);
  await settle();
  t.equal(sent.length, 2);
  sent[1]!.resolve(2);
  t.same(await Promise.all([second, third]), [2, 2], 'which is not older than their question');
});

t.test('callers that wait behind a query that is not answered are refused with it', async (t) => {
  const { sent, versions, settle } = queries();
  const first = versions.current();
  await settle();
  const second = versions.current();
  sent[0]!.reject(unavailable(new Error('silent')));
  await t.rejects(first, Refusal);
  await t.rejects(second, Refusal);
  t.equal(sent.length, 1, 'without a second query');
  const later = versions.current();
  await settle();
  t.equal(sent.length, 2, 'whoever comes later tries the server again');
  sent[1]!.resolve(3);
  t.equal(await later, 3);
});

t.test('an error of a single query is reported to its own caller only', async (t) => {
  const { sent, versions, settle } = queries();
  const first = versions.current();
  await settle();
  const second = versions.current();
  sent[0]!.reject(new Error('no such table'));
  await t.rejects(first, /no such table/);
  await settle();
  sent[1]!.resolve(4);
  t.equal(await second, 4);
});
