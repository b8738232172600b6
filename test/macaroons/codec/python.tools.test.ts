// Agreement with Debian's python3-pymacaroons and python3-macaroonbakery, which real clients of the field are built on.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import {
  bakeryFromJson,
  bakeryMacaroon,
  bakeryToJson,
  dischargeFor,
  payloadOf,
  withBakeryCaveat,
  withLocalCaveat,
  type BakeryJsonMacaroon,
  type BakeryMacaroon,
} from '#macaroons/codec/bakery.ts';
import { readBinaryList } from '#macaroons/codec/binary.ts';
import { toJson1, toJson2 } from '#macaroons/codec/json.ts';
import { keyText, newKeyPair } from '#macaroons/codec/keys.ts';
import { mint, verify, withFirstPartyCaveat, type DecodedMacaroon } from '#macaroons/codec/macaroon.ts';
import { conditionIn, namespaceText, readNamespace, standardNamespace } from '#macaroons/codec/namespace.ts';
import { decodePayload, encodePayload } from '#macaroons/codec/payload.ts';
import { readToken, readTokenList, writeToken } from '#macaroons/codec/text.ts';
import { withoutPythonPackages } from '#test/fixtures/programs.ts';
import { bytes, cooked, long, met, recipes, rootKey, text, type Recipe } from './recipes.ts';

const python = '/usr/bin/python3';
const skip = withoutPythonPackages('python3-pymacaroons', 'python3-macaroonbakery');
const count = long ? 1_000 : 40;

/** Asks the Python side; one process answers all requests of a test. */
function ask<Answer>(requests: object[]): Promise<Answer[]> {
  return new Promise((resolve, reject) => {
    const peer = join(import.meta.dirname, 'python-peer.py');
    const options = { maxBuffer: 256 * 1024 * 1024 };
    const child = execFile(python, [peer], options, (error, stdout) => {
      if (error) reject(new Error('cannot ask Python', { cause: error }));
      else resolve(JSON.parse(stdout) as Answer[]);
    });
    child.stdin?.end(JSON.stringify(requests));
  });
}

const base64 = (value: Buffer): string => value.toString('base64');
const through = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Python's version 1 has no third-party caveat without a location. */
const suitable = (recipe: Recipe): boolean => recipe.thirdParties.every(({ location }) => location !== '');
const sampled = (spelling: 'text' | 'letters'): Recipe[] =>
  fc.sample(recipes(spelling).filter(suitable), { numRuns: count, seed: 20260601 });
const conditionsOf = ({ conditions, thirdParties }: Recipe): string[] => [
  ...conditions,
  ...thirdParties.flatMap((party) => party.conditions),
];

const kinds = [
  { version: 1, form: 'binary' },
  { version: 2, form: 'binary' },
  { version: 1, form: 'json' },
  { version: 2, form: 'json' },
] as const;

