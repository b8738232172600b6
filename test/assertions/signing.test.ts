import t from 'tap';
import { joined, parseAssertion, type Assertion, type Headers } from '#assertions/format/assertion.ts';
import { acceptUpload } from '#assertions/chain.ts';
import { decodeSignature } from '#assertions/format/openpgp.ts';
import { signAssertion } from '#assertions/keys/signer.ts';
import {
  readSerialRequest,
  signModel,
  signSerial,
  signSnapRevision,
  signSystemUser,
  signValidationSet,
  type BrandKey,
} from '#assertions/signing.ts';
import { chain } from './vectors.ts';
import { accountKey, adaKnown, adasAccount, adasKey, keys, made, signer, storeKey, timestamp } from './world.ts';

const at = new Date(timestamp);
const ada: BrandKey = { signer, keyId: keys.ada.id, accountId: 'ada', accountKey: adasKey };
const snapId = 'pYVQrBcKmBa0mZ4CCN7ExT6jH8rY1hza';
const model = { model: 'pc-1', architecture: 'amd64', base: 'core22' };
const snap = (name: string, type: string, more: Headers = {}) => ({
  name,
  type,
  id: name.padEnd(32, '0').replaceAll('-', '0'),
  ...more,
});
const snaps = [snap('pc-kernel', 'kernel', { 'default-channel': '22/stable' }), snap('pc', 'gadget')];

/** Whether our own check of the chain takes it for ada's. */
const believed = (text: string, more: readonly Assertion[] = []) =>
  acceptUpload(text, { ...adaKnown, storedAssertions: [...adaKnown.storedAssertions, ...more] })
    .map(joined)
    .includes(text);

const request = (headers: Headers, keyName: 'device' | 'second' = 'device') =>
  signAssertion(signer, keys[keyName].id, { type: 'serial-request', headers, signedAt: at });
const requestHeaders = { 'brand-id': 'ada', model: 'pc-1', 'request-id': 'R1', 'device-key': keys.device.encoded };

t.test('a brand signs the same bytes as snapd for the same headers', async (t) => {
  const step = (name: string) =>
    parseAssertion(chain.steps.find((candidate) => candidate.name === name)?.assertion ?? '');
  const brand: BrandKey = { ...ada, accountId: 'my-brand', accountKey: undefined };
  const signers: [string, (assertion: Assertion, at: Date) => Promise<string>][] = [
    ['model-by-brand', ({ headers }, at) => signModel(brand, without(headers, 'timestamp'), at)],
    ['validation-set-by-brand', ({ headers }, at) => signValidationSet(brand, without(headers, 'timestamp'), at)],
    ['system-user-by-brand', ({ headers }, at) => signSystemUser(brand, headers, at)],
    [
      'serial-by-brand',
      (_, at) => signSerial(brand, readSerialRequest(joined(step('serial-request-selfsigned'))), '0001', at),
    ],
    [
      'snap-revision-by-brand-delegated-provenance',
      ({ headers }, at) => signSnapRevision(brand, parseAssertion(chain.assertions['decl-ra'] ?? ''), headers, at),
    ],
  ];
  for (const [name, sign] of signers) {
    const vector = step(name);
    const signedAt = decodeSignature(vector.signature).createdAt;
    // The vectors have another time in their headers than in their signatures; everything else is compared.
    const text = await sign(vector, signedAt);
    const stamped = vector.content.replace(/^(timestamp: ).*$/m, `$1${signedAt.toISOString().replace('.000', '')}`);
    t.equal(parseAssertion(text).content, stamped, name);
    const { type, headers, body } = vector;
    t.equal(
      await signAssertion(signer, keys.ada.id, { type, headers, body, signedAt }),
      joined(vector),
      `${name}, signed as it was`,
    );
  }
});

function without(headers: Headers, name: string): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name));
}

