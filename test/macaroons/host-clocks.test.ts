// Hosts of a store whose clocks differ: a login at one of them counts at all of them at once.
import t from 'tap';

import { timestamp } from '#domain/clock.ts';
import { withFirstPartyCaveat } from '#src/macaroons/codec/macaroon.ts';
import { readToken, writeToken } from '#src/macaroons/codec/text.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { openStore } from '#test/fixtures/records/writable.ts';

t.test('a token of a host whose clock is up to 5 s ahead is valid at once', async (t) => {
  const store = await startStore(t);
  let behindMs = 5000;
  const now = (): Date => new Date(store.clock.now.getTime() - behindMs);
  const other = await openStore({ directory: store.directory, now, elapsed: () => now().getTime() });
  t.teardown(() => other.close());
  const { token } = await store.beside.authority.issue({ accountId: store.ids.ada }, { actor: 'test' });
  const authenticate = async (text: string) => other.authority.authenticate([text]);
  const notYet = { message: 'The macaroon has expired or is not valid yet; log in again.' };
  behindMs = 5001;
  await t.rejects(authenticate(token), notYet);
  behindMs = 5000;
  t.match(await authenticate(token), { username: 'ada' });

  const later = timestamp(new Date(store.clock.now.getTime() + 1));
  const narrowed = writeToken(withFirstPartyCaveat(readToken(token)!, `time-since ${later}`));
  behindMs = 0;
  await t.rejects(authenticate(narrowed), notYet, 'the beginning that a client adds is exact');
  behindMs = -1;
  t.match(await authenticate(narrowed), { username: 'ada' });
});
