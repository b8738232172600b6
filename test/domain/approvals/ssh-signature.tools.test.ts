// Signatures of OpenSSH's own program are accepted, and it accepts those of the fixture that the other tests sign with.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { readSshKey } from '#domain/approvals/ssh-key.ts';
import { readSshSignature } from '#domain/approvals/ssh-signature.ts';
import { folder } from '#test/cli/process.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { sshKeygenPair, sshKeygenSigned, sshKeygenVerifies } from '#test/fixtures/accounts/ssh-keygen.ts';
import { sshKeyPair, sshSigned } from '#test/fixtures/accounts/ssh-keys.ts';
import { isTaken, kinds, message, token } from '../ssh-signatures.ts';

const skip = withoutPrograms('ssh-keygen');

for (const kind of kinds) {
  t.test(
    `a signature that ssh-keygen makes with ${kind} is accepted, and kept as it verifies it`,
    { skip },
    async (t) => {
      const stick = folder(t);
      const pair = sshKeygenPair(stick, 'bob', kind);
      const file = join(stick, 'text');
      writeFileSync(file, message);
      const signature = sshKeygenSigned(pair, file);
      t.ok(isTaken(signature, pair.publicKey));
      const storedText = readSshSignature(signature)?.text ?? '';
      t.equal(storedText, signature, 'the kept text is the one that the program wrote');
      const publicKey = readSshKey(pair.publicKey)?.line ?? '';
      t.ok(sshKeygenVerifies(stick, { publicKey, signature: storedText, message }));
      t.notOk(isTaken(sshKeygenSigned(pair, file, 'file'), pair.publicKey), 'no signature for another purpose');
    },
  );

  t.test(`ssh-keygen accepts what the fixture signs with ${kind}, and signs with its key`, { skip }, async (t) => {
    const stick = folder(t);
    const pair = sshKeyPair(stick, 'bob', kind);
    const file = join(stick, 'text');
    writeFileSync(file, message);
    for (const hash of ['sha512', 'sha256'] as const) {
      const signature = sshSigned(pair, file, 'larder-approval', hash);
      t.ok(sshKeygenVerifies(stick, { publicKey: pair.publicKey, signature, message }), hash);
    }
    if (kind === 'ed25519') return; // OpenSSH reads such a key in its own format alone.
    t.equal(sshKeygenSigned(pair, file).split('\n').length, sshSigned(pair, file).split('\n').length);
  });
}

t.test('ssh-keygen accepts the signature of a touched token', { skip }, async (t) => {
  t.ok(sshKeygenVerifies(folder(t), { ...token(0x01), message }));
});
