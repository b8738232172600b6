import t from 'tap';
import { joined, parseAssertion, stream, type Assertion, type Headers } from '#assertions/format/assertion.ts';
import { acceptUpload, checkSignature, keyState, readRoots, type VerificationContext } from '#assertions/chain.ts';
import { decodePublicKey } from '#assertions/format/openpgp.ts';
import { canonicalRoots } from '#assertions/canonical-roots.ts';
import { signAssertion } from '#assertions/keys/signer.ts';
import { checkAssertion } from '#assertions/format/types.ts';
import { accountKeyRequest } from '#assertions/keys/account-key-request.ts';
import { bytesOf, chain, requests, vectorKey, type Step } from './vectors.ts';
import {
  account,
  accountKey,
  adaKnown,
  adasAccount,
  adasKey,
  confdbSchema,
  heldInVectors,
  keys,
  made,
  madeElsewhere,
  nothingKnown,
  now,
  roots,
  signer,
  storeKey,
  timestamp,
  type KeyName,
} from './world.ts';

const long = process.env['LARDER_LONG'] === '1';
const names = (assertions: readonly Assertion[]) =>
  assertions.map(({ type, headers }) => `${type} ${JSON.stringify(headers['name'] ?? headers['account-id'])}`);
const refused = (text: string | Uint8Array, circumstances: VerificationContext) => {
  try {
    acceptUpload(text, circumstances);
    return undefined;
  } catch (refusal) {
    if (refusal instanceof Error && refusal.name === 'Refusal') return refusal.message;
    throw refusal;
  }
};

t.test('a registration, an import and a revocation end as with snapd', (t) => {
  const trusted = readRoots(chain.trusted.join('\n'));
  const reasons: Record<string, RegExp> = {
    'akr-without-account': /account assertion of 'my-brand' is neither/,
    'account-key-no-store-key': /account-key Af-fN8\S+, with which 'trustedroot' signed it, is neither/,
    'account-key-no-account': /account assertion of 'my-brand' is neither/,
    'account-key-signed-by-brand': /'my-brand' is not an authority/,
    'account-key-selfsigned-root-lookalike': /chain of signatures is a circle/,
    'account-key-same-name-other-key': /has the same name/,
    'account-key-revision-same': /contains nothing new/,
    'account-key-tampered': /was changed after it was signed/,
    'model-without-account-key': /account-key 485j\S+, with which 'my-brand' signed it, is neither/,
    'model-with-expired-key': /that signed it is expired/,
    'model-with-revoked-key': /that signed it is revoked/,
    'model-timestamp-before-key': /timestamp lies outside/,
    'serial-request-selfsigned': /devices make it/,
    'store-by-brand': /'my-brand' is not an authority/,
    'snap-declaration-by-brand': /'my-brand' is not an authority/,
    'snap-revision-by-brand': /'my-brand' is not an authority/,
    'account-by-brand': /'my-brand' is not an authority/,
  };
  for (const step of chain.steps) {
    const text = refused(step.assertion, {
      roots: trusted,
      storedAssertions: (step['already-imported'] ?? []).map((name) => parseAssertion(chain.assertions[name] ?? '')),
      held: heldFor(step),
      now,
    });
    const reason = reasons[step.name];
    if (step.ok) t.equal(text, undefined, step.name);
    else if (reason === undefined) t.fail(`no reason is expected for ${step.name}`);
    else t.match(text, reason, step.name);
  }
  t.end();
});

/** The vectors' second key goes by two names. */
function heldFor({ name }: Step) {
  return name === 'account-key-same-name-other-key'
    ? heldInVectors.map((key) => ({ ...key, name: 'default' }))
    : heldInVectors;
}

