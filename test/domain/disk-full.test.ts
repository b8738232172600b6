// A full disk is reported alike for every kind of write.
import t from 'tap';

import { diskFull, notEnoughSpace } from '#domain/disk-full.ts';

t.test('a full disk gives one error code and one retry time, for each kind of disk', (t) => {
  const cause = new Error('SQLITE_FULL');
  const refusals = [notEnoughSpace(), diskFull(cause), diskFull(cause, 'The disk of the database')];
  for (const refusal of refusals) t.match(refusal, { code: 'insufficient-storage', retryAfter: 300 });
  t.match(
    refusals.map(({ message }) => message),
    [/^The store has not enough free space/, /^The disk of the store is full/, /^The disk of the database is full/],
  );
  t.match(
    notEnoughSpace({ needed: 5 * 1024 ** 2, free: 3 * 1024 ** 2 }).message,
    /it needs 5\.0 MiB, and 3\.0 MiB are free/,
  );
  t.equal(refusals[1]!.cause, cause);
  t.end();
});
