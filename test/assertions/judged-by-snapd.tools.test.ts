// Assertions of this store, verified with the library of snapd. Needs Go and the library as Debian packages; see
// test/akrverify/.
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { accountKeyRequest } from '#assertions/keys/account-key-request.ts';
import { parseAssertion, stream, type Assertion } from '#assertions/format/assertion.ts';
import { acceptUpload } from '#assertions/chain.ts';
import { createKeyCustody } from '#assertions/keys/key-custody.ts';
import { lockPin } from '#data/lock.ts';
import { createKeyManager } from '#assertions/keys/key-manager.ts';
import { generateKey } from '#assertions/keys/sealed-keys.ts';
import { fingerprint, keyId } from '#assertions/format/openpgp.ts';
import {
  readSerialRequest,
  signModel,
  signSerial,
  signSnapRevision,
  signSystemUser,
  signValidationSet,
} from '#assertions/signing.ts';
import { signAssertion, type Signer } from '#assertions/keys/signer.ts';
import { managedKeyPrefix } from '#records/keys/signing-keys.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';
import { buildJudge, snapdMissing } from './judge.ts';
import { noSoftToken, pkcs11Manager, softToken } from './keys/soft-token.ts';
import { signerOf, vectorKey } from './vectors.ts';
import {
  account,
  accountKey,
  adasAccount,
  adasKey,
  keys,
  made,
  nothingKnown,
  roots,
  signer,
  storeKey,
  timestamp,
} from './world.ts';

const long = process.env['LARDER_LONG'] === '1';
const folder = mkdtempSync(join(tmpdir(), 'larder-snapd-'));
t.teardown(() => rmSync(folder, { recursive: true }));
const skip = withoutPackages(...snapdMissing());

t.setTimeout(600_000);
const noJudge = (): never => {
  throw new Error('cannot judge without snapd');
};
const judge = skip === false ? buildJudge() : noJudge;