t.test('a request is taken only as snapd itself would write it', (t) => {
  const accept = (text: Uint8Array) => {
    const assertion = parseAssertion(text);
    checkAssertion(assertion);
    if (assertion.type !== 'account-key-request') throw new Error('cannot judge another type');
    checkSignature(assertion, decodePublicKey(assertion.body));
  };
  // Assertions that snapd accepts and we refuse: snapd does not write them like this, or a registration may not contain
  // them.
  const stricter: Record<string, RegExp> = {
    'sign-key-other-valid-digest': /'sign-key-sha3-384' is not the key the request is for/,
    'name=aaaaaaaa...(300)': /'name' is .* but must be lower-case letters/,
    'account-id=my brand': /'account-id' is "my brand", but must be an account id/,
    'since=2024-01-02T3:04:05Z': /'since' is .* but must be a time/,
    'body-other-timestamp-id-canonical': /public key .* not written as snapd writes it/,
    'body-trailing-newline': /public key .* not written as snapd writes it/,
    'body-crlf-wrapped': /CR LF/,
    'body-old-format-packet-header': /public key .* not written as snapd writes it/,
    'body-rsa-sign-only-algo': /public key .* algorithm is 3/,
    'sig-sha384': /digest is sha384/,
    'sig-type-text': /of kind 1/,
    'sig-type-0x10': /of kind 16/,
    'sig-notation': /subpacket 20/,
    'sig-expired': /subpacket 3/,
    'sig-crlf': /CR LF/,
    'sig-unwrapped': /signature is not accepted: it is not written as snapd writes it/,
  };
  for (const edge of requests['edge-cases']) {
    const reason = stricter[edge.name];
    if (edge['snapd-accepts'] && reason === undefined) t.doesNotThrow(() => accept(bytesOf(edge)), edge.name);
    else
      t.throws(
        () => accept(bytesOf(edge)),
        { name: 'Refusal', code: 'api-error', ...(reason && { message: reason }) },
        edge.name,
      );
  }
  for (const { name, assertion } of requests.valid) t.doesNotThrow(() => accept(Buffer.from(assertion)), name);
  t.end();
});

t.test("Canonical's root vouches for itself", (t) => {
  const { accounts, assertions } = readRoots(canonicalRoots);
  t.same([...accounts], ['canonical']);
  t.match(assertions[1], { type: 'account-key', headers: { name: 'root' } });
  t.end();
});

t.test('roots of trust that do not vouch for themselves are refused', async (t) => {
  const root = stream(roots.assertions);
  const other = await account('authority', 'store');
  t.throws(() => readRoots(stream([other])), { message: /signed by a key of an account that is a root/ });
  t.throws(() => readRoots(`${root}\n${joined(adasAccount)}`), {
    message: /signed by a key of an account that is a root/,
  });
  t.throws(() => readRoots(`${root}\n${chain.assertions['model'] ?? ''}`), {
    message: /root of trust is an account or an account-key/,
  });
  t.throws(() => readRoots(root.replace('display-name: authority', 'display-name: Authority')), {
    message: /changed after/,
  });
  t.throws(() => readRoots(joined(roots.assertions[1] as Assertion)), { message: /account that is a root/ });
});

t.test('the parts of an upload may come in any order and are accepted in the order of trust', (t) => {
  const parts = [storeKey, adasAccount, adasKey];
  for (const [a, b, c] of [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ] as const) {
    const accepted = names(acceptUpload(stream([parts[a], parts[b], parts[c]] as Assertion[]), nothingKnown));
    t.equal(accepted[0], 'account-key "store"', `${a}${b}${c}`);
    t.ok(accepted.indexOf('account "ada"') < accepted.indexOf('account-key "default"'));
    t.equal(accepted.length, 3);
  }
  t.end();
});

t.test('nothing is accepted from an upload with one bad part', async (t) => {
  const bad = { ...adasKey, content: adasKey.content.replace('since: 2024', 'since: 2023') };
  t.match(
    refused(stream([storeKey, adasAccount, bad]), nothingKnown),
    /account-key 485j\S+' cannot be taken: it was changed after/,
  );
  const foreign = await account('bob', 'second', 'ada');
  t.match(refused(stream([storeKey, adasAccount, adasKey, foreign]), nothingKnown), /'ada' is not an authority/);
});

t.test('no byte of an upload can be changed', (t) => {
  const bytes = Buffer.from(stream([storeKey, adasAccount, adasKey]));
  const accepted: number[] = [];
  for (let at = 0; at < bytes.length - 1; at += long ? 1 : 7) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    if (refused(changed, nothingKnown) === undefined) accepted.push(at);
  }
  t.same(accepted, []);
  t.end();
});

t.test('a root that is smuggled in is refused', async (t) => {
  const place = /would replace a configured root/;
  const newerKey = await accountKey('root', 'authority', 'root', { revision: '1' }, 'root');
  t.match(refused(joined(newerKey), nothingKnown), place);
  t.match(refused(joined(await account('authority', 'store', 'authority', { revision: '1' })), nothingKnown), place);
  t.match(refused(stream(roots.assertions), nothingKnown), /nothing new/, 'the configured one says nothing new');
  const ownKey = await accountKey('second', 'authority', 'mine', {}, 'second');
  t.match(refused(joined(ownKey), nothingKnown), /chain of signatures is a circle/);
  const [first, second] = [
    await accountKey('second', 'authority', 'a', {}, 'device'),
    await accountKey('device', 'authority', 'b', {}, 'second'),
  ];
  t.match(refused(stream([first, second]), nothingKnown), /chain of signatures is a circle/);
  const ownRoot = await account('evil', 'second', 'evil');
  const evilKey = await accountKey('second', 'evil', 'root', {}, 'second', 'evil');
  t.match(refused(stream([ownRoot, evilKey]), nothingKnown), /'evil' is not an authority/);
});

