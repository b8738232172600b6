// The signing key of the former store of a site is imported, and its signatures here are trusted like those there.
import { execFileSync, spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import t, { type Test } from 'tap';

import { parseStream, stream } from '#assertions/format/assertion.ts';
import { encodePublicKey, keyId } from '#assertions/format/openpgp.ts';
import { readSecretKey } from '#assertions/keys/secret-key.ts';
import { Refusal } from '#domain/refusal.ts';
import { changeConfig } from '#configuration/config.ts';
import { account, made, storeKey } from '#test/assertions/world.ts';
import { rootsFile } from '#test/fixtures/packages/online-store.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { folder, newStore } from '#test/cli/process.ts';

t.setTimeout(600_000);

const skip = withoutPrograms('gpg');

/** A key as gpg makes and exports it. */
function exported(t: Test, passphrase = ''): string {
  // The sockets of gpg's agent have short paths only.
  const home = mkdtempSync(join(tmpdir(), 'gpg-'));
  t.teardown(() => {
    spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']);
    rmSync(home, { recursive: true, force: true });
  });
  const gpg = (...args: string[]): string =>
    execFileSync(
      'gpg',
      ['--homedir', home, '--batch', '--pinentry-mode', 'loopback', '--passphrase', passphrase, ...args],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    ).toString();
  gpg('--quick-gen-key', 'former', 'rsa2048', 'sign', 'never');
  return gpg('--export-secret-keys', '--armor', 'former');
}

/** A store that trusts the made-up root, with a brand; other stores that trust it too have none. */
async function withBrand(t: Test, name?: string) {
  const store = await newStore(t);
  changeConfig(join(store.data, 'larder.toml'), { 'assertions.trusted': [rootsFile(folder(t))] });
  if (name === undefined) return store;
  await store.json(`account create --email former@example.org --username former --display-name Former --id ${name}`);
  await store.json(`brand create --account ${name} --name Former`);
  return store;
}

const model = {
  type: 'model',
  'authority-id': 'former',
  'brand-id': 'former',
  series: '16',
  model: 'pump',
  architecture: 'amd64',
  base: 'core22',
  grade: 'signed',
  snaps: [
    { name: 'pc-kernel', type: 'kernel', id: 'a'.repeat(32), 'default-channel': '22/stable' },
    { name: 'pc', type: 'gadget', id: 'b'.repeat(32), 'default-channel': '22/stable' },
  ],
};

t.test('a key that gpg has exported signs here as it did at the former store', { skip }, async (t) => {
  const [store, files] = [await withBrand(t, 'former'), folder(t)];
  const armoured = exported(t);
  const file = join(files, 'former.asc');
  writeFileSync(file, armoured);
  const publicKey = createPublicKey(readSecretKey(armoured));
  const id = keyId(publicKey);
  t.match((await store.larder(`key import ${file}`)).err, /No account-key with the id .* is here/);
  const registered = await made(
    'store',
    'authority',
    'account-key',
    { 'public-key-sha3-384': id, 'account-id': 'former', name: 'models', since: '2024-01-01T00:00:00Z' },
    encodePublicKey(publicKey),
  );
  writeFileSync(join(files, 'former.assert'), stream([storeKey, await account('former'), registered]));
  t.match(await store.json(`assertion import ${join(files, 'former.assert')}`), { imported: [{}, {}, {}] });
  t.match(await store.json(`key import ${file}`), { 'brand-account-id': 'former', name: 'models', 'sha3-384': id });
  t.match(await store.json('key list'), { keys: [{ name: 'models', status: 'registered' }] });
  t.match((await store.larder(`key import ${file} --name again`)).err, /is here already/);

  writeFileSync(join(files, 'model.json'), JSON.stringify(model));
  const signed = await store.json(`assertion sign model ${join(files, 'model.json')} --brand former --key models`);
  t.match(
    parseStream(signed.stream as string).map(({ type }) => type),
    ['account-key', 'account', 'account-key', 'model'],
  );
  writeFileSync(join(files, 'signed.assert'), signed.stream as string);
  const other = await withBrand(t);
  t.match(await other.json(`assertion import ${join(files, 'signed.assert')}`), {
    imported: [{}, {}, {}, { type: 'model' }],
  });
});

t.test('a key is read unchanged, and refused with the remedy', { skip }, (t) => {
  const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  for (const type of ['pkcs1', 'pkcs8'] as const)
    t.ok(readSecretKey(String(pem.export({ format: 'pem', type }))).equals(pem), type);
  const locked = String(pem.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'secret' }));
  t.throws(() => readSecretKey(locked), /openssl pkey/);
  t.throws(() => readSecretKey(exported(t, 'secret')), /gpg --passwd/);
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ format: 'pem', type: 'pkcs8' });
  t.throws(() => readSecretKey(String(small)), /2048 bits or more/);
  const curve = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
  t.throws(() => readSecretKey(String(curve)), /not an RSA key/);
  const armoured = exported(t);
  const right = readSecretKey(armoured);
  t.equal(createPrivateKey(right.export({ format: 'pem', type: 'pkcs8' })).asymmetricKeyDetails?.modulusLength, 2048);
  const letters = Array.from(armoured);
  fc.assert(
    fc.property(fc.nat(letters.length - 1), fc.constantFrom('A', 'z', '\n', '-', '=', ''), (at, letter) => {
      try {
        // Further fields behind the key, such as its owner, are not read.
        return readSecretKey(letters.with(at, letter).join('')).equals(right);
      } catch (error) {
        return error instanceof Refusal;
      }
    }),
    { numRuns: 300 },
  );
  t.end();
});
