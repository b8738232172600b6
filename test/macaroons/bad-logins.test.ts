// Altered logins and tokens, in every form and by every entry: each is refused in a sentence, and none keeps the store
// busy.
import fc from 'fast-check';
import t from 'tap';

import { Refusal } from '#domain/refusal.ts';
import type { Authority } from '#macaroons/authority.ts';
import { writeBinary } from '#macaroons/codec/binary.ts';
import { toJson2 } from '#macaroons/codec/json.ts';
import { bindForRequest, mint, withFirstPartyCaveat, type DecodedMacaroon } from '#macaroons/codec/macaroon.ts';
import { readToken, readTokenList } from '#macaroons/codec/text.ts';
import { begin, dischargeInBrowser, logIn, startIdentity } from '#test/identity/world.ts';
import { cpuWatch } from '#test/fixtures/cpu.ts';

const long = process.env['LARDER_LONG'] === '1';
const runs = long ? 100_000 : 500;
if (long) t.setTimeout(1_800_000);

const allowed = [400, 401, 403, 431];
const longestCpu = 250_000; // microseconds

/** How a list of macaroons gets in: the texts that a request presents. */
const forms: Record<string, (list: DecodedMacaroon[]) => string[]> = {
  'one text, binary 2': ([first]) => [writeBinary(first!, 2).toString('base64url')],
  'one text, binary 1': ([first]) => [writeBinary(first!, 1).toString('base64')],
  'one text, JSON': ([first]) => [JSON.stringify(toJson2(first!))],
  'texts, binary 1': (list) => list.map((macaroon) => writeBinary(macaroon, 1).toString('base64url')),
  'texts, binary 2': (list) => list.map((macaroon) => writeBinary(macaroon, 2).toString('base64')),
  'a list of JSON': (list) => [Buffer.from(JSON.stringify(list.map(toJson2))).toString('base64url')],
  'a list of JSON, plain': (list) => [JSON.stringify(list.map(toJson2))],
  'a list of texts': (list) => [JSON.stringify(list.map((macaroon) => writeBinary(macaroon, 2).toString('base64url')))],
};

interface Outcome {
  let: boolean;
  micros: number;
}

/** Tries both doors: as a token, and as a login to be exchanged. */
async function knock(authority: Authority, texts: string[]): Promise<Outcome> {
  const before = process.cpuUsage();
  let open = false;
  for (const door of [authority.authenticate, authority.login]) {
    try {
      await door(texts);
      open = true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (!allowed.includes(error.status))
        throw new Error(`a refusal with ${error.status}: ${error.message}`, { cause: error });
      if (texts.some((text) => text.length > 8 && error.message.includes(text.slice(0, 9))))
        throw new Error('a refusal that repeats the token');
    }
  }
  const { user, system } = process.cpuUsage(before);
  return { let: open, micros: user + system };
}