t.test('a newer revision replaces an older one, and never the other way', async (t) => {
  const newer = await accountKey('ada', 'ada', 'default', { revision: '2', until: '2030-01-01T00:00:00Z' });
  const [accepted] = acceptUpload(joined(newer), adaKnown);
  t.equal(accepted?.revision, 2);
  const storedAssertions = [storeKey, adasAccount, newer];
  t.match(refused(joined(adasKey), { ...adaKnown, storedAssertions }), /revision is 0, but revision 2 is already here/);
  const twin = await accountKey('ada', 'ada', 'default', { revision: '2' });
  t.match(refused(joined(twin), { ...adaKnown, storedAssertions }), /revision is 2, but revision 2 is already here/);
  t.match(
    refused(stream([adasKey, newer]), { ...adaKnown, storedAssertions: [storeKey, adasAccount] }),
    /there twice, with different texts/,
  );
});

t.test('an assertion that is stored already is skipped', async (t) => {
  const second = await accountKey('second', 'ada', 'second');
  t.same(names(acceptUpload(stream([storeKey, adasAccount, second, second]), adaKnown)), ['account-key "second"']);
  t.match(refused(stream([storeKey, adasAccount]), adaKnown), /nothing new/);
});

t.test('a key is valid from since until just before until, and revoked when both are equal', async (t) => {
  const until = '2025-01-01T00:00:00Z';
  const key = await accountKey('ada', 'ada', 'default', { until });
  t.equal(keyState(key, new Date('2023-12-31T23:59:59.999Z')), 'not yet valid');
  t.equal(keyState(key, new Date('2024-01-01T00:00:00Z')), 'valid');
  t.equal(keyState(key, new Date('2024-12-31T23:59:59.999Z')), 'valid');
  t.equal(keyState(key, new Date(until)), 'expired');
  t.equal(keyState(await accountKey('ada', 'ada', 'default', { until: '2024-01-01T00:00:00Z' }), now), 'revoked');
});

t.test('a store key that the same upload revokes vouches for nothing', async (t) => {
  const revoked = await accountKey(
    'store',
    'authority',
    'store',
    { revision: '1', until: '2024-01-01T00:00:00Z' },
    'root',
  );
  t.same(names(acceptUpload(joined(revoked), adaKnown)), ['account-key "store"']);
  t.match(refused(stream([adasAccount, revoked]), nothingKnown), /that signed it is revoked/);
  const second = await accountKey('second', 'ada', 'second');
  t.match(refused(stream([second, revoked]), adaKnown), /that signed it is revoked/);
});

t.test('a key that is not valid now vouches for nothing now', (t) => {
  t.match(
    refused(joined(adasKey), { ...adaKnown, storedAssertions: [storeKey, adasAccount], now: new Date('2023-01-01') }),
    /not yet valid/,
  );
  t.end();
});

t.test('an account-key must be for a key of this store, its brand and its name', async (t) => {
  const storedAssertions = [storeKey, adasAccount, await account('bob')];
  const upload = async (...of: Parameters<typeof accountKey>) =>
    refused(joined(await accountKey(...of)), { ...adaKnown, storedAssertions });
  t.match(await upload('device', 'ada', 'device'), /not a signing key of this store/);
  t.match(await upload('ada', 'bob', 'default'), /belongs to 'ada' here, not to 'bob'/);
  t.match(await upload('ada', 'ada', 'other'), /has the name 'default' here/);
  t.equal(await upload('device', 'authority', 'spare'), undefined, 'an authority has keys of its own');
});

t.test('foreign keys need a trusted root, and must agree with the stored keys', async (t) => {
  const open = { ...adaKnown, takesForeignKeys: true, storedAssertions: [storeKey, adasAccount, await account('bob')] };
  const upload = async (...of: Parameters<typeof accountKey>) => refused(joined(await accountKey(...of)), open);
  t.equal(await upload('device', 'bob', 'device'), undefined);
  t.match(await upload('ada', 'bob', 'default'), /belongs to 'ada' here, not to 'bob'/);
  t.match(await upload('ada', 'ada', 'other'), /has the name 'default' here/);
  const own = await accountKey('device', 'bob', 'device', {}, 'ada', 'ada');
  t.match(refused(stream([adasKey, own]), open), /'ada' is not an authority that may say this/);
});

