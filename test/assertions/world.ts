// A made-up world of trust: a root, the key of its store, and ada's brand, signed with the throw-away keys.
import {
  contentOf,
  joined,
  parseAssertion,
  stream,
  type Assertion,
  type Headers,
} from '#assertions/format/assertion.ts';
import { readRoots, type VerificationContext } from '#assertions/chain.ts';
import { signAssertion } from '#assertions/keys/signer.ts';
import { requests, vectorKey, vectorSigner } from './vectors.ts';

export const signer = vectorSigner();
export const keys = {
  root: vectorKey('rsa4096-c'),
  store: vectorKey('rsa3072-a'),
  ada: vectorKey('rsa4096-a'),
  second: vectorKey('rsa4096-b'),
  device: vectorKey('rsa2048-a'),
};
export type KeyName = keyof typeof keys;

export const now = new Date('2026-11-20T12:00:00Z');
export const timestamp = '2024-06-01T00:00:00Z';

/** Signs a statement in the name of an account. */
export async function made(
  keyName: KeyName,
  authority: string,
  type: string,
  headers: Headers,
  body = '',
): Promise<Assertion> {
  const all: Headers = { 'authority-id': authority, ...headers };
  return parseAssertion(
    await signAssertion(signer, keys[keyName].id, { type, headers: all, body, signedAt: new Date(timestamp) }),
  );
}

/** The same by a program that knows more types and formats than this store: nothing is checked. */
export async function madeElsewhere(
  keyName: KeyName,
  authority: string,
  type: string,
  headers: Headers,
  body = '',
): Promise<Assertion> {
  const content = contentOf(type, [], { 'authority-id': authority, ...headers }, body, keys[keyName].id);
  const at = new Date(timestamp);
  return parseAssertion(joined({ content, signature: await signer.sign(keys[keyName].id, content, at) }));
}

/** A confdb-schema of ada, and the JSON of its storage. */
export const storageBody = '{\n  "storage": {\n    "schema": {\n      "wifi": "any"\n    }\n  }\n}';
export const confdbSchema = (more: Headers = {}, keyName: KeyName = 'ada', authority = 'ada'): Promise<Assertion> =>
  made(
    keyName,
    authority,
    'confdb-schema',
    {
      'account-id': authority,
      name: 'network',
      views: { setup: { rules: [{ request: 'wifi', storage: 'wifi' }] } },
      timestamp,
      ...more,
    },
    storageBody,
  );

export const account = (
  id: string,
  keyName: KeyName = 'store',
  authority = 'authority',
  more: Headers = {},
): Promise<Assertion> =>
  made(keyName, authority, 'account', {
    'account-id': id,
    'display-name': id,
    validation: 'verified',
    timestamp,
    ...more,
  });

export const accountKey = (
  of: KeyName,
  account: string,
  name: string,
  more: Headers = {},
  keyName: KeyName = 'store',
  authority = 'authority',
) =>
  made(
    keyName,
    authority,
    'account-key',
    { 'public-key-sha3-384': keys[of].id, 'account-id': account, name, since: '2024-01-01T00:00:00Z', ...more },
    keys[of].encoded,
  );

export const trusted = stream([
  await account('authority', 'root'),
  await accountKey('root', 'authority', 'root', {}, 'root'),
]);
export const roots = readRoots(trusted);
export const storeKey = await accountKey('store', 'authority', 'store', {}, 'root');
export const adasAccount = await account('ada');
export const adasKey = await accountKey('ada', 'ada', 'default');

export const nothingKnown: VerificationContext = {
  roots,
  storedAssertions: [],
  held: [
    { keyId: keys.ada.id, accountId: 'ada', name: 'default' },
    { keyId: keys.second.id, accountId: 'ada', name: 'second' },
  ],
  now,
};
export const adaKnown = {
  ...nothingKnown,
  storedAssertions: [storeKey, adasAccount, adasKey],
} satisfies VerificationContext;

/** The vectors' own made-up root and keys. */
export const heldInVectors = requests.keys.map((key) => ({
  keyId: key['public-key-sha3-384'],
  accountId: 'my-brand',
  name: { 'rsa4096-a': 'default', 'rsa4096-b': 'second' }[key.name] ?? key.name,
}));
