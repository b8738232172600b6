import fc from 'fast-check';
import t from 'tap';
import { accountKeyRequest } from '#assertions/keys/account-key-request.ts';
import { parseAssertion } from '#assertions/format/assertion.ts';
import { checkSignature } from '#assertions/chain.ts';
import { signAssertion } from '#assertions/keys/signer.ts';
import { checkAssertion, isKeyName } from '#assertions/format/types.ts';
import { requests, vectorKey, vectorSigner } from '../vectors.ts';

const { id, publicKey } = vectorKey('rsa2048-a');
const since = new Date('2024-01-02T03:04:05Z');
const request = { signer: vectorSigner(), keyId: id, accountId: 'my-brand', name: 'fixed', since, signedAt: since };

t.test('a request is byte for byte what snapd makes', async (t) => {
  for (const vector of requests.valid) {
    const {
      'public-key-sha3-384': keyId = '',
      'account-id': accountId = '',
      name = '',
      since = '',
      until,
      revision,
    } = vector.headers;
    const signedAt = new Date(vector['signature-created'] * 1000);
    if (since.endsWith('Z')) {
      const made = await accountKeyRequest({
        ...request,
        keyId,
        accountId,
        name,
        signedAt,
        since: new Date(since),
        until: until === undefined ? undefined : new Date(until),
        revision: Number(revision ?? 0),
      });
      t.equal(made, vector.assertion, vector.name);
    } else {
      // Only whole seconds in UTC are ever asked for here; the same text is signed alike all the same.
      const { headers, body } = parseAssertion(vector.assertion);
      const made = await signAssertion(request.signer, keyId, { type: 'account-key-request', headers, body, signedAt });
      t.equal(made, vector.assertion, vector.name);
    }
  }
});

t.test('times are written in UTC with whole seconds', async (t) => {
  const made = await accountKeyRequest({
    ...request,
    since: new Date('2025-06-30T23:59:59.987+02:00'),
    until: new Date('2035-01-01'),
  });
  t.match(made, /\nsince: 2025-06-30T21:59:59Z\nuntil: 2035-01-01T00:00:00Z\n/);
});

t.test('an invalid request is never written', async (t) => {
  const refused: [Partial<typeof request> & { until?: Date; revision?: number }, RegExp][] = [
    [{ name: '' }, /the name must be/],
    [{ name: '1' }, /at least one letter/],
    [{ name: 'a--b' }, /single inner dashes/],
    [{ name: '-a' }, /the name must be/],
    [{ name: 'a-' }, /the name must be/],
    [{ name: 'Key' }, /the name must be/],
    [{ name: 'a\nsince: 1' }, /the name must be/],
    [{ name: 'a\n' }, /the name must be/],
    [{ name: 'a'.repeat(129) }, /at most 128/],
    [{ accountId: '' }, /the account id must be/],
    [{ accountId: 'a' }, /the account id must be/],
    [{ accountId: 'my brand' }, /the account id must be/],
    [{ accountId: 'my-brand\n' }, /the account id must be/],
    [{ accountId: 'a'.repeat(29) }, /the account id must be/],
    [{ until: new Date('2024-01-02T03:04:04Z') }, /'until' must not be before 'since'/],
    [{ since: new Date(NaN) }, /'since' must be a time/],
    [{ until: new Date(NaN) }, /'until' must be a time/],
    [{ until: new Date('+010000-01-01') }, /'until' must be a time/],
    [{ revision: -1 }, /the revision must be/],
    [{ revision: 1.5 }, /the revision must be/],
  ];
  for (const [part, message] of refused) {
    await t.rejects(
      accountKeyRequest({ ...request, ...part }),
      { name: 'Refusal', code: 'api-error', message },
      String(message),
    );
  }
  await t.resolves(
    accountKeyRequest({
      ...request,
      until: since,
      name: 'a'.repeat(128),
      accountId: 'AbcDefGhi1234567890JklMnoPqrStuv',
    }),
  );
});

t.test('a signer that gives another key is our fault', async (t) => {
  const signer = { ...request.signer, publicKey: () => Promise.resolve(vectorKey('rsa3072-a').publicKey) };
  await t.rejects(accountKeyRequest({ ...request, signer }), { name: 'Error', message: /the signer gave another/ });
});

t.test("the rule for names is snapd's", (t) => {
  // Exponential when it fails, therefore only for short words.
  const upstream = /^(?:[a-z0-9]+-?)*[a-z](?:-?[a-z0-9])*$/;
  let words = [''];
  for (let length = 1; length <= 7; length++) {
    words = words.flatMap((word) => ['a', '1', '-'].map((letter) => word + letter));
    const differing = words.filter((word) => upstream.test(word) !== isKeyName(word));
    t.same(differing, [], `of ${length} letters`);
  }
  t.notOk(isKeyName('1'.repeat(100_000) + '!'), 'and takes no longer for long ones');
  t.end();
});

t.test('every request passes our own check of requests', async (t) => {
  const name = fc.stringMatching(/^[a-z0-9]{1,5}(?:-[a-z0-9]{1,5}){0,3}$/).filter((name) => /[a-z]/.test(name));
  const accountId = fc.oneof(fc.stringMatching(/^[a-zA-Z0-9]{32}$/), fc.stringMatching(/^[-a-z0-9]{2,28}$/));
  const moment = fc.date({ min: new Date('1970-01-01'), max: new Date('2105-01-01'), noInvalidDate: true });
  await fc.assert(
    fc.asyncProperty(
      name,
      accountId,
      fc.array(moment, { minLength: 2, maxLength: 2 }),
      moment,
      fc.nat(9),
      async (name, accountId, times, signedAt, revision) => {
        const [since = signedAt, until] = times.sort((a, b) => a.getTime() - b.getTime());
        const text = await accountKeyRequest({ ...request, name, accountId, since, until, revision, signedAt });
        const assertion = parseAssertion(text);
        checkAssertion(assertion);
        checkSignature(assertion, publicKey);
      },
    ),
    { numRuns: 50 },
  );
  t.pass('for random names, accounts and times');
});
