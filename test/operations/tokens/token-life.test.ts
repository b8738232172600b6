// How long a token lasts.
import t from 'tap';

import { days } from '#domain/clock.ts';
import { readToken } from '#macaroons/codec/text.ts';
import { readJson } from '#contract/json.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';

/** When a login, in either form, says that it ends. */
const endOf = (login: string): number => {
  const conditions = login.startsWith('{')
    ? (readJson(login) as { c: { i?: string }[] }).c.map(({ i = '' }) => i)
    : (readToken(login)?.caveats ?? []).map(({ identifier }) => identifier.toString());
  const until = conditions.find((condition) => condition.startsWith('time-before '))?.slice('time-before '.length);
  return Date.parse(until ?? '');
};

const lifetimeOf = async ({ anyone, clock }: TestAppliance, path: string, body: object): Promise<number> => {
  const reply = await anyone.post(path, body);
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return (endOf(reply.body.macaroon as string) - clock.now.getTime()) / days(1);
};

const bounded = (text: string): string => text.replace(/^.*longest_token_days = 365$/m, 'longest_token_days = 30');

t.test('a length beyond the longest life of a token is refused with that, and without one it is that', async (t) => {
  const store = await startStore(t, bounded);
  const refused = {
    status: 400,
    body: {
      'error-list': [
        {
          code: 'api-error',
          message: 'A token of this store lasts at most 2592000 seconds, which is 30 days, not 2592001 at /ttl',
        },
      ],
    },
  };
  for (const path of ['/v1/tokens', '/v1/tokens/usso']) {
    t.match(await store.anyone.post(path, { ttl: 2_592_001 }), refused, path);
    t.equal(await lifetimeOf(store, path, { ttl: 2_592_000 }), 30);
    t.equal(await lifetimeOf(store, path, { ttl: 86_400 }), 1);
    t.equal(await lifetimeOf(store, path, {}), 30);
  }
  const { 'valid-until': until } = (await (await store.as('ada')).get('/v1/tokens')).body.macaroons[0];
  t.equal(Date.parse(until) - store.clock.now.getTime(), days(30), 'of whatever is issued');
});

t.test('a moment beyond it is cut to it, as the tools ask for a year by their own clock', async (t) => {
  const store = await startStore(t);
  const until = (life: number): object => ({
    permissions: ['package_push'],
    expires: new Date(store.clock.now.getTime() + life).toISOString(),
  });
  t.equal(await lifetimeOf(store, '/dev/api/acl/', until(days(365) + 90_000)), 365);
  t.equal(await lifetimeOf(store, '/dev/api/acl/', until(days(4000))), 365);
  t.equal(await lifetimeOf(store, '/dev/api/acl/', until(days(5))), 5);
  t.equal(await lifetimeOf(store, '/dev/api/acl/', { permissions: ['package_push'] }), 365);
});
