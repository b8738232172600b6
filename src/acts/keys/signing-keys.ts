// Signing keys: the keys that brands sign with.
import { managerKeyOf, type KeyCustody } from '#assertions/keys/key-custody.ts';
import type { SealedKey } from '#assertions/keys/sealed-keys.ts';
import { isKeyName } from '#assertions/format/types.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { SigningKey } from '#records/keys/signing-keys.ts';
import { act, type Acts, type Actor } from '../act.ts';
import { recordExport, measureText } from '../audit/exports.ts';

interface SigningKeyTarget {
  brandAccountId: string;
  /** The key id. */
  sha3_384: string;
}

interface HasNames {
  signingKeys: Pick<StoreRecords['signingKeys'], 'hasName'>;
}

/** A request for a new key. */
export interface NewSigningKey {
  brandAccountId: string;
  name: string;
  /** The account that creates it. */
  createdBy: string;
}

export const createSigningKey = act({
  name: 'create_signing_key',
  summary: 'Store a signing key of a brand; its private half is stored sealed, or stays in the key manager.',
  on: 'brand/ACCOUNT-ID/signing-key/SHA3-384',
  object: ({ brandAccountId, key }: NewSigningKey & { key: SealedKey }) => objectOf({ brandAccountId, ...key }),
  gate: { never: 'devices trust it only after the online store has registered it' },

  async perform(tx, { key, ...request }: NewSigningKey & { key: SealedKey }, { at, note }): Promise<SigningKey> {
    await refuseKeyName(request, tx);
    await refuseHeldKey(key, tx);
    const signingKey = { ...key, ...request, createdAt: at, modifiedAt: null, modifiedBy: null, requestedAt: null };
    if (!(await tx.signingKeys.claim(signingKey))) throw taken(request.name);
    const managerKey = managerKeyOf(key.sealed);
    note({ name: request.name, ...(managerKey !== undefined && { 'manager-key': managerKey }) });
    return signingKey;
  },
});

export const importSigningKey = act({
  name: 'import_signing_key',
  summary:
    'Import a signing key that was made elsewhere; its account-key must be stored here. The private half is stored sealed.',
  on: 'brand/ACCOUNT-ID/signing-key/SHA3-384',
  object: ({ brandAccountId, key }: NewSigningKey & { key: SealedKey }) => objectOf({ brandAccountId, ...key }),
  gate: {
    kinds: ['import_keys'],
    lines: async (_, { brandAccountId, key, name }: NewSigningKey & { key: SealedKey }) => [
      { kind: 'import_keys', on: objectOf({ brandAccountId, ...key }), part: null, from: null, to: name },
    ],
  },

  async perform(tx, { key, ...request }: NewSigningKey & { key: SealedKey }, { at, note }): Promise<SigningKey> {
    const registered = await tx.assertions.find(`account-key/${key.sha3_384}`);
    if (registered?.accountId !== request.brandAccountId) {
      throw new Refusal(
        'conflict',
        `No account-key of ${request.brandAccountId} is stored here for the key ${key.sha3_384}. Import it with 'larder assertion import'.`,
      );
    }
    await refuseHeldKey(key, tx);
    await refuseKeyName(request, tx);
    const signingKey = { ...key, ...request, createdAt: at, modifiedAt: null, modifiedBy: null, requestedAt: null };
    if (!(await tx.signingKeys.claim(signingKey))) throw taken(request.name);
    note({ name: request.name });
    return signingKey;
  },
});

export const deleteSigningKey = act({
  name: 'delete_signing_key',
  summary: 'Delete a signing key for good, unless a serial policy uses it.',
  on: 'brand/ACCOUNT-ID/signing-key/SHA3-384',
  object: objectOf,
  gate: {
    kinds: ['delete_keys'],
    async lines(tx, key: SigningKeyTarget) {
      const from = (await tx.signingKeys.find(key.sha3_384))?.name ?? null;
      return [{ kind: 'delete_keys', on: objectOf(key), part: null, from, to: null }];
    },
  },

  async perform(tx, { brandAccountId, sha3_384 }: SigningKeyTarget, { note }) {
    const key = await tx.signingKeys.find(sha3_384);
    if (key?.brandAccountId !== brandAccountId) throw noSigningKey(brandAccountId, sha3_384);
    if (await tx.serialPolicies.useKey(sha3_384)) {
      throw new Refusal('conflict', `The signing key '${key.name}' is used to sign at least one serial policy.`);
    }
    await tx.signingKeys.remove(sha3_384);
    note({ name: key.name });
  },
});

export const requestRegistration = act<
  SigningKeyTarget & Record<'since' | 'until', string | null> & { text: string },
  void
>({
  name: 'read_signing_key_account_key_request',
  summary: 'Record that a request to register a signing key was made, to be taken to the online store.',
  on: 'brand/ACCOUNT-ID/signing-key/SHA3-384',
  object: objectOf,
  gate: { never: 'the request holds no secret, and the online store decides on it' },

  /** `text` is the key request, which leaves the host. */
  async perform(tx, { brandAccountId, sha3_384, since, until, text }, doing) {
    const { at, note } = doing;
    // The request was signed earlier. If the key was deleted since, it must not be registered.
    const key = await tx.signingKeys.find(sha3_384);
    if (key?.brandAccountId !== brandAccountId) throw noSigningKey(brandAccountId, sha3_384);
    await tx.signingKeys.request(sha3_384, at);
    note({ since, until });
    await recordExport(tx, { what: 'key request', name: sha3_384, ...measureText(text) }, doing);
  },
});

/**
 * Makes and stores a key of a brand, or registers the key in the key manager that has the name `managerKey`. Checks the name twice: here,
 * because making the key takes a second or two, and again in the transaction.
 */
export async function makeSigningKey(
  { records, acts, custody }: { records: HasNames; acts: Acts; custody: Pick<KeyCustody, 'make' | 'register'> },
  actor: Actor,
  request: NewSigningKey,
  managerKey?: string,
): Promise<SigningKey> {
  await refuseKeyName(request, records);
  const key = await (managerKey === undefined ? custody.make(request.brandAccountId) : custody.register(managerKey));
  return acts.do(createSigningKey, actor, { ...request, key });
}

/** The error for a key that a brand does not have. */
export const noSigningKey = (brandAccountId: string, sha3_384: string): Refusal =>
  new Refusal('resource-not-found', `Brand ${brandAccountId} has no signing key '${sha3_384.slice(0, 100)}'.`);

async function refuseKeyName({ brandAccountId, name }: NewSigningKey, { signingKeys }: HasNames): Promise<void> {
  if (!isKeyName(name)) {
    throw new Refusal(
      'api-error',
      `The key name '${name}' must be of lower-case letters, digits and single inner dashes, with a letter among them.`,
    );
  }
  if (await signingKeys.hasName(brandAccountId, name)) throw taken(name);
}

async function refuseHeldKey(
  { sha3_384 }: SealedKey,
  { signingKeys }: Pick<ChangeRecords, 'signingKeys'>,
): Promise<void> {
  if ((await signingKeys.find(sha3_384)) !== undefined)
    throw new Refusal('conflict', `The key ${sha3_384} is here already.`);
}

const taken = (name: string): Refusal => new Refusal('conflict', `The brand has a signing key '${name}' already.`);

function objectOf({ brandAccountId, sha3_384 }: SigningKeyTarget): string {
  return `brand/${brandAccountId}/signing-key/${sha3_384}`;
}