t.test('the signatures of a brand are trusted', async (t) => {
  t.ok(believed(await signModel(ada, { ...model, grade: 'signed', snaps }, at)), 'model');
  t.ok(
    believed(
      await signModel(ada, { ...model, gadget: 'pc=22', kernel: 'pc-kernel=22', 'required-snaps': ['hello'] }, at),
    ),
    'model of old',
  );
  t.ok(believed(await signModel(ada, { model: 'desk', classic: 'true' }, at)), 'classic model');
  const set = {
    name: 'tested',
    sequence: '3',
    snaps: [{ name: 'hello', id: snapId, presence: 'required', revision: '7' }],
  };
  t.ok(believed(await signValidationSet(ada, set, at)), 'validation-set');
  const user = {
    email: 'bob@example.com',
    username: 'bob',
    models: ['pc-1'],
    since: timestamp,
    until: '2030-01-01T00:00:00Z',
  };
  t.ok(
    believed(await signSystemUser(ada, { ...user, password: '$6$salt$hash', serials: ['1'], format: '1' }, at)),
    'system-user',
  );

  const declaration = await made('store', 'authority', 'snap-declaration', {
    series: '16',
    'snap-id': snapId,
    'snap-name': 'hello',
    'publisher-id': 'ada',
    'revision-authority': [{ 'account-id': 'ada', provenance: ['factory'], 'min-revision': '2' }],
    timestamp,
  });
  const revision = {
    'snap-sha3-384': 'A'.repeat(64),
    provenance: 'factory',
    'snap-size': '4096',
    'snap-revision': '2',
    'developer-id': 'ada',
  };
  t.ok(believed(await signSnapRevision(ada, declaration, revision, at), [declaration]), 'snap-revision');
  const refused: [Headers, RegExp][] = [
    [{ ...revision, provenance: 'other' }, /does not let 'ada' sign this revision/],
    [{ ...revision, 'snap-revision': '1' }, /does not let 'ada' sign this revision/],
    [{ ...revision, provenance: 'global-upload' }, /only a store can sign/],
  ];
  for (const [headers, message] of refused)
    await t.rejects(signSnapRevision(ada, declaration, headers, at), { name: 'Refusal', message });
  await t.rejects(signSnapRevision(ada, adasAccount, revision, at), { message: /a snap-declaration is needed/ });
});

t.test('a device with its key gets its serial', async (t) => {
  const read = readSerialRequest(`${await request({ ...requestHeaders, serial: 'wish' })}\n${joined(storeKey)}`);
  t.match(read, {
    brandId: 'ada',
    model: 'pc-1',
    requestId: 'R1',
    serial: 'wish',
    deviceKeyId: keys.device.id,
    enclosed: { length: 1 },
  });
  const serial = await signSerial(ada, read, '0001', at);
  t.ok(believed(serial));
  t.match(parseAssertion(serial).headers, {
    serial: '0001',
    'device-key': keys.device.encoded,
    'device-key-sha3-384': keys.device.id,
  });
});

t.test('a device that does not hold its key gets nothing', async (t) => {
  await t.rejects(request(requestHeaders, 'second'), {
    message: /'sign-key-sha3-384' is not the id of the header 'device-key'/,
  });
  const honest = await request(requestHeaders);
  t.throws(() => readSerialRequest(honest.replace('R1', 'R2')), {
    name: 'Refusal',
    message: /changed after it was signed/,
  });
  const theirs = await request({ ...requestHeaders, 'device-key': keys.second.encoded }, 'second');
  const lent = honest.slice(0, honest.lastIndexOf('\n\n')) + theirs.slice(theirs.lastIndexOf('\n\n'));
  t.throws(() => readSerialRequest(lent), { name: 'Refusal', message: /changed after|not signed by the key/ });
  t.throws(() => readSerialRequest(joined(adasKey)), {
    message: /must come first, and not an assertion of type "account-key"/,
  });
  await t.rejects(request({ ...requestHeaders, model: 'PC' }), { message: /'model' is "PC"/ });
});