t.test('snapd takes every request this store makes', { skip }, async (t) => {
  const generated = await Promise.all(Array.from({ length: long ? 5 : 1 }, generateKey));
  const own = generated.map((privateKey) => ({ id: keyId(createPublicKey(privateKey)), privateKey }));
  const all = [...own, ...['rsa4096-a', 'rsa4096-b', 'rsa4096-c'].map(vectorKey)];
  const moment = fc.date({ min: new Date('1970-01-01'), max: new Date('2106-01-01'), noInvalidDate: true });
  const requests = fc.record({
    key: fc.constantFrom(...all),
    name: fc.stringMatching(/^[a-z0-9]{1,12}(?:-[a-z0-9]{1,12}){0,4}$/).filter((name) => /[a-z]/.test(name)),
    accountId: fc.oneof(fc.stringMatching(/^[a-zA-Z0-9]{32}$/), fc.stringMatching(/^[-a-z0-9]{2,28}$/)),
    times: fc.tuple(
      moment,
      fc.option(fc.date({ min: new Date('2106-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })),
    ),
    signedAt: moment,
    revision: fc.oneof(fc.constant(0), fc.nat(1_000_000)),
  });
  for (const { key, name, accountId, times, signedAt, revision } of fc.sample(requests, long ? 100 : 8)) {
    const [since, until] = times;
    const request = {
      signer: signerOf(all),
      keyId: key.id,
      accountId,
      name,
      since,
      until: until ?? undefined,
      revision,
      signedAt,
    };
    const text = await accountKeyRequest(request);
    const { status, stderr, result } = judge(text, '-strict', '-json', '-account', accountId, '-name', name);
    t.equal(status, 0, `${name} of ${accountId} ${stderr}`);
    t.match(result, {
      'key-id': key.id,
      'key-bits': 4096,
      'openpgp-v4-fingerprint': fingerprint(createPublicKey(key.privateKey)),
      'signature-created': signedAt.toISOString().replace(/\.\d+/, ''),
      'signature-hash': 'SHA-512',
      'body-canonical': true,
    });
    t.equal(judge(text, '-stream').status, 0, 'also from a stream');
    t.equal(judge(text.replace('\nsince: ', '\nsince: 0'), '-strict').status, 1, 'but not when it is changed');
  }
});

/** Signs with the key of ada in a token, through the key manager for PKCS #11, and with the other keys as usual. */
function tokenSigner(t: Test): Signer {
  const { env } = softToken(t, { "ada's serials": keys.ada.privateKey });
  const custody = createKeyCustody({
    find: () =>
      Promise.resolve({
        brandAccountId: 'ada',
        publicKey: keys.ada.encoded,
        sealed: `${managedKeyPrefix}ada's serials`,
      }),
    masterKey: () => undefined,
    manager: createKeyManager({
      settings: () => settings,
      env,
      refusedPinFile: join(folder, 'refused-pin'),
      lockPin: lockPin(folder),
    }),
  });
  const settings = { manager: pkcs11Manager, environment: Object.keys(env), timeout_seconds: 30, concurrent: 4 };
  return {
    publicKey: (id) => signer.publicKey(id),
    sign: (id, content, at) => (id === keys.ada.id ? custody : signer).sign(id, content, at),
  };
}

t.test('snapd takes every assertion this store signs for a brand', { skip }, (t) => signsForBrand(t, signer));
t.test('snapd takes the same with the key of the brand in a token', { skip: skip || noSoftToken() }, (t) =>
  signsForBrand(t, tokenSigner(t)),
);

async function signsForBrand(t: Test, brandSigner: Signer): Promise<void> {
  const rootsFile = join(folder, 'roots');
  writeFileSync(rootsFile, stream(roots.assertions));
  const ada = { signer: brandSigner, keyId: keys.ada.id, accountId: 'ada', accountKey: adasKey };
  const at = new Date(timestamp);
  const hello = 'pYVQrBcKmBa0mZ4CCN7ExT6jH8rY1hza';
  const snaps = [
    { name: 'pc-kernel', type: 'kernel', id: 'a'.repeat(32), 'default-channel': '22/stable' },
    { name: 'pc', type: 'gadget', id: 'b'.repeat(32), 'default-channel': '22/stable' },
    { name: 'hello', type: 'app', id: hello, presence: 'optional', modes: ['run', 'ephemeral'] },
  ];
  const requestHeaders = { 'brand-id': 'ada', model: 'pc-1', 'request-id': 'R1', 'device-key': keys.device.encoded };
  const request = await signAssertion(signer, keys.device.id, {
    type: 'serial-request',
    headers: requestHeaders,
    signedAt: at,
  });
  const declaration = await made('store', 'authority', 'snap-declaration', {
    series: '16',
    'snap-id': hello,
    'snap-name': 'hello',
    'publisher-id': 'ada',
    'revision-authority': [{ 'account-id': 'ada', provenance: ['factory'] }],
    timestamp,
  });
  const revision = {
    'snap-sha3-384': 'A'.repeat(64),
    provenance: 'factory',
    'snap-size': '4096',
    'snap-revision': '2',
    'developer-id': 'ada',
  };
  const user = {
    email: 'bob@example.com',
    username: 'bob',
    models: ['pc-1'],
    since: timestamp,
    until: '2030-01-01T00:00:00Z',
  };
  const texts = [
    await signModel(ada, { model: 'pc-1', architecture: 'amd64', base: 'core22', grade: 'signed', snaps }, at),
    await signModel(
      ada,
      {
        model: 'old',
        architecture: 'amd64',
        gadget: 'pc=18',
        kernel: 'pc-kernel',
        base: 'core18',
        'display-name': 'Old\nPC',
      },
      at,
    ),
    await signModel(ada, { model: 'desk', classic: 'true', revision: '3', 'serial-authority': ['bob'] }, at),
    await signSerial(ada, readSerialRequest(request), '0001', at),
    await signValidationSet(
      ada,
      { name: 'tested', sequence: '3', snaps: [{ name: 'hello', id: hello, revision: '7' }] },
      at,
    ),
    await signSystemUser(ada, { ...user, 'ssh-keys': ['ssh-rsa AAAA'] }, at),
    await signSystemUser(
      ada,
      { ...user, email: 'ada@example.com', password: '$6$rounds=5000$salt$hash', serials: ['1'], format: '1' },
      at,
    ),
    await signSnapRevision(ada, declaration, revision, at),
  ];
  const signed = [
    await accountKey('second', 'ada', 'second'),
    await account('bob'),
    declaration,
    ...texts.map(parseAssertion),
  ];
  const chain = [adasKey, adasAccount, storeKey];

  const whole = judge(stream([...signed, ...chain]), '-trusted', rootsFile);
  t.equal(whole.status, 0, whole.stderr);
  t.equal((whole.result['added'] as string[]).length, signed.length + chain.length);
  t.equal(
    acceptUpload(stream([...signed, ...chain]), nothingKnown).length,
    signed.length + chain.length,
    'and so do we',
  );

  const agrees = (name: string, assertions: readonly Assertion[]) => {
    t.throws(() => acceptUpload(stream(assertions), nothingKnown), { name: 'Refusal' }, `we refuse ${name}`);
    t.equal(judge(stream(assertions), '-trusted', rootsFile).status, 1, 'and so does snapd');
  };
  for (const [index, left] of [...chain, declaration].entries()) {
    agrees(
      `it without the ${left.type} ${index}`,
      [...signed, ...chain].filter((assertion) => assertion !== left),
    );
  }
  agrees('another root', [...chain, await accountKey('root', 'authority', 'root', { revision: '1' }, 'root')]);
  agrees('an account signed by a brand', [...chain, await account('carol', 'ada', 'ada')]);
  const revoked = await accountKey('ada', 'ada', 'default', { until: '2024-01-01T00:00:00Z' });
  agrees('a model signed by a revoked key', [storeKey, adasAccount, revoked, parseAssertion(texts[2] ?? '')]);

  const withRoots = stream([...roots.assertions, ...chain]);
  t.equal(
    acceptUpload(withRoots, nothingKnown).length,
    chain.length,
    'the configured roots themselves are passed over',
  );
  t.equal(judge(withRoots, '-trusted', rootsFile).status, 0, 'and so with snapd');

  const keyOptions = { accountId: 'ada', name: 'serials', since: at, signedAt: at };
  const keyRequest = await accountKeyRequest({ signer: brandSigner, keyId: keys.ada.id, ...keyOptions });
  t.equal(judge(keyRequest, '-strict', '-account', 'ada', '-name', 'serials').status, 0);
}
