import t from 'tap';
import {
  bakeryFromJson,
  bakeryMacaroon,
  bakeryToJson,
  dischargeFor,
  localDischarge,
  payloadOf,
  withBakeryCaveat,
  withLocalCaveat,
  type BakeryMacaroon,
} from '#macaroons/codec/bakery.ts';
import { toJson1, toJson2 } from '#macaroons/codec/json.ts';
import { newKeyPair } from '#macaroons/codec/keys.ts';
import {
  bindForRequest,
  limits,
  mint,
  verify,
  withFirstPartyCaveat,
  type Caveat,
  type DecodedMacaroon,
} from '#macaroons/codec/macaroon.ts';
import { decodePayload, type BakeryVersion } from '#macaroons/codec/payload.ts';
import { adasLogin, adasToken, met, rootKey } from './recipes.ts';

const gateway = newKeyPair();
const identityProvider = newKeyPair();
const location = 'https://store.example/identity';
const through = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A root with a single caveat, which asks the identity provider for the identity. */
function asking(version: BakeryVersion, dischargerVersion: BakeryVersion = 3): BakeryMacaroon {
  return withBakeryCaveat(bakeryMacaroon(mint(rootKey, 'login', 'https://store.example'), version), {
    location,
    condition: 'is-authenticated-user',
    thirdParty: { publicKey: identityProvider.publicKey, version: dischargerVersion },
    firstParty: gateway,
  });
}

function onlyCaveat({ macaroon }: BakeryMacaroon): Caveat {
  const [caveat] = macaroon.caveats;
  if (!caveat) throw new Error('cannot find the caveat');
  return caveat;
}

for (const version of [1, 2, 3] as const) {
  t.test(`a discharge of a version ${version} caveat proves what the identity provider declares`, (t) => {
    const root = asking(version);
    const caveat = onlyCaveat(root);
    t.equal(caveat.location, location);
    const read = decodePayload(payloadOf(root, caveat), identityProvider);
    if (!read.decoded) return t.fail(read.reason);
    t.match(read.payload, { version, condition: 'is-authenticated-user', firstPartyKey: gateway.publicKey });

    const fresh = dischargeFor(read.payload, caveat.identifier);
    t.strictSame(fresh.macaroon.identifier, caveat.identifier);
    t.equal(fresh.version, version, 'in the form that the caveat asks for');
    const declared = withFirstPartyCaveat(fresh.macaroon, 'declared username ada');
    const discharge = bindForRequest(root.macaroon, declared);
    t.same(verify({ macaroon: root.macaroon, rootKey, discharges: [discharge], check: met }), {
      verified: true,
      conditions: [{ condition: 'declared username ada', from: caveat.identifier }],
    });
    t.end();
  });

  t.test(`a version ${version} macaroon is read from its JSON unchanged`, (t) => {
    const root = asking(version);
    const read = bakeryFromJson(through(bakeryToJson(root)));
    t.strictSame(read, root);
    t.end();
  });
}

t.test('a caveat takes the older version of its two parties', (t) => {
  for (const [macaroon, discharger, expected] of [
    [2, 3, 2],
    [3, 2, 2],
    [3, 1, 1],
    [3, 3, 3],
  ] as const) {
    const root = asking(macaroon, discharger);
    const payload = payloadOf(root, onlyCaveat(root));
    t.match(decodePayload(payload, identityProvider), { payload: { version: expected } });
    t.equal(root.caveatData.size, expected === 3 ? 1 : 0);
  }
  t.end();
});

t.test('in version 2 the payload is the identifier; in version 3 it travels beside the macaroon', (t) => {
  const second = asking(2);
  t.equal(onlyCaveat(second).identifier[0], 2);
  t.strictSame(payloadOf(second, onlyCaveat(second)), onlyCaveat(second).identifier);
  t.strictSame(bakeryToJson(second), toJson2(second.macaroon), 'nothing wraps it');

  const third = asking(3);
  t.strictSame(onlyCaveat(third).identifier, Buffer.from([3, 0]));
  t.strictSame(bakeryToJson(third), {
    m: toJson2(third.macaroon),
    v: 3,
    ns: 'std:',
    cdata: { AwA: payloadOf(third, onlyCaveat(third)).toString('base64url') },
  });
  t.equal(payloadOf(third, onlyCaveat(third))[0], 3);
  t.same(bakeryToJson(bakeryMacaroon(adasToken(), 3)), { m: toJson2(adasToken()), v: 3, ns: 'std:', cdata: {} });
  t.same(bakeryToJson(bakeryMacaroon(adasToken(), 1)), toJson1(adasToken()));
  t.end();
});

t.test('every caveat of version 3 has an identifier of its own, also within a discharge', (t) => {
  const another = { location, condition: 'true', thirdParty: { publicKey: identityProvider.publicKey, version: 3 } };
  const add = (target: BakeryMacaroon): BakeryMacaroon =>
    withBakeryCaveat(target, { ...another, thirdParty: { ...another.thirdParty, version: 3 }, firstParty: gateway });
  const root = add(add(asking(3)));
  const identifiers = root.macaroon.caveats.map((caveat) => [...caveat.identifier]);
  t.same(identifiers, [
    [3, 0],
    [3, 1],
    [3, 2],
  ]);
  const forgetful = add({ ...root, caveatData: new Map() });
  t.same([...(forgetful.macaroon.caveats[3]?.identifier ?? [])], [3, 3], 'taken ones are passed over');

  const read = decodePayload(payloadOf(root, onlyCaveat(root)), identityProvider);
  if (!read.decoded) return t.fail(read.reason);
  const discharge = add(dischargeFor(read.payload, onlyCaveat(root).identifier));
  t.same([...onlyCaveat(discharge).identifier], [3, 0, 0], 'it starts with what the discharge answers');
  t.end();
});

