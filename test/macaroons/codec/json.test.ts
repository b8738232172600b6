import fc from 'fast-check';
import t from 'tap';
import { fromJson, toJson1, toJson2, versionedFromJson } from '#macaroons/codec/json.ts';
import { limits, mint, verify, withThirdPartyCaveat } from '#macaroons/codec/macaroon.ts';
import { adasLogin, adasToken, caveatRootKey, cooked, long, met, recipes, rootKey } from './recipes.ts';

const through = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

t.test('version 2 is written as the publisher gateway of the field writes it', (t) => {
  const binary = withThirdPartyCaveat(mint(rootKey, Buffer.from([3, 0xff]), 'https://store.example'), {
    caveatRootKey,
    identifier: Buffer.from([2, 0xff]),
    location: 'https://store.example/identity',
  });
  const vid = binary.caveats[0]?.verificationId?.toString('base64url');
  t.strictSame(toJson2(binary), {
    c: [{ i64: 'Av8', v64: vid, l: 'https://store.example/identity' }],
    l: 'https://store.example',
    i64: 'A_8',
    s64: binary.signature.toString('base64url'),
  });
  t.same(Object.keys(toJson2(adasToken())), ['c', 'l', 'i', 's64'], 'text is written as text');
  t.end();
});

t.test('version 1 is written with its long names and a hexadecimal signature', (t) => {
  const { root } = adasLogin();
  const vid = root.caveats[1]?.verificationId?.toString('base64url');
  t.strictSame(toJson1(root), {
    caveats: [{ cid: 'session-id 7' }, { cid: 'who is it?', vid, cl: 'https://store.example/identity' }],
    location: 'https://store.example',
    identifier: 'login',
    signature: root.signature.toString('hex'),
  });
  t.throws(() => toJson1(mint(rootKey, Buffer.from([0xff]), '')), /^cannot write/);
  t.end();
});

t.test('a written macaroon is read back unchanged, with its version', (t) => {
  fc.assert(
    fc.property(recipes('text'), (recipe) => {
      const { root, discharges } = cooked(recipe);
      for (const macaroon of [root, ...discharges]) {
        t.strictSame(versionedFromJson(through(toJson1(macaroon))), { macaroon, version: 1 });
        t.strictSame(versionedFromJson(through(toJson2(macaroon))), { macaroon, version: 2 });
      }
    }),
    { numRuns: long ? 5_000 : 100 },
  );
  fc.assert(
    fc.property(recipes(), (recipe) => {
      const { root } = cooked(recipe);
      t.strictSame(fromJson(through(toJson2(root))), root);
    }),
    { numRuns: long ? 5_000 : 100 },
  );
  t.end();
});

t.test('the spellings of other implementations are read', (t) => {
  const { root } = adasLogin();
  const { c, i, s64 } = toJson2(root);
  const [, thirdParty] = c;
  const signature = root.signature.toString('base64');
  const spellings: Record<string, unknown> = {
    'a version number': { ...toJson2(root), v: 2 },
    'a version text': { ...toJson2(root), v: '2' },
    'padded standard base64': { c, l: root.location, i, s64: signature },
    'unpadded standard base64': { c, l: root.location, i, s64: signature.replace(/=+$/, '') },
    'padded base64url': { c, l: root.location, i, s64: `${s64}=` },
    'base64 where text would do': { c, l: root.location, i64: Buffer.from('login').toString('base64'), s64 },
    'an empty location in a first-party caveat': {
      ...toJson2(root),
      c: [{ i: 'session-id 7', l: '' }, thirdParty],
    },
    'null for what is not there': {
      ...toJson1(root),
      caveats: toJson1(root).caveats.map((caveat) => ({ vid: null, cl: null, ...caveat })),
    },
    'a signature in upper case': { ...toJson1(root), signature: root.signature.toString('hex').toUpperCase() },
    'members nobody knows': { ...toJson2(root), x: 1 },
  };
  for (const [name, value] of Object.entries(spellings)) t.strictSame(fromJson(value), root, name);

  const bare = mint(rootKey, 'ada', '');
  t.strictSame(fromJson({ i: 'ada', s64: bare.signature.toString('base64url') }), bare, 'nothing but what is signed');
  t.strictSame(fromJson({ identifier: 'ada', signature: bare.signature.toString('hex') }), bare);
  t.end();
});

