import fc from 'fast-check';
import t from 'tap';
import { bakeryMacaroon, bakeryToJson } from '#macaroons/codec/bakery.ts';
import { writeBinary } from '#macaroons/codec/binary.ts';
import { toJson1, toJson2 } from '#macaroons/codec/json.ts';
import { limits, mint, withFirstPartyCaveat } from '#macaroons/codec/macaroon.ts';
import { readToken, readTokenList, tokenListFromJson, writeToken, writeTokenList } from '#macaroons/codec/text.ts';
import { anyCharacter } from '#test/fixtures/characters.ts';
import { adasLogin, adasToken, cooked, long, recipes, rootKey } from './recipes.ts';

t.test('a token is unpadded base64url of the binary form', (t) => {
  const token = writeToken(adasToken());
  t.match(token, /^[A-Za-z0-9_-]+$/);
  t.strictSame(Buffer.from(token, 'base64url'), writeBinary(adasToken(), 2));
  t.strictSame(Buffer.from(writeToken(adasToken(), 1), 'base64url'), writeBinary(adasToken(), 1));
  t.end();
});

t.test('a token is read in either alphabet, padded or not, in either version, and as JSON', (t) => {
  fc.assert(
    fc.property(recipes('text'), (recipe) => {
      const { root } = cooked(recipe);
      for (const version of [1, 2] as const) {
        const standard = writeBinary(root, version).toString('base64');
        const spellings = [standard, standard.replaceAll('+', '-').replaceAll('/', '_')];
        for (const spelling of [...spellings, ...spellings.map((text) => text.replace(/=+$/, ''))]) {
          t.strictSame(readToken(spelling), root);
        }
      }
      for (const json of [toJson1(root), toJson2(root), bakeryToJson(bakeryMacaroon(root, 3))]) {
        t.strictSame(readToken(JSON.stringify(json)), root);
      }
    }),
    { numRuns: long ? 2_000 : 50 },
  );
  t.end();
});

t.test('a malformed token is none, without an exception', (t) => {
  const token = writeToken(adasToken());
  const malformed = ['', ' ', '{', '{}', '[]', 'null', '"', '=', '====', 'A', 'é', '\0', '{"i":"a"', '\ud800'];
  const variations = [
    ` ${token}`,
    `${token}\n`,
    `${token}===`,
    `${token}====`,
    token.slice(1),
    `Macaroon ${token}`,
    `"${token}"`,
    token.slice(0, -1),
    `${token}${token}`,
    Buffer.from(JSON.stringify(toJson2(adasToken()))).toString('base64'),
  ];
  for (const text of [...malformed, ...variations]) {
    t.equal(readToken(text), undefined, text.slice(0, 12));
  }
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      t.equal(readToken(text), undefined);
      t.equal(readTokenList(text), undefined);
    }),
    { numRuns: long ? 20_000 : 300 },
  );
  t.end();
});

t.test('the root and its discharges are read from the list that clients send', (t) => {
  const { root, discharge } = adasLogin();
  const both = [root, discharge];
  t.strictSame(readTokenList(writeTokenList(both)), both);
  const items: Record<string, unknown[]> = {
    'version 1': both.map(toJson1),
    'version 2': both.map(toJson2),
    'version 2 with its number': both.map((macaroon) => ({ ...toJson2(macaroon), v: 2 })),
    wrapped: both.map((macaroon) => bakeryToJson(bakeryMacaroon(macaroon, 3))),
    'as tokens': both.map((macaroon) => writeToken(macaroon)),
    mixed: [toJson2(root), writeToken(discharge, 1)],
  };
  for (const [name, list] of Object.entries(items)) {
    const json = JSON.stringify(list);
    const standard = Buffer.from(json).toString('base64');
    const urlSafe = standard.replaceAll('+', '-').replaceAll('/', '_');
    t.strictSame(readTokenList(standard), both, `${name}, standard base64`);
    t.strictSame(readTokenList(urlSafe), both, `${name}, padded base64url`);
    t.strictSame(readTokenList(urlSafe.replace(/=+$/, '')), both, `${name}, unpadded base64url`);
    t.strictSame(readTokenList(json), both, `${name}, JSON text`);
    t.strictSame(tokenListFromJson(list), both, `${name}, parsed`);
  }
  t.end();
});

t.test('a list is malformed when any of it is', (t) => {
  const token = toJson2(adasToken());
  const list = (value: unknown): unknown => readTokenList(Buffer.from(JSON.stringify(value)).toString('base64url'));
  t.ok(list([token]));
  for (const value of [[], {}, token, 'x', null, [null], [token, null], [token, {}], [token, ''], [[token]]]) {
    t.equal(list(value), undefined, JSON.stringify(value).slice(0, 12));
  }
  const full = Array.from({ length: 1 + limits.discharges }, () => token);
  t.ok(list(full));
  t.equal(list([...full, token]), undefined, 'nine discharges');
  t.equal(readTokenList('!'), undefined);
  t.equal(readTokenList(Buffer.from([0xff]).toString('base64')), undefined);
  t.end();
});

t.test('text beyond the limit is not even looked at, and none is written', (t) => {
  const large = 'x'.repeat(limits.field / 2);
  const wide = Array.from({ length: 4 }, () => large).reduce(withFirstPartyCaveat, mint(rootKey, 'ada', ''));
  t.equal(readToken(writeBinary(wide).toString('base64url')), undefined);
  t.equal(readToken(JSON.stringify(toJson2(wide))), undefined);
  t.equal(readTokenList(JSON.stringify([toJson2(wide)])), undefined);
  t.equal(readToken('['.repeat(limits.text)), undefined);
  t.equal(readTokenList('['.repeat(limits.text)), undefined);
  t.equal(readToken(`{"i":"${'é'.repeat(limits.text - 10)}"}`), undefined, 'bytes count, not letters');
  t.throws(() => writeToken(wide), /^cannot write/);
  t.throws(() => writeTokenList([wide]), /^cannot write/);
  t.end();
});