t.test('an agent proves that it has its key by discharging a local caveat', (t) => {
  const [agent, other] = [newKeyPair(), newKeyPair()];
  for (const version of [1, 2, 3] as const) {
    const plain = bakeryMacaroon(withFirstPartyCaveat(mint(rootKey, 'agent', ''), 'declared username ada'), version);
    const root = withLocalCaveat(plain, { publicKey: agent.publicKey, version: 3 }, identityProvider);
    const sent = bakeryFromJson(through(bakeryToJson(root)));
    const caveat = sent?.macaroon.caveats[1];
    if (!sent || !caveat) return t.fail('it was not read');
    t.equal(caveat.location, 'local');
    t.equal(localDischarge(sent, caveat, other), undefined, 'another key');
    const answer = localDischarge(sent, caveat, agent);
    if (!answer) return t.fail('it was not discharged');
    const discharge = bindForRequest(sent.macaroon, answer.macaroon);
    t.equal(verify({ macaroon: root.macaroon, rootKey, discharges: [discharge], check: met }).verified, true);
  }
  t.end();
});

t.test('only a caveat that is local and true is discharged by its bearer', (t) => {
  const agent = newKeyPair();
  const make = (place: string, condition: string): BakeryMacaroon =>
    withBakeryCaveat(bakeryMacaroon(mint(rootKey, 'agent', ''), 2), {
      location: place,
      condition,
      thirdParty: { publicKey: agent.publicKey, version: 2 },
      firstParty: identityProvider,
    });
  const discharged = (holder: BakeryMacaroon): unknown => localDischarge(holder, onlyCaveat(holder), agent);
  t.ok(discharged(make('local', 'true')));
  t.equal(discharged(make('local', 'is-authenticated-user')), undefined);
  t.equal(discharged(make('https://store.example', 'true')), undefined);
  t.end();
});

t.test('a wrapper is read in the spellings of other implementations', (t) => {
  const root = asking(3);
  const json = bakeryToJson(root);
  if (!('cdata' in json)) return t.fail('it is not wrapped');
  const payload = payloadOf(root, onlyCaveat(root)).toString('base64');
  t.strictSame(bakeryFromJson({ ...json, cdata: { 'AwA=': payload } }), root, 'padded standard base64');
  t.strictSame(bakeryFromJson({ ...json, m: { ...json.m, v: 2 } }), root, 'with the version of the macaroon');
  const { ns, cdata, ...bare } = json;
  t.match(bakeryFromJson(bare), { version: 3, namespace: new Map(), caveatData: new Map() }, `without ${ns} and data`);
  t.strictSame(bakeryFromJson({ ...bare, ns, cdata }), root);
  t.end();
});

t.test('a malformed wrapper is none, without an exception', (t) => {
  const json = bakeryToJson(asking(3));
  const inner = asking(2).macaroon;
  const malformed: Record<string, unknown> = {
    nothing: undefined,
    null: null,
    'a list': [],
    text: 'm',
    'no macaroon': { ...json, m: null },
    'a macaroon that is none': { ...json, m: {} },
    'a macaroon that is text': { ...json, m: 'AgE' },
    'a wrapper in a wrapper': { ...json, m: json },
    'a macaroon of version 1': { ...json, m: toJson1(adasToken()) },
    'no version': { ...json, v: undefined },
    'an older version': { ...json, v: 2 },
    'a newer version': { ...json, v: 4 },
    'a version as text': { ...json, v: '3' },
    'a namespace that is none': { ...json, ns: 'std' },
    'a namespace that is a list': { ...json, ns: [] },
    'data that is a list': { ...json, cdata: [] },
    'data that is text': { ...json, cdata: 'AwA' },
    'data under a name that is not base64': { ...json, cdata: { '!': 'AwA' } },
    'data that is not base64': { ...json, cdata: { AwA: '!' } },
    'data that is a number': { ...json, cdata: { AwA: 3 } },
    'data too long': { ...json, cdata: { AwA: Buffer.alloc(limits.field + 1).toString('base64') } },
    'too much data': {
      ...json,
      cdata: Object.fromEntries(
        Array.from({ length: limits.caveats + 1 }, (_, n) => [Buffer.from([3, n]).toString('base64url'), 'AwA']),
      ),
    },
  };
  for (const [name, value] of Object.entries(malformed)) t.equal(bakeryFromJson(value), undefined, name);
  t.ok(bakeryFromJson(toJson2(inner)), 'while a bare macaroon is one');
  t.end();
});

t.test('a discharge that was made for one root is worth nothing beside another', (t) => {
  const [first, other] = [asking(2), asking(2)];
  const read = decodePayload(payloadOf(first, onlyCaveat(first)), identityProvider);
  if (!read.decoded) return t.fail(read.reason);
  const discharge = dischargeFor(read.payload, onlyCaveat(first).identifier).macaroon;
  const proven = (root: DecodedMacaroon, answer: DecodedMacaroon): boolean =>
    verify({ macaroon: root, rootKey, discharges: [answer], check: met }).verified;
  t.equal(proven(first.macaroon, bindForRequest(first.macaroon, discharge)), true);
  t.equal(proven(other.macaroon, bindForRequest(other.macaroon, discharge)), false);
  t.equal(proven(adasLogin().root, bindForRequest(adasLogin().root, discharge)), false);
  t.end();
});
