import { generateKeyPairSync, sign } from 'node:crypto';
import t from 'tap';
import { parseAssertion } from '#assertions/format/assertion.ts';
import {
  decodePublicKey,
  decodeSignature,
  deviation,
  encodePublicKey,
  encodeSignature,
  fingerprint,
  verifySignature,
  keyId,
  signedBytes,
} from '#assertions/format/openpgp.ts';
import { bytesOf, requests, vectorKey } from '../vectors.ts';

const long = process.env['LARDER_LONG'] === '1';
const signatureOf = (text: string) => text.slice(text.lastIndexOf('\n\n') + 2);
const lines = (text: string) => text.match(/.{1,76}/g)?.join('\n') ?? '';
const rewritten = (text: string, change: (bytes: Buffer) => void) => {
  const bytes = Buffer.from(text, 'base64');
  change(bytes);
  return lines(bytes.toString('base64'));
};

t.test('a key is encoded, named and shown as snapd and gpg do', (t) => {
  for (const vector of requests.keys) {
    const { publicKey } = vectorKey(vector.name);
    t.equal(encodePublicKey(publicKey), vector['encoded-public-key'], vector.name);
    t.equal(keyId(publicKey), vector['public-key-sha3-384']);
    t.equal(fingerprint(publicKey), vector['openpgp-v4-fingerprint']);
    t.ok(decodePublicKey(vector['encoded-public-key']).equals(publicKey));
  }
  t.end();
});

t.test('a public key that snapd would not have written is refused, though snapd takes it', (t) => {
  const reasons: Record<string, RegExp> = {
    'body-other-timestamp-id-canonical': /not written as snapd writes it/,
    'body-trailing-newline': /not written as snapd writes it/,
    'body-base64url': /not base64/,
    'body-no-version': /format version is 198 instead of 1/,
    'body-trailing-data': /other data follow it/,
    'body-truncated': /ends too early/,
    'body-old-format-packet-header': /not written as snapd writes it/,
    'body-rsa-sign-only-algo': /algorithm is 3; only RSA/,
    'body-private-key-packet': /packet of kind 5 instead of 6/,
    'body-ed25519-key': /algorithm is 22; only RSA/,
    'body-pem': /not base64/,
  };
  for (const [name, message] of Object.entries(reasons)) {
    const edge = requests['edge-cases'].find((edgeCase) => edgeCase.name === name);
    const { body } = parseAssertion(edge?.assertion ?? '');
    t.throws(() => decodePublicKey(body), { name: 'Refusal', message }, name);
  }
  const { encoded } = vectorKey('rsa2048-a');
  t.throws(() => decodePublicKey(encoded.replaceAll('\n', '\r\n')), { message: /not written as snapd writes it/ });
  t.throws(() => decodePublicKey(encoded.replaceAll('\n', '')), { message: /not written as snapd writes it/ });
  t.throws(() => decodePublicKey(rewritten(encoded, (bytes) => bytes.writeUInt8(5, 4))), { message: /version is 5/ });
  t.throws(() => decodePublicKey(rewritten(encoded, (bytes) => bytes.writeUInt8(4, bytes.length - 1))), {
    message: /exponent/,
  });
  t.throws(() => decodePublicKey(''), { message: /not base64/ });
  t.throws(() => decodePublicKey('AQ=='), { message: /ends too early/ });
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
  t.throws(() => decodePublicKey(encodePublicKey(small)), { message: /1024 bits; a key has 2048 to 16384/ });
  const curve = generateKeyPairSync('ed25519').publicKey;
  t.throws(() => encodePublicKey(curve), { message: /cannot encode a key of type ed25519/ });
  t.end();
});

t.test('a signature is written as snapd writes it', (t) => {
  for (const vector of requests.valid) {
    const { privateKey } = vectorKey(vector.key);
    const signedAt = new Date(vector['signature-created'] * 1000);
    const content = vector['signed-content'];
    const text = encodeSignature(content, signedAt, sign('sha512', signedBytes(content, signedAt), privateKey));
    t.equal(text, vector['encoded-signature'], vector.name);
    t.equal(deviation(text, decodeSignature(text)), undefined);
    t.same(decodeSignature(text).createdAt, signedAt);
  }
  t.throws(() => signedBytes('', new Date('2106-02-07T06:28:16Z')), { message: /years 1970 to 2106/ });
  t.throws(() => signedBytes('', new Date(NaN)), { message: /years 1970 to 2106/ });
  t.end();
});

t.test('a signature is read and verified as in snapd', (t) => {
  const cases = requests['edge-cases'].filter(({ name }) => /^(?:sig-|tampered-|signed-by)/.test(name));
  for (const edge of cases) {
    if (['sig-empty', 'sig-two-final-newlines'].includes(edge.name)) continue;
    const text = bytesOf(edge).toString();
    const [content, signature] = [text.slice(0, text.lastIndexOf('\n\n')), signatureOf(text)];
    const accepts = () =>
      verifySignature(vectorKey('rsa4096-a').publicKey, content, decodeSignature(signature)) === 'valid';
    if (edge['snapd-accepts']) t.ok(accepts(), edge.name);
    else t.ok(refuses(accepts), edge.name);
  }
  t.end();
});

