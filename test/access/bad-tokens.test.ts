// Tokens that were altered: none gets in, and each is refused quickly.
import { request } from 'node:http';
import { Agent } from 'node:http';

import fc from 'fast-check';
import t from 'tap';

import { mint, withFirstPartyCaveat, type DecodedMacaroon } from '#macaroons/codec/macaroon.ts';
import { readToken, writeToken } from '#macaroons/codec/text.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { cpuWatch } from '#test/fixtures/cpu.ts';

const long = process.env['LARDER_LONG'] === '1';
const agent = new Agent({ keepAlive: true, maxSockets: 4 });
t.teardown(() => agent.destroy());

/** Asks for the identity of a token, by the given header. It is faster than fetch, because there are many tokens. */
function ask(store: TestAppliance, headers: Record<string, string>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const call = request(`${store.url}/v1/tokens/whoami`, { agent, headers }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode ?? 0));
  });
  call.on('error', reject).end();
  return promise;
}

const token = async (store: TestAppliance): Promise<{ text: string; macaroon: DecodedMacaroon }> => {
  const { token: text } = await store.as('ada', {
    permissions: ['package-view'],
    channels: ['edge'],
    packages: [{ type: 'snap', name: 'hello' }],
  });
  const macaroon = readToken(text);
  if (macaroon === undefined) throw new Error('cannot read the token');
  return { text, macaroon };
};

t.test('no altered token is accepted, and none makes trouble', async (t) => {
  const store = await startStore(t);
  const { text, macaroon } = await token(store);
  const other = (await token(store)).macaroon;
  const bytes = Buffer.from(text, 'base64url');
  const { caveats } = macaroon;
  const place = fc.nat({ max: bytes.length - 1 });
  const caveat = fc.nat({ max: caveats.length - 1 });

  const altered = fc.oneof(
    // One bit turned, one byte left out, one put in, or cut short.
    fc.tuple(place, fc.nat({ max: 7 })).map(([at, bit]) => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ (1 << bit);
      return copy.toString('base64url');
    }),
    place.map((at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]).toString('base64url')),
    fc
      .tuple(place, fc.nat({ max: 255 }))
      .map(([at, byte]) =>
        Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]).toString('base64url'),
      ),
    place.map((at) => bytes.subarray(0, at).toString('base64url')),
    // A caveat dropped, repeated, moved, replaced or put in.
    caveat.map((at) => writeToken({ ...macaroon, caveats: caveats.toSpliced(at, 1) })),
    caveat.map((at) => writeToken({ ...macaroon, caveats: [...caveats, caveats[at] as (typeof caveats)[0]] })),
    fc
      .tuple(caveat, caveat)
      .filter(([a, b]) => a !== b)
      .map(([a, b]) => {
        const moved = [...caveats];
        [moved[a], moved[b]] = [moved[b] as (typeof caveats)[0], moved[a] as (typeof caveats)[0]];
        return writeToken({ ...macaroon, caveats: moved });
      }),
    fc
      .tuple(
        caveat,
        fc.constantFrom(
          'permissions ["store-manage"]',
          'time-before 2099-01-01T00:00:00Z',
          'session-id 00000000-0000-0000-0000-000000000000',
          'x',
        ),
      )
      .map(([at, identifier]) =>
        writeToken({ ...macaroon, caveats: caveats.toSpliced(at, 1, { identifier: Buffer.from(identifier) }) }),
      ),
    fc.constant(writeToken({ ...macaroon, caveats: [] })),
    // Parts of another token.
    fc.constant(writeToken({ ...macaroon, signature: other.signature })),
    fc.constant(writeToken({ ...macaroon, identifier: other.identifier })),
    fc.constant(writeToken({ ...macaroon, caveats: other.caveats })),
    fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((signature) => writeToken({ ...macaroon, signature: Buffer.from(signature) })),
    // Tokens with the right text that a stranger has made.
    fc
      .uint8Array({ minLength: 1, maxLength: 64 })
      .map((key) =>
        writeToken(
          caveats
            .map(({ identifier }) => identifier.toString())
            .reduce(withFirstPartyCaveat, mint(Buffer.from(key), macaroon.identifier, macaroon.location)),
        ),
      ),
    // The text itself: other letters, other length, other things altogether.
    fc
      .tuple(fc.nat({ max: text.length - 1 }), fc.constantFrom(...Array.from('-_=. +/,;"\'%{[')))
      .map(([at, odd]) => text.slice(0, at) + odd + text.slice(at + 1)),
    fc.nat({ max: text.length - 1 }).map((at) => text.slice(0, at) + text.slice(at + 1)),
    fc.string({ unit: 'grapheme-ascii', maxLength: 200 }),
    fc.base64String({ maxLength: 400 }),
    fc.json().map((json) => Buffer.from(json).toString('base64')),
    fc.json(),
  );
  const isSame = (candidate: string): boolean => {
    const read = readToken(candidate.trim());
    return read !== undefined && writeToken({ ...read, location: '' }) === writeToken({ ...macaroon, location: '' });
  };

  const statuses = new Map<number, number>();
  let slowest = 0;
  await fc.assert(
    fc.asyncProperty(altered, fc.constantFrom('Macaroon', 'Bearer', 'list', 'pair'), async (candidate, how) => {
      // Bits of the location are not signed, and some letters of base64 have unused bits.
      fc.pre(!isSame(candidate) && !/[^\x20-\x7e]/.test(candidate));
      const headers: Record<string, string> =
        how === 'list'
          ? { macaroons: Buffer.from(JSON.stringify([candidate])).toString('base64') }
          : how === 'pair'
            ? { authorization: `Macaroon root="${candidate.replaceAll('"', '')}", discharge="${text}"` }
            : { authorization: `${how} ${candidate}` };
      const cpu = cpuWatch();
      const status = await ask(store, headers);
      slowest = Math.max(slowest, cpu());
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      return [400, 401, 403, 431].includes(status);
    }),
    { numRuns: long ? 100_000 : 1000 },
  );
  t.ok(slowest < 1000, `the slowest took ${Math.round(slowest)} ms of CPU`);
  t.same([...statuses.keys()], [401]);
  t.equal(await ask(store, { authorization: `Macaroon ${text}` }), 200, 'the token itself is as good as before');
  t.notMatch(store.log.join(''), '"level":"error"');
});