t.test('only the key of the authority can speak for it', async (t) => {
  const claimed = await account('bob', 'ada', 'authority');
  t.match(refused(joined(claimed), adaKnown), /speaks for 'authority', but the key that signed it belongs to 'ada'/);
});

t.test('a key with constraints vouches for nothing else', async (t) => {
  const constraints = [{ headers: { type: 'model', model: 'pc-.*|kiosk' } }, { headers: { type: 'serial' } }];
  const key = await accountKey('ada', 'ada', 'default', { format: '1', constraints });
  const circumstances = { ...adaKnown, storedAssertions: [storeKey, adasAccount, key] };
  const model = (name: string) =>
    made('ada', 'ada', 'model', {
      series: '16',
      'brand-id': 'ada',
      model: name,
      architecture: 'amd64',
      gadget: 'pc',
      kernel: 'pc-kernel',
      timestamp,
    });
  for (const name of ['pc-1', 'kiosk']) t.equal(refused(joined(await model(name)), circumstances), undefined, name);
  for (const name of ['pc', 'kiosk-2'])
    t.match(refused(joined(await model(name)), circumstances), /constraints .* do not allow it/, name);
  const wrong = accountKey('ada', 'ada', 'default', { format: '1', constraints: [{ headers: { model: 'a' } }] });
  await t.rejects(wrong, { message: /'type' is missing/ });
});

t.test('an account other than the brand may sign for it if its model says so', async (t) => {
  const parts = {
    series: '16',
    'brand-id': 'ada',
    model: 'pc',
    architecture: 'amd64',
    gadget: 'pc',
    kernel: 'pc-kernel',
    timestamp,
  };
  const model = await made('ada', 'ada', 'model', { ...parts, 'serial-authority': ['authority'] });
  const serial = await made('store', 'authority', 'serial', {
    'brand-id': 'ada',
    model: 'pc',
    serial: '1',
    'device-key': keys.device.encoded,
    'device-key-sha3-384': keys.device.id,
    timestamp,
  });
  t.match(refused(joined(serial), adaKnown), /no model that is here names it as serial-authority/);
  t.equal(refused(stream([serial, model]), adaKnown), undefined);

  const user = {
    'brand-id': 'ada',
    email: 'bob@example.com',
    username: 'bob',
    models: ['pc'],
    since: timestamp,
    until: '2030-01-01T00:00:00Z',
  };
  const users = await made('store', 'authority', 'system-user', user);
  t.match(refused(stream([users, model]), adaKnown), /no model that is here names it as system-user-authority/);
  const open = await made('ada', 'ada', 'model', { ...parts, 'system-user-authority': '*' });
  t.equal(refused(stream([users, open]), adaKnown), undefined);

  const snaps = [{ name: 'pc', id: 'a'.repeat(32), revision: '1' }, { name: 'local' }];
  const image = {
    series: '16',
    'brand-id': 'ada',
    model: 'pc',
    'system-label': '20240601',
    'artifact-sha3-384': 'A'.repeat(64),
    snaps,
    timestamp,
  };
  t.equal(refused(joined(await made('ada', 'ada', 'preseed', image)), adaKnown), undefined);
  const theirs = await made('store', 'authority', 'preseed', image);
  t.match(refused(stream([theirs, model]), adaKnown), /no model that is here names it as preseed-authority/);
  const half = made('ada', 'ada', 'preseed', { ...image, snaps: [{ name: 'pc', revision: '1' }] });
  await t.rejects(half, { message: /'revision' and the id are given together/ });
});