function refuses(accepts: () => boolean): boolean {
  try {
    return !accepts();
  } catch (refusal) {
    return refusal instanceof Error && refusal.name === 'Refusal';
  }
}

t.test('a signature that deviates from those of snapd is reported with the difference', (t) => {
  const reasons: Record<string, RegExp | undefined> = {
    'sig-issuer-hashed': undefined,
    'sig-issuer-unhashed': undefined,
    'sig-issuer-fingerprint': undefined,
    'sig-fingerprint-before-time': undefined,
    'sig-time-1970': undefined,
    'sig-time-2106': undefined,
    'sig-sha384': /digest is sha384/,
    'sig-type-text': /of kind 1/,
    'sig-type-0x10': /of kind 16/,
    'sig-notation': /subpacket 20/,
    'sig-expired': /subpacket 3/,
    'sig-unwrapped': /not written as snapd writes it/,
  };
  for (const [name, reason] of Object.entries(reasons)) {
    const text = signatureOf(
      requests['edge-cases'].find((edgeCase) => edgeCase.name === name)?.assertion ?? '',
    ).trimEnd();
    const actual = deviation(text, decodeSignature(text));
    if (reason === undefined) t.equal(actual, undefined, name);
    else t.match(actual, reason, name);
  }
  t.end();
});

t.test('no byte of a signature can be changed', (t) => {
  const { publicKey } = vectorKey('rsa2048-a');
  const vector = requests.valid.find(({ name }) => name === 'plain-2048');
  const text = vector?.['encoded-signature'] ?? '';
  const content = vector?.['signed-content'] ?? '';
  const valid = (changed: string) => {
    const signature = decodeSignature(changed);
    return deviation(changed, signature) === undefined && verifySignature(publicKey, content, signature) === 'valid';
  };
  t.ok(valid(text));
  const length = Buffer.from(text, 'base64').length;
  let taken = 0;
  for (let at = 0; at < length; at++) {
    for (let bit = 0; bit < 8; bit += long ? 1 : 3) {
      const changed = rewritten(text, (bytes) => bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at));
      if (!refuses(() => valid(changed))) taken++;
    }
  }
  t.equal(taken, 0);
  t.end();
});

t.test('a signature that begins with a zero byte keeps it', (t) => {
  const { privateKey, publicKey } = vectorKey('rsa2048-a');
  let second = 0;
  let number = Buffer.from([1]);
  while (number[0] !== 0) number = sign('sha512', signedBytes('content', new Date(++second * 1000)), privateKey);
  const signedAt = new Date(second * 1000);

  const text = encodeSignature('content', signedAt, number);
  t.equal(decodeSignature(text).bits, 2048);
  t.equal(deviation(text, decodeSignature(text)), undefined);
  t.equal(verifySignature(publicKey, 'content', decodeSignature(text)), 'valid');

  const stripped = encodeSignature('content', signedAt, number.subarray(1));
  t.equal(
    verifySignature(publicKey, 'content', decodeSignature(stripped)),
    'valid',
    'others strip it, which snapd reads',
  );
  t.end();
});

t.test('a broken packet is refused, wherever it breaks', (t) => {
  const armour = (...bytes: number[]) => Buffer.from([1, ...bytes]).toString('base64');
  const broken: [string, RegExp][] = [
    [armour(0x42), /not an OpenPGP packet/],
    [armour(0xc2, 0xe0), /comes in parts/],
    [armour(0x8b, 0), /has no length/],
    [armour(0xc2, 0xff, 0xff, 0xff, 0xff, 0xff), /ends too early/],
    [armour(0x8a, 0, 0, 0, 1, 4), /ends too early/],
    [armour(0x88, 1, 3), /version is 3/],
    [armour(0xc2, 4, 4, 0, 3, 10), /algorithm is 3/],
    [armour(0xc2, 4, 4, 0, 1, 1), /digest \(1\) is not known/],
    [armour(0xc2, 7, 4, 0, 1, 10, 0, 1, 0), /empty subpacket/],
    [armour(0xc2, 8, 4, 0, 1, 10, 0, 2, 1, 0xe4), /critical subpacket 100/],
    [armour(0xc2, 13, 4, 0, 1, 10, 0, 0, 0, 0, 0, 0, 0, 1, 1), /when it was made/],
    [armour(0xc6, 1, 4), /packet of kind 6 instead of 2/],
  ];
  for (const [text, message] of broken)
    t.throws(() => decodeSignature(text), { name: 'Refusal', message }, String(message));
  t.end();
});