t.test('tokens that are large or deep are refused without much work', async (t) => {
  const store = await startStore(t);
  const { text, macaroon } = await token(store);
  const many = Array.from({ length: 100 }, () => 'permissions []');
  const tooMany = {
    ...macaroon,
    caveats: [...macaroon.caveats, ...many.map((caveat) => ({ identifier: Buffer.from(caveat) }))],
  };
  const json = (caveats: number): string =>
    JSON.stringify({ i: 'x', s64: 'A'.repeat(43), l: 'x', c: Array.from({ length: caveats }, () => ({ i: 'y' })) });
  for (const [name, candidate] of [
    ['a hundred caveats', () => writeToken(tooMany)],
    ['five thousand caveats as JSON', () => Buffer.from(json(5000)).toString('base64')],
    [
      'a list of a hundred',
      () =>
        Buffer.from(JSON.stringify(Array(100).fill(text)))
          .toString('base64')
          .slice(0, 60_000),
    ],
    ['lists in lists', () => Buffer.from('['.repeat(20_000) + ']'.repeat(20_000)).toString('base64')],
    ['an object for a list', () => Buffer.from('{"hasOwnProperty":1,"length":3}').toString('base64')],
    ['sixty kilobytes', () => 'A'.repeat(60_000)],
  ] as const) {
    let made: string;
    try {
      made = candidate();
    } catch {
      t.pass(`${name}: cannot even be written`);
      continue;
    }
    for (const headers of [{ authorization: `Macaroon ${made}` }, { macaroons: made }]) {
      const cpu = cpuWatch();
      t.equal(await ask(store, headers as Record<string, string>), 401, name);
      t.ok(cpu() < 500, `${name}: quickly`);
    }
  }
});

t.test('both binary forms of a token are one session', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { macaroon } = await token(store);
  const [first, second] = [store.with(writeToken(macaroon, 1)), store.with(writeToken(macaroon, 2))];
  for (const client of [first, second]) t.equal((await client.get('/v1/tokens/whoami')).status, 200);
  const { macaroons } = (await ada.get('/v1/tokens')).body as {
    macaroons: { 'session-id': string; 'valid-until': string }[];
  };
  const identifiers = macaroon.caveats.map(({ identifier }) => identifier.toString());
  const session = macaroons.find((candidate) => identifiers.includes(`session-id ${candidate['session-id']}`));
  await ada.post('/v1/tokens/revoke', { 'session-id': session?.['session-id'] });
  for (const client of [first, second]) t.equal((await client.get('/v1/tokens/whoami')).status, 401);
});