t.test('an assertion that a device makes for one conversation is not stored', async (t) => {
  const headers = { 'brand-id': 'ada', model: 'pc', serial: '1', nonce: 'N', timestamp };
  const text = await signAssertion(signer, keys.device.id, { type: 'device-session-request', headers, signedAt: now });
  t.match(refused(text, adaKnown), /device-session-request ada pc 1' cannot be taken: devices make it for one session/);
});

t.test('a request that this store made can be shown to itself', async (t) => {
  const { id } = vectorKey('rsa4096-a');
  const text = await accountKeyRequest({
    signer,
    keyId: id,
    accountId: 'ada',
    name: 'default',
    since: now,
    signedAt: now,
  });
  t.equal(refused(text, adaKnown), undefined);
  t.match(refused(text, nothingKnown), /account assertion of 'ada' is neither/);
});

t.test(
  'an assertion in a newer format is accepted once its signature holds and its known headers are valid',
  async (t) => {
    const headers = {
      format: '99',
      series: '16',
      'snap-id': 'S'.repeat(32),
      'snap-name': 'hello',
      'publisher-id': 'ada',
      plugs: { 'new-thing': { 'allow-installation': { 'new-rule': ['x'] } } },
      timestamp,
    };
    const declaration = (more: Headers = {}, keyName: KeyName = 'store', authority = 'authority') =>
      madeElsewhere(keyName, authority, 'snap-declaration', { ...headers, ...more });
    const upload = async (...more: Parameters<typeof declaration>) =>
      refused(joined(await declaration(...more)), adaKnown);
    t.equal(await upload(), undefined);
    t.match(await upload({ 'publisher-id': 'Ada' }), /'publisher-id' is "Ada", but must be an account id/);
    t.match(await upload({ 'revision-authority': 'all' }), /'revision-authority' must be a list of maps/);
    t.match(await upload({ timestamp: 'now' }), /'timestamp' is "now", but must be a time/);
    t.match(await upload({ series: '17' }), /'series'/);
    t.match(await upload({ 'publisher-id': 'bob' }), /account assertion of 'bob' is neither/);
    t.match(await upload({}, 'ada', 'ada'), /'ada' is not an authority/);
    const changed = joined(await declaration()).replace('hello', 'hallo');
    t.match(refused(changed, adaKnown), /was changed after it was signed/);

    const newer = await declaration({ revision: '4', format: '100' });
    const context = { ...adaKnown, storedAssertions: [...adaKnown.storedAssertions, newer] };
    t.match(refused(joined(await declaration({ revision: '3' })), context), /revision is 3, but revision 4 is already/);
    t.equal(refused(joined(await declaration({ revision: '5', format: '7' })), context), undefined);

    const request = await madeElsewhere('device', '', 'serial-request', { format: '1' });
    t.match(refused(joined(request), adaKnown), /'format' is 1; the newest that is understood is 0/);
    t.throws(() => checkAssertion({ ...adasKey, format: 2, headers: { ...adasKey.headers, since: 'x' } }), {
      message: /'since' is "x"/,
    });
  },
);

t.test('an account-key in a newer format is accepted, and vouches for nothing', async (t) => {
  const { headers, body } = await accountKey('second', 'ada', 'second');
  const key = await madeElsewhere('store', 'authority', 'account-key', { ...headers, format: '2' }, body);
  t.equal(refused(joined(key), adaKnown), undefined);
  const schema = await confdbSchema({}, 'second');
  const reason = /is in format 2, but this store knows the constraints of keys only up to format 1/;
  t.match(refused(stream([key, schema]), adaKnown), reason);
  t.match(refused(joined(schema), { ...adaKnown, storedAssertions: [...adaKnown.storedAssertions, key] }), reason);
});

t.test('a confdb-schema is signed by its account, and the schemas of system by a root', async (t) => {
  t.equal(refused(joined(await confdbSchema()), adaKnown), undefined);
  t.match(
    refused(joined(await confdbSchema({}, 'second')), adaKnown),
    /account-key \S+, with which 'ada' signed it, is/,
  );
  t.match(refused(joined(await confdbSchema({}, 'store')), adaKnown), /speaks for 'ada', but the key .* 'authority'/);
  const schema = await confdbSchema({ revision: '2' });
  const context = { ...adaKnown, storedAssertions: [...adaKnown.storedAssertions, schema] };
  t.match(refused(joined(await confdbSchema({ revision: '1' })), context), /revision is 1, but revision 2 is already/);
  t.match(refused(joined(schema).replace('"any"', '"all"'), adaKnown), /was changed after it was signed/);
  const foreign = { 'authority-id': 'ada', 'account-id': 'bob' };
  await t.rejects(confdbSchema(foreign), { message: /'account-id' must be the same as authority-id/ });

  const chain = [await account('canonical'), await accountKey('second', 'canonical', 'default')];
  const ofSystem = await confdbSchema({ 'account-id': 'system' }, 'second', 'canonical');
  const open = { ...adaKnown, takesForeignKeys: true, held: [] };
  t.match(refused(stream([...chain, ofSystem]), open), /'canonical' is not an authority that may say this/);
  const accounts = new Set(['authority', 'canonical']);
  t.equal(refused(stream([...chain, ofSystem]), { ...open, roots: { ...roots, accounts } }), undefined);
});

t.test('repairs and clusters are refused in a sentence', async (t) => {
  for (const type of ['repair', 'cluster']) {
    const assertion = await madeElsewhere('ada', 'ada', type, { 'brand-id': 'ada', 'cluster-id': 'x', sequence: '1' });
    t.equal(
      refused(joined(assertion), adaKnown),
      `This store does not serve assertions of type '${type}'. Leave them out.`,
    );
  }
});
