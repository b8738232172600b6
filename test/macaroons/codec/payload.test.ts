import fc from 'fast-check';
import nacl from 'tweetnacl';
import t from 'tap';
import { keyPairFrom, keyText, newKeyPair, readKeyText } from '#macaroons/codec/keys.ts';
import { limits } from '#macaroons/codec/macaroon.ts';
import { conditionIn, namespaceText, readNamespace, standardNamespace } from '#macaroons/codec/namespace.ts';
import { decodePayload, encodePayload, type CaveatPayload } from '#macaroons/codec/payload.ts';
import { bytes, long, text } from './recipes.ts';

const identityProvider = newKeyPair();
const gateway = newKeyPair();
const versions = [1, 2, 3] as const;
const rootKey = Buffer.from('twenty-four random bytes');

const example = {
  condition: 'is-authenticated-user',
  rootKey,
  thirdPartyKey: identityProvider.publicKey,
  firstParty: gateway,
  namespace: standardNamespace,
};

t.test('a text of any version is decoded by the holder of the key', (t) => {
  const namespaces = fc
    .dictionary(fc.stringMatching(/^[a-z:/.]{1,12}$/), fc.stringMatching(/^[a-z]{0,4}$/), { maxKeys: 4 })
    .map((entries) => new Map(Object.entries(entries).sort(([first], [other]) => (first < other ? -1 : 1))));
  fc.assert(
    fc.property(fc.constantFrom(...versions), text(1, 60), bytes(1, 200), namespaces, (version, condition, key, ns) => {
      const payload = encodePayload({ ...example, version, condition, rootKey: key, namespace: ns });
      t.strictSame(decodePayload(payload, identityProvider), {
        decoded: true,
        payload: {
          version,
          condition,
          rootKey: key,
          firstPartyKey: gateway.publicKey,
          namespace: version === 3 ? ns : standardNamespace,
        },
      });
    }),
    { numRuns: long ? 2_000 : 60 },
  );
  t.end();
});

t.test('the binary payload has the layout of the bakery', (t) => {
  const nonce = Buffer.alloc(24, 7);
  for (const version of [2, 3] as const) {
    const payload = encodePayload({ ...example, version, nonce });
    t.equal(payload[0], version);
    t.strictSame(payload.subarray(1, 5), identityProvider.publicKey.subarray(0, 4));
    t.strictSame(payload.subarray(5, 37), gateway.publicKey);
    t.strictSame(payload.subarray(37, 61), nonce);
    const secret = nacl.box.open(payload.subarray(61), nonce, gateway.publicKey, identityProvider.privateKey);
    const namespace = version === 3 ? [4, ...Buffer.from('std:')] : [];
    const expected = [version, 24, ...rootKey, ...namespace, ...Buffer.from('is-authenticated-user')];
    t.same(secret && [...secret], expected);
  }
  t.end();
});

t.test('a payload differs from one for another key and from an identifier without its payload', (t) => {
  for (const version of versions) {
    const payload = encodePayload({ ...example, version });
    t.same(decodePayload(payload, newKeyPair()), { decoded: false, reason: 'for another key' });
  }
  t.same(decodePayload(Buffer.from([3, 0]), identityProvider), { decoded: false, reason: 'payload missing' });
  t.end();
});

t.test('a payload that was touched, cut or made up is malformed, without an exception', (t) => {
  const malformed = { decoded: false, reason: 'malformed' };
  for (const version of versions) {
    const payload = encodePayload({ ...example, version });
    // Version 1 is base64 with optional padding.
    const length = payload.toString('latin1').replace(/=+$/, '').length;
    for (let at = 0; at < length; at += 1) {
      const touched = Buffer.from(payload);
      touched[at] = (touched[at] ?? 0) ^ 1;
      if (decodePayload(touched, identityProvider).decoded) t.fail(`version ${version}, byte ${at}`);
      const cut = payload.subarray(0, at);
      if (decodePayload(cut, identityProvider).decoded) t.fail(`version ${version}, cut to ${at}`);
    }
  }
  for (const made of ['', 'e', 'eyJ9', 'e30=', '\u0002', '\u0001', 'x', Buffer.from('[]').toString('base64')]) {
    t.same(decodePayload(Buffer.from(made), identityProvider), malformed, made);
  }
  t.same(decodePayload(Buffer.alloc(limits.field + 1, 'e'), identityProvider), malformed);
  fc.assert(
    fc.property(bytes(0, 200), fc.constantFrom(...Buffer.from('e\u0002\u0003')), (rest, first) => {
      t.equal(decodePayload(Buffer.from([first, ...rest]), identityProvider).decoded, false);
    }),
    { numRuns: long ? 10_000 : 200 },
  );
  t.end();
});

