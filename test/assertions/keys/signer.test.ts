import { createSecretKey, type KeyObject } from 'node:crypto';
import t from 'tap';
import { parseAssertion } from '#assertions/format/assertion.ts';
import { checkSignature } from '#assertions/chain.ts';
import { decodeSignature, verifySignature } from '#assertions/format/openpgp.ts';
import { createKeyCustody, type SigningKeyRecord } from '#assertions/keys/key-custody.ts';
import { createKeyManager } from '#assertions/keys/key-manager.ts';
import { seal } from '#assertions/keys/sealed-keys.ts';
import { signAssertion } from '#assertions/keys/signer.ts';
import { vectorKey } from '../vectors.ts';

const masterKey = createSecretKey(Buffer.alloc(32, 7));
const content = 'to be signed';
const at = new Date('2024-01-02T03:04:05Z');
const [first, two] = [vectorKey('rsa2048-a'), vectorKey('rsa3072-a')];

const recordOf = (brandAccountId: string, { id, encoded, privateKey }: typeof first): SigningKeyRecord => ({
  brandAccountId,
  publicKey: encoded,
  sealed: seal(masterKey, { brandAccountId, keyId: id }, privateKey),
});

function store(openKeys?: number) {
  const keys = new Map<string, SigningKeyRecord>([
    [first.id, recordOf('ada', first)],
    [two.id, recordOf('bob', two)],
  ]);
  const state: { keys: Map<string, SigningKeyRecord>; master: KeyObject | undefined } = { keys, master: masterKey };
  const signer = createKeyCustody({
    find: (id) => Promise.resolve(state.keys.get(id)),
    masterKey: () => state.master,
    manager: createKeyManager({
      settings: () => ({ environment: [], timeout_seconds: 10, concurrent: 1 }),
      env: {},
      refusedPinFile: '/nonexistent/refused-pin',
      lockPin: () => Promise.resolve({ close: () => undefined }),
    }),
    ...(openKeys !== undefined && { openKeys }),
  });
  return { state, signer };
}

t.test('a sealed key signs, and its public key is known without opening it', async (t) => {
  const { signer, state } = store();
  const signature = await signer.sign(first.id, content, at);
  t.equal(verifySignature(first.publicKey, content, decodeSignature(signature)), 'valid');
  t.same(await signer.sign(first.id, content, at), signature, 'the same from the key that is kept open');
  state.master = undefined;
  t.ok((await signer.publicKey(first.id)).equals(first.publicKey));
});

t.test('of a key that is destroyed nothing is kept open', async (t) => {
  const { signer, state } = store();
  for (const { id } of [first, two]) await signer.sign(id, content, at);
  state.master = createSecretKey(Buffer.alloc(32, 8));
  signer.destroy(first.id);
  await t.rejects(signer.sign(first.id, content, at), { message: /another master key/ }, 'it is opened again');
  t.ok(await signer.sign(two.id, content, at), 'and no other is');
});

t.test('a sealed store makes no key', async (t) => {
  const { signer, state } = store();
  state.master = undefined;
  await t.rejects(signer.make('ada'), { name: 'Refusal', code: 'sealed', message: /keys can be made again/ });
});

t.test('a sealed store signs nothing, also with keys it had open', async (t) => {
  const { signer, state } = store();
  await signer.sign(first.id, content, at);
  state.master = undefined;
  await t.rejects(signer.sign(first.id, content, at), { name: 'Refusal', code: 'sealed', status: 503 });
  state.master = createSecretKey(Buffer.alloc(32, 8));
  await t.rejects(signer.sign(first.id, content, at), { message: /another master key/ }, 'it forgot what it had open');
});

t.test('a removed key no longer signs', async (t) => {
  const { signer, state } = store();
  await signer.sign(first.id, content, at);
  state.keys.delete(first.id);
  await t.rejects(signer.sign(first.id, content, at), { name: 'Refusal', code: 'resource-not-found' });
  await t.rejects(signer.publicKey(first.id), { name: 'Refusal', code: 'resource-not-found' });
});

t.test('a key that was open for ada does not open for bob', async (t) => {
  const { signer, state } = store();
  await signer.sign(first.id, content, at);
  state.keys.set(first.id, {
    ...recordOf('ada', first),
    sealed: state.keys.get(first.id)?.sealed ?? '',
    brandAccountId: 'bob',
  });
  await t.rejects(signer.sign(first.id, content, at), { message: /another brand or key/ });
});

t.test('only so many keys stay open', async (t) => {
  const { signer, state } = store(1);
  await signer.sign(first.id, content, at);
  await signer.sign(two.id, content, at);
  state.master = createSecretKey(Buffer.alloc(32, 8));
  t.ok(await signer.sign(two.id, content, at), 'the last one is open still');
  await t.rejects(
    signer.sign(first.id, content, at),
    { message: /another master key/ },
    'the one before must be opened again',
  );
});

t.test('an assertion is checked before it is signed', async (t) => {
  const { signer } = store();
  const headers = {
    'authority-id': 'ada',
    'snap-sha3-384': 'A'.repeat(64),
    'snap-id': 'x'.repeat(32),
    'snap-size': '4096',
    grade: 'stable',
    timestamp: '2024-01-02T03:04:05Z',
  };
  const signedAt = new Date('2024-01-02T03:04:05Z');
  const text = await signAssertion(signer, first.id, { type: 'snap-build', headers, signedAt });
  t.doesNotThrow(() => checkSignature(parseAssertion(text), first.publicKey));
  t.throws(() => checkSignature(parseAssertion(text), two.publicKey), { message: /not signed by the key/ });
  t.throws(() => checkSignature(parseAssertion(text.replace('4096', '4097')), first.publicKey), {
    message: /changed after/,
  });

  const wrong = { type: 'snap-build', headers: { ...headers, grade: 'good' }, signedAt };
  await t.rejects(signAssertion(signer, first.id, wrong), {
    name: 'Refusal',
    message: /'grade' is "good", but must be one of stable, devel/,
  });
  await t.rejects(signAssertion(signer, first.id, { type: 'wish', headers, signedAt }), {
    name: 'Refusal',
    message: /"wish" are not known/,
  });
});