t.test(`of ${runs} touched tokens and logins none is accepted`, async (t) => {
  const store = await startIdentity(t);
  await store.setPassword('bob');
  const { authority } = store.beside;
  const begun = await begin(store, { permissions: ['package-view'], packages: [{ type: 'snap', name: 'hello' }] });
  const other = await begin(store);
  const dm = await dischargeInBrowser(store, begun.caveatId);
  const others = await dischargeInBrowser(store, other.caveatId, { username: 'bob', password: 'four words of ada' });
  const token = readToken(await logIn(store, { permissions: ['package-view'] }))!;
  const login = [begun.root, bindForRequest(begun.root, dm)];
  const subjects = [[token], login];
  for (const subject of subjects) {
    for (const [name, write] of Object.entries(forms)) {
      const outcome = await knock(authority, write(subject));
      t.equal(outcome.let, subject.length === 1 || !name.startsWith('one text'), `${name}, untouched`);
    }
  }

  const strangers = [
    token,
    begun.root,
    other.root,
    dm,
    others,
    bindForRequest(other.root, others),
    bindForRequest(begun.root, others),
    bindForRequest(other.root, dm),
    mint(Buffer.alloc(32), token.identifier, token.location),
    withFirstPartyCaveat(mint(Buffer.alloc(24), begun.caveatId, ''), 'declared username ada'),
  ];
  const caveats = [...strangers.flatMap((macaroon) => macaroon.caveats)];
  for (const text of ['declared username bob', 'permissions []', 'time-before 2099-01-01T00:00:00Z', 'is-admin'])
    caveats.push({ identifier: Buffer.from(text) });

  /** Changes to the parts, without a new signature. */
  const touch = fc.record({
    subject: fc.nat(subjects.length - 1),
    which: fc.nat(),
    how: fc.constantFrom(
      'drop',
      'swap',
      'repeat',
      'add',
      'replace',
      'signature',
      'identifier',
      'caveat bit',
      'vid bit',
      'discharge',
      'no discharge',
      'twice',
      'reorder',
      'extra',
    ),
    at: fc.nat(),
    to: fc.nat(),
    form: fc.constantFrom(...Object.keys(forms)),
  });
  const turn = (bytes: Buffer, at: number): Buffer => {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[(at >> 3) % copy.length]! ^= 1 << (at & 7);
    return copy;
  };
  const touched = ({
    subject,
    which,
    how,
    at,
    to,
  }: {
    subject: number;
    which: number;
    how: string;
    at: number;
    to: number;
  }): DecodedMacaroon[] => {
    const list = [...subjects[subject]!];
    const index = which % list.length;
    const macaroon = list[index]!;
    const own = macaroon.caveats;
    const place = at % own.length;
    const changed = (part: Partial<DecodedMacaroon>): DecodedMacaroon[] => list.with(index, { ...macaroon, ...part });
    const stranger = strangers[to % strangers.length]!;
    switch (how) {
      case 'drop':
        return changed({ caveats: own.toSpliced(place, 1) });
      case 'swap':
        return changed({ caveats: own.with(place, own[to % own.length]!).with(to % own.length, own[place]!) });
      case 'repeat':
        return changed({ caveats: [...own, own[place]!] });
      case 'add':
        return changed({ caveats: own.toSpliced(place, 0, caveats[to % caveats.length]!) });
      case 'replace':
        return changed({ caveats: own.with(place, caveats[to % caveats.length]!) });
      case 'signature':
        return changed({ signature: turn(macaroon.signature, at) });
      case 'identifier':
        return changed({ identifier: turn(macaroon.identifier, at) });
      case 'caveat bit':
        return changed({ caveats: own.with(place, { ...own[place]!, identifier: turn(own[place]!.identifier, to) }) });
      case 'vid bit': {
        const third = own.findIndex(({ verificationId }) => verificationId !== undefined);
        if (third < 0) return changed({ signature: turn(macaroon.signature, to) });
        return changed({
          caveats: own.with(third, { ...own[third]!, verificationId: turn(own[third]!.verificationId!, to) }),
        });
      }
      case 'discharge':
        return [list[0]!, stranger];
      case 'no discharge':
        return subject === 1 ? [list[0]!] : [other.root];
      case 'twice':
        return [...list, list.at(-1)!];
      case 'reorder':
        return subject === 1 ? [list[1]!, list[0]!] : [dm, token];
      default:
        return [...list, stranger];
    }
  };
  const same = (a: DecodedMacaroon[], b: DecodedMacaroon[]): boolean =>
    JSON.stringify(a.map(toJson2)) === JSON.stringify(b.map(toJson2));
  let slowest = 0;
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(touch, async (how) => {
      const list = touched(how);
      const texts = forms[how.form]!(list);
      // A text of one macaroon leaves the discharge out, and the rest may be the token itself.
      const sent = how.form.startsWith('one text') ? list.slice(0, 1) : list;
      fc.pre(!subjects.some((subject) => same(subject, sent)));
      const outcome = await knock(authority, texts);
      slowest = Math.max(slowest, outcome.micros);
      if (outcome.let) accepted++;
    }),
    { numRuns: runs },
  );
  t.equal(accepted, 0);
  t.ok(slowest < longestCpu, `the slowest took ${slowest / 1000} ms of CPU`);

  /** Changes to the bytes of a form. */
  const byte = fc.record({
    subject: fc.nat(1),
    form: fc.constantFrom(...Object.keys(forms)),
    text: fc.nat(),
    at: fc.nat(),
    how: fc.constantFrom('flip', 'cut', 'double', 'letter'),
    letter: fc.nat(255),
  });
  const untouched = new Set(
    subjects.flatMap((subject) => Object.values(forms).map((write) => JSON.stringify(write(subject)))),
  );
  const meanings = new Set(subjects.map((subject) => JSON.stringify(subject.map(toJson2))));
  await fc.assert(
    fc.asyncProperty(byte, async ({ subject, form, text, at, how, letter }) => {
      const texts = forms[form]!(subjects[subject]!);
      const index = text % texts.length;
      const bytes = Buffer.from(texts[index]!, 'latin1');
      const place = at % bytes.length;
      const altered = {
        flip: () => turn(bytes, at),
        cut: () => bytes.subarray(0, place),
        double: () => Buffer.concat([bytes.subarray(0, place), bytes.subarray(Math.max(0, place - 9))]),
        letter: () => Buffer.from(bytes).fill(letter, place, place + 1),
      }[how]();
      const sent = texts.with(index, altered.toString('latin1'));
      fc.pre(!untouched.has(JSON.stringify(sent)));
      const outcome = await knock(authority, sent);
      slowest = Math.max(slowest, outcome.micros);
      // Spaces in JSON, or an unsigned member such as a location, change the bytes and not the macaroon.
      if (outcome.let && !meansTheSame(sent)) accepted++;
    }),
    { numRuns: runs },
  );
  t.equal(accepted, 0);
  t.ok(slowest < longestCpu, `the slowest took ${slowest / 1000} ms of CPU`);

  /** Whether a text still contains the same macaroons of a subject, except for unsigned parts. */
  function meansTheSame(texts: string[]): boolean {
    const unsigned = (macaroon: DecodedMacaroon) =>
      toJson2({
        ...macaroon,
        location: '',
        caveats: macaroon.caveats.map((caveat) => ('location' in caveat ? { ...caveat, location: '' } : caveat)),
      });
    const read = readAll(texts)?.map(unsigned);
    return (
      subjects.some((subject) => JSON.stringify(subject.map(unsigned)) === JSON.stringify(read)) ||
      meanings.has(JSON.stringify(read))
    );
  }
});

