// Signatures in the format of OpenSSH are accepted, and nothing that differs from one in one bit.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import { readSshKey, sshField } from '#domain/approvals/ssh-key.ts';
import { readSshSignature } from '#domain/approvals/ssh-signature.ts';
import { folder } from '#test/cli/process.ts';
import { sshKeyPair, sshSigned } from '#test/fixtures/accounts/ssh-keys.ts';
import { armoured, blobOf, isTaken, kinds, message, token } from '../ssh-signatures.ts';

function signedBy(t: Parameters<typeof folder>[0], kind: string, hash?: 'sha256') {
  const stick = folder(t);
  const pair = sshKeyPair(stick, 'bob', kind);
  const file = join(stick, 'text');
  writeFileSync(file, message);
  const signature = sshSigned(pair, file, 'larder-approval', hash);
  return { stick, pair, file, signature };
}

for (const kind of kinds) {
  t.test(`a signature by a key of ${kind} is accepted, and stored unchanged`, async (t) => {
    const { stick, pair, file, signature } = signedBy(t, kind);
    const { publicKey } = pair;
    t.ok(isTaken(signature, publicKey));
    t.ok(isTaken(signature.replaceAll('\n', '\r\n'), publicKey), 'as a browser sends it');
    const storedText = readSshSignature(armoured(blobOf(signature)))?.text ?? '';
    t.equal(storedText, signature, 'the kept text');
    t.notOk(isTaken(signature, publicKey, `${message} `));
    t.notOk(isTaken(sshSigned(pair, file, 'file'), publicKey), 'not what was signed for something else');
    t.notOk(isTaken(signature, sshKeyPair(stick, 'carol', kind).publicKey), 'nor as that of another key');
  });
}

t.test('the digest may be the shorter one too', async (t) => {
  const { signature, pair } = signedBy(t, 'ed25519', 'sha256');
  t.match(blobOf(signature).toString('latin1'), /sha256/);
  t.ok(isTaken(signature, pair.publicKey));
});

t.test('a hardware token signs too, after a touch', async (t) => {
  const touched = token(0x01);
  t.ok(isTaken(touched.signature, touched.publicKey));
  t.notOk(isTaken(touched.signature, token(0x01).publicKey));
  const untouched = token(0x00);
  t.notOk(isTaken(untouched.signature, untouched.publicKey));
});

t.test('a signature with one changed bit, or with another length, is refused', async (t) => {
  const { signature, pair } = signedBy(t, 'ed25519');
  const touched = token(0x05);
  for (const sample of [{ signature, publicKey: pair.publicKey }, touched]) {
    const blob = blobOf(sample.signature);
    t.ok(isTaken(armoured(blob), sample.publicKey), 'but the whole one is');
    let taken = 0;
    for (let bit = 0; bit < blob.length * 8; bit++) {
      const mutated = Buffer.from(blob);
      mutated[bit >> 3]! ^= 1 << (bit & 7);
      if (isTaken(armoured(mutated), sample.publicKey)) taken++;
    }
    for (let end = 0; end < blob.length; end++) if (isTaken(armoured(blob.subarray(0, end)), sample.publicKey)) taken++;
    if (isTaken(armoured(Buffer.concat([blob, Buffer.alloc(1)])), sample.publicKey)) taken++;
    t.equal(taken, 0);
  }
});

t.test('nor of another key, with numbers that are written otherwise', async (t) => {
  const { signature, pair } = signedBy(t, 'ecdsa 256');
  const blob = blobOf(signature);
  fc.assert(
    fc.property(fc.nat(blob.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const mutated = Buffer.from(blob);
      mutated[at]! ^= change;
      return !isTaken(armoured(mutated), pair.publicKey);
    }),
    { numRuns: 300 },
  );
});

t.test('an invalid signature is invalid, and no exception is thrown', async (t) => {
  const { signature } = signedBy(t, 'ed25519');
  const lines = signature.split('\n');
  for (const text of [
    '',
    'SSHSIG',
    '-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n',
    signature.replace('BEGIN SSH', 'BEGIN PGP'),
    signature + signature,
    [lines[0], `${lines[1]} `, ...lines.slice(2)].join('\n'),
    signature.padEnd(9000, '\n'),
  ]) {
    t.equal(readSshSignature(text), undefined);
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const read = readSshSignature(armoured(Buffer.concat([Buffer.from('SSHSIG\0\0\0\x01'), bytes])));
      return read === undefined || !read.isOf(Buffer.from(message));
    }),
  );
});

t.test('a public key is one line of a supported kind', async (t) => {
  const stick = folder(t);
  const { publicKey } = sshKeyPair(stick, 'bob');
  const [type = '', encoded = ''] = publicKey.split(' ');
  const key = readSshKey(publicKey);
  t.match(key, { line: `${type} ${encoded}`, fingerprint: /^SHA256:[A-Za-z0-9+/]{43}$/ });
  t.equal(readSshKey(`${type} ${encoded}`)?.fingerprint, key?.fingerprint, 'its comment is no part of it');
  for (const wrong of [
    '',
    encoded,
    `ssh-rsa ${encoded}`,
    `${type} ${encoded.slice(0, -4)}`,
    `${type} ${encoded}AAAA`,
    `${publicKey}${publicKey}`,
    `no-touch-required ${publicKey}`,
    sshKeyPair(stick, 'short', 'rsa 1024').publicKey,
  ]) {
    t.equal(readSshKey(wrong), undefined, wrong.slice(0, 40));
  }
  fc.assert(
    fc.property(fc.constantFrom('ssh-rsa', 'ssh-ed25519', 'ecdsa-sha2-nistp256'), fc.uint8Array(), (kind, bytes) => {
      const blob = Buffer.concat([sshField(kind), Buffer.from(bytes)]);
      const read = readSshKey(`${kind} ${blob.toString('base64')}`);
      return read === undefined || read.line === `${kind} ${blob.toString('base64')}`;
    }),
  );
});