t.test('another account signs serials only if the model allows it', async (t) => {
  const read = readSerialRequest(await request(requestHeaders));
  const bob: BrandKey = { signer, keyId: keys.second.id, accountId: 'bob', accountKey: undefined };
  const parsed = async (headers: Headers) => parseAssertion(await signModel(ada, { ...model, snaps, ...headers }, at));
  const delegating = await parsed({ 'serial-authority': ['bob'] });
  await t.resolves(signSerial(bob, read, '1', at, delegating));
  await t.rejects(signSerial(bob, read, '1', at), { name: 'Refusal', message: /'bob' is not the brand 'ada'/ });
  const silent = await parsed({});
  await t.rejects(signSerial(bob, read, '1', at, silent), { message: /'bob' is not the brand 'ada'/ });
  const other = await parsed({ model: 'pc-2', 'serial-authority': ['bob'] });
  await t.rejects(signSerial(bob, read, '1', at, other), { message: /'bob' is not the brand 'ada'/ });
  await t.rejects(signSerial(ada, read, 'a\nb', at), { message: /one line/ });
  await t.rejects(signSerial(ada, read, 'a/b', at), { message: /'serial' must not hold a '\/'/ });
});

t.test('nothing is signed that the account-key does not allow', async (t) => {
  const brandKey = async (headers: Headers): Promise<BrandKey> => ({
    ...ada,
    accountKey: await accountKey('ada', 'ada', 'default', headers),
  });
  const sign = async (headers: Headers) => signModel(await brandKey(headers), { ...model, snaps }, at);
  await t.rejects(sign({ until: timestamp }), { name: 'Refusal', message: /says that the key is expired/ });
  await t.rejects(sign({ since: '2024-06-01T00:00:01Z' }), { message: /says that the key is not yet valid/ });
  await t.rejects(sign({ until: '2024-01-01T00:00:00Z' }), { message: /says that the key is revoked/ });
  await t.rejects(sign({ format: '1', constraints: [{ headers: { type: 'serial' } }] }), {
    message: /constraints .* do not allow it/,
  });
  await t.resolves(sign({ format: '1', constraints: [{ headers: { type: 'model', model: 'pc-.*' } }] }));
  const foreign = { ...ada, accountKey: storeKey };
  await t.rejects(signModel(foreign, { ...model, snaps }, at), {
    name: 'Error',
    message: /the account-key is for another key/,
  });
});