t.test('a sealed secret with invalid content is malformed', (t) => {
  const text = (value: string): number[] => [...Buffer.from(value)];
  const secrets: Record<string, [2 | 3, number[]]> = {
    'nothing at all': [2, []],
    'another version': [2, [3, 1, 1, ...text('true')]],
    'no root key': [2, [2, 0, ...text('true')]],
    'a root key cut short': [2, [2, 9, 1]],
    'a length in two bytes that needs one': [2, [2, 0x81, 0, 1, ...text('true')]],
    'no condition': [2, [2, 1, 1]],
    'a condition that is not text': [2, [2, 1, 1, 0xff]],
    'no namespace': [3, [3, 1, 1]],
    'a namespace cut short': [3, [3, 1, 1, 9, ...text('std:')]],
    'a namespace without a colon': [3, [3, 1, 1, 3, ...text('stdtrue')]],
    'a namespace that is not text': [3, [3, 1, 1, 1, 0xff, ...text('true')]],
  };
  for (const [name, [version, secret]] of Object.entries(secrets)) {
    const nonce = Buffer.alloc(24, 9);
    const sealed = nacl.box(Buffer.from(secret), nonce, identityProvider.publicKey, gateway.privateKey);
    const head = [version, ...identityProvider.publicKey.subarray(0, 4), ...gateway.publicKey, ...nonce];
    t.same(
      decodePayload(Buffer.from([...head, ...sealed]), identityProvider),
      { decoded: false, reason: head.length + sealed.length < 78 && version === 3 ? 'payload missing' : 'malformed' },
      name,
    );
  }
  for (const secret of ['', '{}', '[]', 'null', '{"RootKey":"","Condition":"true"}', '{"RootKey":"AAAA"}']) {
    const nonce = Buffer.alloc(24, 9);
    const sealed = nacl.box(Buffer.from(secret), nonce, identityProvider.publicKey, gateway.privateKey);
    const wrapper = {
      ThirdPartyPublicKey: keyText(identityProvider.publicKey),
      FirstPartyPublicKey: keyText(gateway.publicKey),
      Nonce: nonce.toString('base64'),
      Id: Buffer.from(sealed).toString('base64'),
    };
    const payload = Buffer.from(Buffer.from(JSON.stringify(wrapper)).toString('base64'));
    t.same(decodePayload(payload, identityProvider), { decoded: false, reason: 'malformed' }, secret);
  }
  t.end();
});

t.test('a payload without a condition or a root key is not made', (t) => {
  for (const version of versions) {
    t.throws(() => encodePayload({ ...example, version, condition: '' }), /^cannot encode/);
    t.throws(() => encodePayload({ ...example, version, condition: '\ud800' }), /^cannot encode/);
    t.throws(() => encodePayload({ ...example, version, rootKey: Buffer.alloc(0) }), /^cannot encode/);
  }
  t.end();
});

t.test('a payload shows who encrypted it', (t) => {
  const stranger = newKeyPair();
  const payloads = [gateway, stranger].map((firstParty) => encodePayload({ ...example, version: 2, firstParty }));
  const keys = payloads.map((payload): CaveatPayload['firstPartyKey'] | undefined => {
    const read = decodePayload(payload, identityProvider);
    return read.decoded ? read.payload.firstPartyKey : undefined;
  });
  t.strictSame(keys, [gateway.publicKey, stranger.publicKey]);
  t.end();
});

t.test('a key is text of 32 bytes in either alphabet', (t) => {
  const key = Buffer.alloc(32, 0xfb);
  t.equal(keyText(key), key.toString('base64'));
  for (const spelling of [keyText(key), key.toString('base64url'), keyText(key).replace(/=+$/, '')]) {
    t.strictSame(readKeyText(spelling), key);
  }
  for (const spelling of ['', 'AAAA', `${keyText(key)}A`, ` ${keyText(key)}`, keyText(Buffer.alloc(33))]) {
    t.equal(readKeyText(spelling), undefined, spelling);
  }
  const pair = newKeyPair();
  t.strictSame(keyPairFrom(pair.privateKey), pair);
  t.end();
});

t.test('a namespace is its schemas in order, each with its prefix', (t) => {
  t.equal(namespaceText(standardNamespace), 'std:');
  const namespace = new Map([
    ['std', ''],
    ['https://store.example/conditions', 'store'],
  ]);
  t.equal(namespaceText(namespace), 'https://store.example/conditions:store std:');
  t.same(readNamespace('https://store.example/conditions:store std:'), namespace);
  t.same(readNamespace(''), new Map());
  t.same(readNamespace('  std:\n'), standardNamespace);
  for (const text of ['std', ':x', 'std: std:', 'std: x']) t.equal(readNamespace(text), undefined, text);
  for (const odd of [
    ['', 'x'],
    ['a b', ''],
    ['a', 'b c'],
    ['a', 'b:c'],
  ] as const) {
    t.throws(() => namespaceText(new Map([odd])), /^cannot write/);
  }
  t.end();
});

t.test('a condition bears the prefix of its schema', (t) => {
  t.equal(conditionIn(standardNamespace, 'declared username ada'), 'declared username ada');
  t.equal(conditionIn(new Map([['std', 's']]), 'declared username ada'), 's:declared username ada');
  t.equal(conditionIn(new Map([['other', 'o']]), 'be-kind', 'other'), 'o:be-kind');
  t.equal(conditionIn(new Map(), 'declared username ada'), undefined);
  t.end();
});