for (const { version, form } of kinds) {
  const sample = sampled(version === 1 && form === 'binary' ? 'letters' : 'text');

  t.test(`tokens of Python in version ${version} ${form} verify here, with their discharges`, { skip }, async (t) => {
    const minted = await ask<string[]>(
      sample.map(({ rootKey: key, identifier, location, conditions, thirdParties }) => ({
        do: 'mint',
        version,
        form,
        root: {
          rootKey: base64(key),
          identifier: base64(identifier),
          location,
          caveats: [
            ...conditions.map((condition) => ({ condition })),
            ...thirdParties.map((party) => ({
              rootKey: base64(party.caveatRootKey),
              identifier: base64(party.identifier),
              location: party.location,
            })),
          ],
        },
        discharges: thirdParties.map((party) => ({
          rootKey: base64(party.caveatRootKey),
          identifier: base64(party.identifier),
          location: '',
          caveats: party.conditions.map((condition) => ({ condition })),
        })),
      })),
    );
    for (const [index, recipe] of sample.entries()) {
      const list = minted[index]?.map(readToken);
      const [macaroon, ...discharges] = list?.filter((each) => each !== undefined) ?? [];
      if (!macaroon || discharges.length !== recipe.thirdParties.length) return t.fail('it was not read');
      const proof = verify({ macaroon, rootKey: recipe.rootKey, discharges, check: met });
      if (!proof.verified) return t.fail(proof.reason);
      t.strictSame(
        proof.conditions.map(({ condition }) => condition),
        conditionsOf(recipe),
      );
      t.strictSame(macaroon.location, recipe.location);
    }
    t.equal(minted.length, sample.length);
  });

  t.test(`Python verifies our tokens in version ${version} ${form}, with their discharges`, { skip }, async (t) => {
    const write = (macaroon: DecodedMacaroon): string =>
      form === 'binary'
        ? writeToken(macaroon, version)
        : JSON.stringify(version === 1 ? toJson1(macaroon) : toJson2(macaroon));
    const requests = sample.flatMap((recipe) => {
      const { root, discharges } = cooked(recipe);
      const tokens = [root, ...discharges].map(write);
      const right = { do: 'verify', form, tokens, rootKey: base64(recipe.rootKey), met: conditionsOf(recipe) };
      return [right, { ...right, rootKey: base64(Buffer.concat([recipe.rootKey, Buffer.from('x')])) }];
    });
    const answers = await ask<boolean>(requests);
    t.same(
      answers,
      sample.flatMap(() => [true, false]),
      'with the right key, and not with another',
    );
  });
}

const identityProvider = newKeyPair();
const gateway = newKeyPair();
const payloads = fc.sample(
  fc.record({
    version: fc.constantFrom(1 as const, 2 as const, 3 as const),
    condition: text(1, 60),
    rootKey: bytes(1, 60),
    namespace: fc.constantFrom('', 'std:', 'std:s', 'https://store.example/conditions:x std:'),
  }),
  { numRuns: count, seed: 20260602 },
);

t.test('the payloads that Python encodes we decode', { skip }, async (t) => {
  const encoded = await ask<string>(
    payloads.map((payload) => ({
      ...payload,
      do: 'encode_payload',
      rootKey: base64(payload.rootKey),
      thirdPartyKey: keyText(identityProvider.publicKey),
      firstParty: keyText(gateway.privateKey),
    })),
  );
  for (const [index, { version, condition, rootKey: key, namespace }] of payloads.entries()) {
    t.strictSame(decodePayload(Buffer.from(encoded[index] ?? '', 'base64'), identityProvider), {
      decoded: true,
      payload: {
        version,
        condition,
        rootKey: key,
        firstPartyKey: gateway.publicKey,
        namespace: version === 3 ? readNamespace(namespace) : standardNamespace,
      },
    });
  }
});

t.test('the payloads that we encode Python decodes', { skip }, async (t) => {
  const namespaces = payloads.map(({ namespace }) => readNamespace(namespace) ?? standardNamespace);
  const decoded = await ask<unknown>(
    payloads.map((payload, index) => ({
      do: 'decode_payload',
      thirdParty: keyText(identityProvider.privateKey),
      payload: base64(
        encodePayload({
          ...payload,
          thirdPartyKey: identityProvider.publicKey,
          firstParty: gateway,
          namespace: namespaces[index] ?? standardNamespace,
        }),
      ),
    })),
  );
  t.strictSame(
    decoded,
    payloads.map(({ version, condition, rootKey: key }, index) => ({
      version,
      condition,
      rootKey: base64(key),
      firstPartyKey: keyText(gateway.publicKey),
      namespace: namespaceText((version === 3 ? namespaces[index] : undefined) ?? standardNamespace),
    })),
  );
});

/** Ours: a root that asks the identity provider who is there. */
function asking(version: 1 | 2 | 3, dischargerVersion: 1 | 2 | 3): BakeryMacaroon {
  return withBakeryCaveat(bakeryMacaroon(mint(rootKey, 'login', 'https://store.example'), version), {
    location: 'https://store.example/identity',
    condition: 'is-authenticated-user',
    thirdParty: { publicKey: identityProvider.publicKey, version: dischargerVersion },
    firstParty: gateway,
  });
}

