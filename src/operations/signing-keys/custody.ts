// Signing keys come and go: what operations and commands on the host have in common.
import type { KeyObject } from 'node:crypto';

import { makeSealedKey } from '#assertions/keys.ts';
import { isKeyName } from '#assertions/types.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { AuditEntry } from '#records/audit.ts';
import type { Records } from '#records/index.ts';
import type { SigningKey } from '#records/signing-keys.ts';
import { noSigningKey } from './present.ts';

/** Who does it, for the audit log; the rest follows from the key. */
type Actor = Omit<AuditEntry, 'at' | 'object' | 'details'>;

export interface NewSigningKey {
  records: Records;
  now: Now;
  /** Undefined while the store is sealed. */
  masterKey: KeyObject | undefined;
  brandAccountId: string;
  name: string;
  /** The account behind it. */
  createdBy: string;
  actor: Actor;
}

/** Makes a key of a brand, which takes a second or two; its private half is recorded sealed and shown to nobody. */
export async function makeSigningKey(wanted: NewSigningKey): Promise<SigningKey> {
  const { records, now, masterKey, brandAccountId, name, createdBy, actor } = wanted;
  if (!isKeyName(name)) {
    throw new Refusal(
      'api-error',
      `The key name '${name}' must be of lower-case letters, digits and single inner dashes, with a letter among them.`,
    );
  }
  if (masterKey === undefined) {
    throw new Refusal('sealed', 'The store is sealed: give it the signing master key, then keys can be made again.');
  }
  const taken = new Refusal('conflict', `The brand has a signing key '${name}' already.`);
  // Looked at before the second that it takes to make a key, and again when it is kept.
  if (await records.signingKeys.hasName(brandAccountId, name)) throw taken;

  const key = {
    ...(await makeSealedKey(masterKey, brandAccountId)),
    brandAccountId,
    name,
    createdAt: timestamp(now()),
    createdBy,
    modifiedAt: null,
    modifiedBy: null,
    requestedAt: null,
  };
  await records.change({ ...actor, at: key.createdAt, object: objectOf(key), details: { name } }, async (tx) => {
    if (!(await tx.signingKeys.claim(key))) throw taken;
  });
  return key;
}

/** Deletes a key of a brand for good, unless a serial policy uses it. */
export async function deleteKey(
  { records, now, actor }: Pick<NewSigningKey, 'records' | 'now' | 'actor'>,
  brandAccountId: string,
  sha3_384: string,
): Promise<void> {
  const entry = { ...actor, at: timestamp(now()), object: objectOf({ brandAccountId, sha3_384 }) };
  await records.change(entry, async (tx, note) => {
    const key = await tx.signingKeys.find(sha3_384);
    if (key?.brandAccountId !== brandAccountId) throw noSigningKey(brandAccountId, sha3_384);
    if (await tx.serialPolicies.useKey(sha3_384)) {
      throw new Refusal('conflict', `The signing key '${key.name}' is used to sign at least one serial policy.`);
    }
    await tx.signingKeys.remove(sha3_384);
    note({ name: key.name });
  });
}

const objectOf = ({ brandAccountId, sha3_384 }: Pick<SigningKey, 'brandAccountId' | 'sha3_384'>): string =>
  `brand/${brandAccountId}/signing-key/${sha3_384}`;