function readAll(texts: string[]): DecodedMacaroon[] | undefined {
  if (texts.length === 1) {
    const single = readToken(texts[0]!);
    return single ? [single] : readTokenList(texts[0]!);
  }
  const list = texts.map(readToken);
  return list.every((macaroon) => macaroon !== undefined) ? list : undefined;
}

t.test('one token in its several forms is one session', async (t) => {
  const store = await startIdentity(t);
  const token = readToken(await logIn(store))!;
  const whoami = (text: string) => store.with(text).get('/v1/tokens/whoami');
  const texts = [
    ...['one text, binary 1', 'one text, binary 2', 'one text, JSON'].map((name) => forms[name]!([token])[0]!),
  ];
  for (const text of texts) t.equal((await whoami(text)).status, 200);
  const { macaroons } = (await store.with(texts[0]!).get('/v1/tokens')).body as {
    macaroons: { 'session-id': string }[];
  };
  t.equal(macaroons.length, 1);
  await store.with(texts[1]!).post('/v1/tokens/revoke', { 'session-id': macaroons[0]?.['session-id'] });
  for (const text of texts) t.equal((await whoami(text)).status, 401);
});

t.test('thousands of caveats, endless headers and heaps of discharges are refused at once', async (t) => {
  const store = await startIdentity(t);
  const { root, caveatId } = await begin(store);
  const dm = await dischargeInBrowser(store, caveatId);
  const many = (count: number): string => {
    const json = toJson2(root);
    return JSON.stringify([
      { ...json, c: [...json.c, ...Array.from({ length: count }, () => ({ i: 'permissions []' }))] },
      toJson2(dm),
    ]);
  };
  const deep = '['.repeat(30_000) + ']'.repeat(30_000);
  const heaps = JSON.stringify([root, ...Array.from({ length: 200 }, () => dm)].map(toJson2));
  const base64 = (text: string): string => Buffer.from(text).toString('base64url');
  for (const [label, headers] of [
    ['5,000 caveats', { macaroons: base64(many(5000)) }],
    ['1,500 caveats', { macaroons: base64(many(1500)) }],
    ['65 caveats', { macaroons: base64(many(61)) }],
    ['200 discharges', { macaroons: base64(heaps).slice(0, 65_000) }],
    ['a bottomless list', { macaroons: base64(deep).slice(0, 65_000) }],
    ['a megabyte', { macaroons: 'A'.repeat(1024 * 1024) }],
    ['a megabyte of a token', { authorization: `Macaroon ${'A'.repeat(1024 * 1024)}` }],
    ['60 KiB of a token', { authorization: `Macaroon ${'A'.repeat(60 * 1024)}` }],
    ['many pairs', { authorization: `Macaroon ${'root="a", discharge="b", '.repeat(2000)}` }],
    ['no token', { authorization: 'Macaroon' }],
    ['another scheme', { authorization: 'Basic YWRhOmFkYQ==' }],
    ['control characters', { authorization: 'Macaroon \u00a0\u00ff' }],
  ] as const) {
    const cpu = cpuWatch();
    const statuses = [];
    for (const path of ['/v1/tokens/whoami', '/v1/tokens']) {
      try {
        statuses.push((await store.anyone.get(path, headers)).status);
      } catch {
        statuses.push(431); // the connection was closed on a client that was still sending its headers
      }
    }
    t.ok(
      statuses.every((status) => allowed.includes(status)),
      `${label}: ${statuses.join(' ')}`,
    );
    t.ok(cpu() < 2000, `${label}: ${Math.round(cpu())} ms of CPU`);
  }
  const post = (macaroon: unknown) => store.anyone.post('/v1/tokens/exchange', { macaroon });
  for (const [label, macaroon] of [
    ['5,000 caveats', many(5000)],
    ['5,000 caveats as JSON', JSON.parse(many(5000)) as unknown],
    ['200 discharges', heaps],
    ['numbers', [1, 2]],
    ['null', null],
    ['nothing', {}],
    ['a name that objects have', [{ hasOwnProperty: 1, i: 'x', s64: 'y' }]],
    ['a prototype', JSON.parse('[{"__proto__": {"i": "x"}}]') as unknown],
  ] as const) {
    const { status, body } = await post(macaroon);
    t.equal(status, 400, label);
    t.match(body, { 'error-list': [{ code: 'api-error', message: 'Invalid macaroon' }] }, label);
  }
  t.notMatch(store.log.join(''), '"level":"error"');
  t.notMatch(store.log.join(''), dm.signature.toString('base64url'), 'and nothing of it is in the log');
});
