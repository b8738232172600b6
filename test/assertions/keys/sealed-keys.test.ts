import { createPublicKey, createSecretKey } from 'node:crypto';
import t from 'tap';
import { makeSealedKey, open, reseal, seal } from '#assertions/keys/sealed-keys.ts';
import { decodePublicKey, fingerprint, keyId } from '#assertions/format/openpgp.ts';
import { vectorKey } from '../vectors.ts';

const long = process.env['LARDER_LONG'] === '1';
const masterKey = createSecretKey(Buffer.alloc(32, 7));
const otherMasterKey = createSecretKey(Buffer.alloc(32, 8));
const { id, privateKey } = vectorKey('rsa2048-a');
const owner = { brandAccountId: 'ada', keyId: id };

t.test('a sealed key opens with the master key for its owner', (t) => {
  const sealed = seal(masterKey, owner, privateKey);
  t.match(sealed, /^larder-sealed-key\/1 aes-256-gcm master=[0-9a-f]{16} data-key=[\w-]+ private-key=[\w-]+$/);
  t.ok(open(masterKey, owner, sealed).equals(privateKey));
  t.not(sealed, seal(masterKey, owner, privateKey), 'each time with another data key');
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  t.notOk(Buffer.from(sealed.replace(/^.*private-key=/, ''), 'base64url').includes(der.subarray(40, 60)));
  t.end();
});

t.test('a sealed key opens only with its passphrase, and the fault contains no secret', (t) => {
  const sealed = seal(masterKey, owner, privateKey);
  const faults: [Parameters<typeof open>, RegExp][] = [
    [[otherMasterKey, owner, sealed], /sealed under another master key/],
    [[masterKey, { ...owner, brandAccountId: 'bob' }, sealed], /damaged or belongs to another brand or key/],
    [[masterKey, { ...owner, keyId: 'A'.repeat(64) }, sealed], /damaged or belongs to another brand or key/],
    [[masterKey, owner, ''], /not a sealed key of a kind this version knows/],
    [[masterKey, owner, sealed.replace('/1 ', '/2 ')], /not a sealed key of a kind this version knows/],
    [[masterKey, owner, sealed.replace(/data-key=.{12}/, 'data-key=')], /damaged/],
    [[masterKey, owner, sealed.replace(/ data-key=\S+/, ' data-key=AAAA')], /damaged/],
    [[createSecretKey(Buffer.alloc(16)), owner, sealed], /master key that is not 32 bytes long/],
    [[privateKey, owner, sealed], /master key that is not 32 bytes long/],
  ];
  for (const [of, message] of faults) {
    // Under another master key the store is as good as sealed, which the administrator can change.
    const name = of[0] === otherMasterKey ? 'Refusal' : 'Error';
    t.throws(() => open(...of), { name, message }, String(message));
    try {
      open(...of);
    } catch (fault) {
      const text = `${String(fault)} ${String((fault as Error).cause)}`;
      t.notMatch(text, /data-key=|private-key=|BwcHBw|0707/);
    }
  }
  const swapped = seal(masterKey, { ...owner, keyId: 'A'.repeat(64) }, privateKey);
  t.throws(() => open(masterKey, { ...owner, keyId: 'A'.repeat(64) }, swapped), {
    message: /damaged/,
    cause: { message: /another key was sealed/ },
  });
  t.end();
});

t.test('no bit of a sealed key can be changed', (t) => {
  const sealed = seal(masterKey, owner, privateKey);
  const start = sealed.indexOf('data-key=');
  let opened = 0;
  for (const field of ['data-key', 'private-key']) {
    const match = new RegExp(` ${field}=([\\w-]+)`).exec(sealed);
    const bytes = Buffer.from(match?.[1] ?? '', 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += long ? 1 : 13) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      try {
        open(masterKey, owner, sealed.replace(match?.[1] ?? '', changed.toString('base64url')));
        opened++;
      } catch (fault) {
        if (!/damaged/.test(String(fault))) t.fail(String(fault));
      }
    }
  }
  t.ok(start > 0);
  t.equal(opened, 0);
  t.end();
});

t.test('the master key can be changed without touching the private key', (t) => {
  const sealed = seal(masterKey, owner, privateKey);
  const resealed = reseal(masterKey, otherMasterKey, owner, sealed);
  t.ok(open(otherMasterKey, owner, resealed).equals(privateKey));
  t.equal(resealed.replace(/^.* private-key=/, ''), sealed.replace(/^.* private-key=/, ''));
  t.throws(() => open(masterKey, owner, resealed), { message: /another master key/ });
  t.throws(() => reseal(otherMasterKey, masterKey, owner, sealed), { message: /another master key/ });
  t.throws(() => reseal(masterKey, otherMasterKey, { ...owner, brandAccountId: 'bob' }, sealed), {
    message: /damaged/,
  });
  t.end();
});

t.test('a new key is RSA of 4096 bits, comes sealed, and does not stop the event loop', async (t) => {
  let turns = 0;
  const timer = setInterval(() => turns++, 5);
  const key = await makeSealedKey(masterKey, 'ada');
  clearInterval(timer);
  t.ok(turns > 1, 'the event loop turned meanwhile');
  const opened = open(masterKey, { brandAccountId: 'ada', keyId: key.sha3_384 }, key.sealed);
  t.match(opened.asymmetricKeyDetails, { modulusLength: 4096, publicExponent: 65537n });
  const publicKey = decodePublicKey(key.publicKey);
  t.ok(publicKey.equals(createPublicKey(opened)));
  t.equal(key.sha3_384, keyId(publicKey));
  t.equal(key.fingerprint, fingerprint(publicKey));
});