/** Ours: the identity provider's answer to the only caveat of a root, unbound. */
function answered(root: BakeryMacaroon): BakeryMacaroon {
  const [caveat] = root.macaroon.caveats;
  const read = caveat && decodePayload(payloadOf(root, caveat), identityProvider);
  if (!caveat || !read?.decoded) throw new Error('cannot decode the payload');
  const discharge = dischargeFor(read.payload, caveat.identifier);
  const condition = conditionIn(read.payload.namespace, 'declared username ada');
  if (condition === undefined) throw new Error('cannot declare in this namespace');
  return { ...discharge, macaroon: withFirstPartyCaveat(discharge.macaroon, condition) };
}

const pairs = ([1, 2, 3] as const).flatMap((version) =>
  ([1, 2, 3] as const).map((dischargerVersion) => ({ version, dischargerVersion })),
);

const declared = { verified: true, conditions: [{ condition: 'declared username ada' }] };

t.test(
  'Python reads our roots in every bakery version, discharges them, and we verify its tokens',
  { skip },
  async (t) => {
    const answers = await ask<{ header: string; binary: string }>(
      pairs.map(({ version, dischargerVersion }) => ({
        do: 'discharge_all',
        root: bakeryToJson(asking(version, dischargerVersion)),
        thirdParty: keyText(identityProvider.privateKey),
      })),
    );
    t.equal(answers.length, pairs.length);
    for (const { header, binary } of answers) {
      for (const list of [readTokenList(header), readBinaryList(Buffer.from(binary, 'base64'))]) {
        const [macaroon, ...discharges] = list ?? [];
        if (!macaroon) return t.fail('it was not read');
        t.match(verify({ macaroon, rootKey, discharges, check: met }), declared);
      }
    }
  },
);

t.test('an agent written in Python discharges our local caveats', { skip }, async (t) => {
  const agent = newKeyPair();
  const roots = ([1, 2, 3] as const).map((version) =>
    withLocalCaveat(
      bakeryMacaroon(withFirstPartyCaveat(mint(rootKey, 'agent', ''), 'declared username ada'), version),
      { publicKey: agent.publicKey, version: 3 },
      identityProvider,
    ),
  );
  const answers = await ask<{ binary: string }>(
    roots.map((root) => ({
      do: 'discharge_all',
      root: bakeryToJson(root),
      thirdParty: keyText(identityProvider.privateKey),
      localKey: keyText(agent.privateKey),
    })),
  );
  t.equal(answers.length, roots.length);
  for (const { binary } of answers) {
    const [macaroon, ...discharges] = readBinaryList(Buffer.from(binary, 'base64')) ?? [];
    if (!macaroon) return t.fail('it was not read');
    t.equal(discharges.length, 1);
    t.match(verify({ macaroon, rootKey, discharges, check: met }), declared);
  }
});

t.test('the roots that Python makes we discharge, and Python takes our discharge', { skip }, async (t) => {
  const roots = await ask<BakeryJsonMacaroon>(
    pairs.map(({ version, dischargerVersion }) => ({
      do: 'mint_asking',
      version,
      dischargerVersion,
      identifier: 'login',
      rootKey: base64(rootKey),
      thirdPartyKey: keyText(identityProvider.publicKey),
      firstParty: keyText(gateway.privateKey),
    })),
  );
  const requests = roots.flatMap((root) => {
    const read = bakeryFromJson(root);
    if (!read) throw new Error('cannot read the root');
    const discharge = through(bakeryToJson(answered(read)));
    const right = { do: 'accept_discharge', root, discharge, rootKey: base64(rootKey), met: ['declared username ada'] };
    return [right, { ...right, met: ['declared username bob'] }];
  });
  t.same(
    await ask<boolean>(requests),
    pairs.flatMap(() => [true, false]),
  );
});