t.test('a signature that happens to be text may be written as text', (t) => {
  const macaroon = { ...mint(rootKey, 'ada', ''), signature: Buffer.from('s'.repeat(32)) };
  t.strictSame(fromJson({ i: 'ada', s: 's'.repeat(32) }), macaroon);
  t.end();
});

t.test('malformed text is refused, without an exception', (t) => {
  const good1 = toJson1(adasToken());
  const good2 = toJson2(adasToken());
  const malformed: Record<string, unknown> = {
    nothing: undefined,
    null: null,
    text: 'macaroon',
    'a number': 1,
    'a list': [good2],
    'an empty object': {},
    'both versions at once': { ...good1, ...good2 },
    'another version': { ...good2, v: 3 },
    'no identifier': { c: [], l: '', s64: good2.s64 },
    'an empty identifier': { ...good2, i: '' },
    'an identifier twice': { ...good2, i64: 'YWRh' },
    'an identifier that is a number': { ...good2, i: 1 },
    'a lone surrogate': { ...good2, i: '\ud800' },
    'a lone surrogate in the location': { ...good2, l: '\ud800' },
    'a location that is an object': { ...good2, l: {} },
    'no signature': { c: [], l: '', i: 'ada' },
    'a short signature': { ...good2, s64: 'AAAA' },
    'stray characters in base64': { ...good2, s64: `${good2.s64}!` },
    'both alphabets': { ...good2, i: undefined, i64: '-_+/' },
    'unused bits in base64': { ...good2, i: undefined, i64: 'YR' },
    'caveats that are no list': { ...good2, c: {} },
    'caveats that are text': { ...good2, c: 'session-id 7' },
    'a caveat that is text': { ...good2, c: ['session-id 7'] },
    'a caveat that is null': { ...good2, c: [null] },
    'a caveat without an identifier': { ...good2, c: [{}] },
    'a caveat with an empty verification id': { ...good2, c: [{ i: 'a', v64: '' }] },
    'a caveat with a place but no third party': { ...good2, c: [{ i: 'a', l: 'b' }] },
    'too many caveats': { ...good2, c: Array.from({ length: limits.caveats + 1 }, () => ({ i: 'a' })) },
    'a field too long': { ...good2, i: 'a'.repeat(limits.field + 1) },
    'a signature that is not hexadecimal': { ...good1, signature: 'g'.repeat(64) },
    'a signature too long': { ...good1, signature: 'a'.repeat(66) },
    'a caveat of version 2 in version 1': { ...good1, caveats: [{ i: 'a' }] },
    'a verification id that is not base64': { ...good1, caveats: [{ cid: 'a', vid: '!', cl: 'b' }] },
    'a location that is a list': { ...good1, location: [] },
    'members that are inherited': Object.create(good2),
    'members named like those of every object': JSON.parse('{"__proto__":{"i":"ada"},"hasOwnProperty":1,"i":"ada"}'),
  };
  for (const [name, value] of Object.entries(malformed)) t.equal(fromJson(value), undefined, name);
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      t.equal(fromJson(value), undefined);
    }),
    { numRuns: long ? 20_000 : 300 },
  );
  t.end();
});

t.test('one token is the same in every form', (t) => {
  const { root, discharge } = adasLogin();
  for (const write of [toJson1, toJson2]) {
    const [macaroon, answer] = [root, discharge].map((each) => fromJson(through(write(each))));
    if (!macaroon || !answer) return t.fail('it was not read');
    t.equal(verify({ macaroon, rootKey, discharges: [answer], check: met }).verified, true);
  }
  t.end();
});