t.test('a model, a set or a user that a device would not take is not signed', async (t) => {
  const models: [Headers, RegExp][] = [
    [{ ...model, model: 'PC', snaps }, /'model' is "PC"/],
    [{ model: 'pc', base: 'core22', snaps }, /'architecture' is missing/],
    [{ ...model, snaps: [] }, /'gadget' is missing/],
    [{ ...model, snaps: 'pc' }, /must be a list of maps/],
    [{ ...model, snaps: snaps.slice(1) }, /must hold the kernel/],
    [{ ...model, snaps, gadget: 'pc' }, /'gadget' cannot stand beside 'snaps'/],
    [{ ...model, snaps, grade: 'good' }, /'grade' is "good"/],
    [{ ...model, snaps, grade: 'secured', 'storage-safety': 'prefer-encrypted' }, /must be one of encrypted/],
    [{ ...model, snaps: [...snaps, snap('pc', 'app')] }, /names the name "pc" twice/],
    [{ ...model, snaps: [...snaps, snap('pc2', 'gadget')] }, /two snaps of type gadget: "pc" and "pc2"/],
    [{ ...model, snaps: [...snaps, { name: 'hello' }] }, /snaps "hello" of the model assertion .* 'id' is missing/],
    [{ ...model, snaps: [...snaps, { ...snap('hello', 'app'), id: snaps[1]?.id ?? '' }] }, /names the id .* twice/],
    [{ ...model, snaps: [...snaps, snap('core22', 'app')] }, /must be 'base'/],
    [{ ...model, base: 'bare-base', snaps }, /must hold the base "bare-base"/],
    [{ ...model, snaps: [...snaps, snap('hello', 'app', { 'default-channel': 'stable' })] }, /channel with its track/],
    [
      { ...model, snaps: [snap('pc-kernel', 'kernel', { presence: 'optional' }), snap('pc', 'gadget')] },
      /'presence' cannot be given for the kernel/,
    ],
    [{ ...model, snaps: [...snaps, snap('hello', 'app', { modes: ['R'] })] }, /holds "R", which is no mode/],
    [{ ...model, gadget: 'pc=stable', kernel: 'pc-kernel' }, /snap name, or a name and a track/],
    [{ ...model, gadget: 'pc', kernel: 'pc-kernel', grade: 'signed' }, /'grade' needs the header 'snaps'/],
    [{ ...model, gadget: 'pc', kernel: 'pc-kernel', 'required-snaps': ['-'] }, /holds "-", which is no snap name/],
    [{ ...model, snaps, distribution: 'ubuntu' }, /needs a classic model/],
    [{ ...model, snaps, classic: 'true' }, /'distribution' is missing/],
    [{ model: 'desk', classic: 'true', kernel: 'pc' }, /cannot be given for a classic model/],
    [{ ...model, snaps, 'serial-authority': 'bob' }, /must be a list of texts/],
    [{ ...model, snaps, 'serial-authority': ['b o b'] }, /holds "b o b", which is no account id/],
    [{ ...model, snaps, format: '1' }, /'format' is 1; the newest that is understood is 0/],
    [{ ...model, snaps, 'signatory-id': 'bob' }, /'signatory-id' is not supported/],
  ];
  for (const [headers, message] of models)
    await t.rejects(signModel(ada, headers, at), { name: 'Refusal', message }, String(message));

  const set = { name: 'tested', sequence: '1', snaps: [{ name: 'hello', id: snapId }] };
  const sets: [Headers, RegExp][] = [
    [{ ...set, sequence: '0' }, /'sequence' must be at least 1/],
    [{ ...set, sequence: '01' }, /whole number/],
    [{ ...set, snaps: [] }, /'snaps' is missing/],
    [{ ...set, name: 'A' }, /'name' is "A"/],
    [{ ...set, snaps: [{ name: 'hello' }] }, /'id' is missing/],
    [{ ...set, snaps: [{ name: 'hello', id: snapId, presence: 'invalid', revision: '1' }] }, /must not be there/],
  ];
  for (const [headers, message] of sets)
    await t.rejects(signValidationSet(ada, headers, at), { name: 'Refusal', message }, String(message));

  const user = {
    email: 'bob@example.com',
    username: 'bob',
    models: ['pc-1'],
    since: timestamp,
    until: '2030-01-01T00:00:00Z',
  };
  const users: [Headers, RegExp][] = [
    [{ ...user, email: 'bob' }, /e-mail address/],
    [{ ...user, username: 'Bob' }, /name of a system user/],
    [{ ...user, password: 'plain' }, /hashed by crypt/],
    [{ ...user, password: '$5$salt$hash' }, /hashed by crypt/],
    [{ ...user, password: '$6$rounds=10$salt$hash' }, /hashed by crypt/],
    [{ ...user, 'force-password-change': 'true' }, /'password' is missing/],
    [{ ...user, until: '2024-01-01T00:00:00Z' }, /'until' is before since/],
    [{ ...user, models: [] }, /at most a year/],
    [{ ...user, serials: ['1'] }, /needs format 1/],
    [{ ...user, serials: ['1'], models: ['a', 'b'], format: '1' }, /exactly one model/],
  ];
  for (const [headers, message] of users)
    await t.rejects(signSystemUser(ada, headers, at), { name: 'Refusal', message }, String(message));
});
