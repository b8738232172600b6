// Stored assertions: imported and verified, signed by this store, or sent to it for registration.
import { createDigest } from '#domain/cryptography.ts';
import { joined, parseAssertion, parseStream, type Assertion } from '#assertions/format/assertion.ts';
import { acceptAll, acceptEach, acceptUpload, checkSignature, type HeldKey, type Roots } from '#assertions/chain.ts';
import { decodePublicKey } from '#assertions/format/openpgp.ts';
import { eachPrerequisite, prerequisitesOf } from '#assertions/prerequisites.ts';
import type { AssertionsByName, AssertionSelection, SpilledAssertions } from '#assertions/spilled-assertions.ts';
import { checkAssertion, nameOf } from '#assertions/format/types.ts';
import { NameIndex } from '#domain/name-index.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Sequence } from '#domain/sequence.ts';
import type { StoredAssertion } from '#records/assertions/assertions.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import { act, type Acts, type Actor, type ActContext } from '../act.ts';
import { noSigningKey } from '../keys/signing-keys.ts';

/** A verified stream of assertions, with the state of the records that it was verified against. */
export interface VerifiedAssertions {
  /**
   * If set, an account-key must be for a key of this brand that is held or was requested here. If undefined, any key
   * that a trusted root vouches for is accepted.
   */
  brandAccountId: string | undefined;
  /** The whole stream. */
  upload: Iterable<Assertion>;
  /** The new assertions in it. */
  accepted: Sequence<Assertion>;
  /** The digest of the related records at the time of verification. */
  basis: string;
}

/** The records that relate to an upload. */
interface Basis {
  held: HeldKey[];
  /** The digest of these keys and of all stored assertions that may affect the upload. */
  digest: string;
}

type AssertionRecords = {
  assertions: Pick<StoreRecords['assertions'], 'listOf' | 'keysOf'>;
  signingKeys: Pick<StoreRecords['signingKeys'], 'publicHalf'>;
};

export const storeImportedAssertions = act({
  name: 'import_assertions',
  summary: 'Import assertions of the online store, verified up to a trusted root.',
  on: 'brand/ACCOUNT-ID or assertions',
  object: ({ brandAccountId }: VerifiedAssertions) =>
    brandAccountId === undefined ? 'assertions' : `brand/${brandAccountId}`,
  gate: { never: 'assertions count only if they chain to a trusted root' },

  perform: (tx, believed: VerifiedAssertions, doing) => storeVerifiedAssertions(tx, believed, doing),
});

/** Stores the new assertions, unless a related record changed since they were verified. */
export async function storeVerifiedAssertions(
  tx: ChangeRecords,
  { brandAccountId, upload, accepted, basis }: VerifiedAssertions,
  { at, actor, note }: ActContext,
): Promise<void> {
  // Since the assertions were verified, a key that signed one of them may have been revoked or deleted.
  if ((await basisOf(upload, tx, brandAccountId)).digest !== basis) throw overtakenRefusal();
  // The request only shows that registration was asked for; no assertion relies on it.
  const storedNames: string[] = [];
  for (const assertion of accepted.values().filter(({ type }) => type !== 'account-key-request')) {
    if (!(await tx.assertions.keep(toAssertionRecord(assertion, 'imported', { at, actor })))) throw overtakenRefusal();
    storedNames.push(`${nameOf(assertion)} revision ${assertion.revision}`);
  }
  note({ assertions: storedNames });
}

export const storeSignedAssertion = act({
  name: 'sign_assertion',
  summary: 'Store an assertion that this store signed with a key of a brand.',
  on: 'TYPE/PRIMARY-KEY',
  object: ({ signed }: { signed: Assertion }) => nameOf(signed),
  gate: { never: 'the caller has the keys already' },

  async perform(tx, { signed }: { signed: Assertion }, { at, actor, note }) {
    const key = signed.signKeyId;
    if ((await tx.signingKeys.find(key)) === undefined) {
      throw noSigningKey(signed.headers['authority-id'] as string, key);
    }
    if (!(await tx.assertions.keep(toAssertionRecord(signed, 'signed', { at, actor })))) {
      throw new Refusal(
        'conflict',
        `Revision ${signed.revision} of '${nameOf(signed)}' is not newer than the stored revision.`,
      );
    }
    note({ revision: signed.revision, key });
  },
});

export const storeKeyRequest = act({
  name: 'store_key_request',
  summary: 'Store a request to register the key of a publisher until it is taken to the online store.',
  on: 'account/ID',
  object: ({ accountId }: { accountId: string }) => `account/${accountId}`,
  gate: { never: 'the online store decides on the request' },

  async perform(tx, { accountId, request }: { accountId: string; request: Assertion }, { at, actor, note }) {
    if (request.headers['account-id'] !== accountId) {
      throw new Refusal('api-error', 'The request is for a key of another account. Make it with your own account id.');
    }
    const key = request.headers['public-key-sha3-384'] as string;
    if (!(await tx.assertions.keep(toAssertionRecord(request, 'imported', { at, actor })))) {
      throw new Refusal('conflict', `A request to register the key ${key} waits here already.`);
    }
    note({ key });
  },
});

export interface AssertionImport {
  records: AssertionRecords;
  acts: Acts;
  roots: Roots;
  now: Date;
  brandAccountId?: string;
}

/**
 * Verifies a stream of assertions up to the trusted roots and stores the new ones. If the verification of one fails,
 * none is stored. An assertion of the stream is never used as a root.
 */
export async function importAssertions(
  text: string | Uint8Array,
  actor: Actor,
  { records, acts, roots, now, brandAccountId }: AssertionImport,
): Promise<Assertion[]> {
  const upload = parseStream(text);
  upload.forEach(checkAssertion);
  const stored: Assertion[] = [];
  const { held, digest: basis } = await basisOf(upload, records, brandAccountId, (assertion) => stored.push(assertion));
  const accepted = acceptUpload(text, {
    roots,
    storedAssertions: stored,
    held,
    takesForeignKeys: brandAccountId === undefined,
    now,
  });
  await acts.do(storeImportedAssertions, actor, { brandAccountId, upload, accepted, basis });
  return accepted;
}

/** Verified assertions, and a lookup by name that also finds their prerequisites. */
export type VerifiedAssertionsByName<Accepted extends Sequence<Assertion> = Sequence<Assertion>> =
  VerifiedAssertions & {
    accepted: Accepted;
    find: (name: string) => Assertion | undefined;
  };

/**
 * Verifies parsed assertions of any account that a trusted root vouches for. Skips an assertion that this store has in
 * the same or a newer revision, and uses the stored one instead.
 */
export async function verifyAssertions(
  upload: readonly Assertion[],
  { records, roots, now }: Pick<AssertionImport, 'records' | 'roots' | 'now'>,
): Promise<VerifiedAssertionsByName<Assertion[]>> {
  upload.forEach(checkAssertion);
  const stored: Assertion[] = [];
  const { held, digest: basis } = await basisOf(upload, records, undefined, (assertion) => stored.push(assertion));
  const byName = new Map([...roots.assertions, ...stored].map((assertion) => [nameOf(assertion), assertion]));
  const newAssertions = upload.filter(
    (assertion) => (byName.get(nameOf(assertion))?.revision ?? -1) < assertion.revision,
  );
  const accepted = acceptAll(newAssertions, { roots, storedAssertions: stored, held, takesForeignKeys: true, now });
  for (const assertion of accepted) byName.set(nameOf(assertion), assertion);
  return { brandAccountId: undefined, upload, accepted, basis, find: (name) => byName.get(name) };
}

/** Like `verifyAssertions`, for more assertions than fit into memory: theirs and the stored texts are in spill files. */
export async function verifySpooledAssertions(
  upload: SpilledAssertions,
  { records, roots, now }: Pick<AssertionImport, 'records' | 'roots' | 'now'>,
): Promise<VerifiedAssertionsByName<AssertionSelection>> {
  for (const assertion of upload) checkAssertion(assertion);
  const stored = upload.createSibling();
  const { held, digest: basis } = await basisOf(upload, records, undefined, (assertion) => {
    stored.add(assertion);
  });
  const rooted = new Map(roots.assertions.map((assertion) => [nameOf(assertion), assertion]));
  const isNew = (assertion: Assertion): boolean => {
    const name = nameOf(assertion);
    const number = stored.numberOf(name);
    return (number < 0 ? (rooted.get(name)?.revision ?? -1) : stored.revisionAt(number)) < assertion.revision;
  };
  const newAssertions: AssertionsByName & Iterable<Assertion> = {
    get(name) {
      const candidate = upload.get(name);
      return candidate !== undefined && isNew(candidate) ? candidate : undefined;
    },
    ofType: (type) => upload.ofType(type).filter(isNew),
    [Symbol.iterator]: () => upload.values().filter(isNew),
  };
  const accepted: number[] = [];
  acceptEach(
    newAssertions,
    newAssertions,
    { roots, storedAssertions: stored, held, takesForeignKeys: true, now },
    (assertion) => accepted.push(upload.numberOf(nameOf(assertion))),
  );
  const find = (name: string): Assertion | undefined => newAssertions.get(name) ?? stored.get(name) ?? rooted.get(name);
  return { brandAccountId: undefined, upload, accepted: upload.pick(accepted), basis, find };
}

/** Parses an account-key-request. Refuses it if it is not signed with the key that it contains. */
export function readKeyRequest(text: string): Assertion {
  const request = parseAssertion(text);
  if (request.type !== 'account-key-request') {
    throw new Refusal('api-error', `This is an assertion of type ${request.type}, not an account-key-request.`);
  }
  checkAssertion(request);
  checkSignature(request, decodePublicKey(request.body));
  return request;
}

const headerOf = ({ headers }: Assertion, name: string): string | null => (headers[name] as string | undefined) ?? null;

/** Converts an assertion to its record. */
export const toAssertionRecord = (
  assertion: Assertion,
  origin: StoredAssertion['origin'],
  { at, actor }: { at: string; actor: string },
): StoredAssertion => ({
  name: nameOf(assertion),
  type: assertion.type,
  accountId: ['account-key', 'validation-set'].includes(assertion.type) ? headerOf(assertion, 'account-id') : null,
  snapName: assertion.type === 'snap-declaration' ? headerOf(assertion, 'snap-name') : null,
  setName: assertion.type === 'validation-set' ? headerOf(assertion, 'name') : null,
  sequence: assertion.type === 'validation-set' ? Number(assertion.headers['sequence']) : null,
  snapId: assertion.type === 'snap-revision' ? headerOf(assertion, 'snap-id') : null,
  snapRevision: assertion.type === 'snap-revision' ? Number(assertion.headers['snap-revision']) : null,
  revision: assertion.revision,
  origin,
  text: joined(assertion),
  keptAt: at,
  keptBy: actor,
});

/**
 * Computes a digest of all stored records that affect the verification of an upload: assertions with the same names,
 * prerequisites, and the other keys of accounts with a key in the upload. The digest changes only if one of them
 * changes. Calls `tell` once for each of these assertions.
 */
async function basisOf(
  upload: Iterable<Assertion>,
  records: AssertionRecords,
  brandAccountId: string | undefined,
  tell?: (assertion: Assertion) => void,
): Promise<Basis> {
  const keys: Pick<Assertion, 'headers'>[] = [];
  const digest = createDigest('change');
  const seenNames = new NameIndex();
  const add = (assertion: Assertion): void => {
    const before = seenNames.size;
    if (seenNames.add(nameOf(assertion)) < before) return;
    digest.update(`\0${joined(assertion)}`);
    tell?.(assertion);
  };
  const names = namesFor(upload, (key) => keys.push({ headers: key.headers }));
  for await (const { assertion } of eachPrerequisite(names, (some) => records.assertions.listOf(some))) add(assertion);
  const owners = new Set(keys.map(({ headers }) => headers['account-id'] as string));
  for (const { text } of await records.assertions.keysOf([...owners])) add(parseAssertion(text));
  const ids = keys.map(({ headers }) => headers['public-key-sha3-384'] as string);
  const held = (await heldKeys(ids, records)).filter(
    ({ accountId }) => brandAccountId === undefined || accountId === brandAccountId,
  );
  return { held, digest: digest.update(JSON.stringify(held)).digest('hex') };
}

/** Yields the names of the assertions of an upload and of their direct prerequisites. Calls `key` for each account-key of the upload. */
function* namesFor(upload: Iterable<Assertion>, key: (assertion: Assertion) => void): Generator<string> {
  for (const assertion of upload) {
    if (assertion.type === 'account-key') key(assertion);
    yield nameOf(assertion);
    yield* prerequisitesOf(assertion);
  }
}

/** The keys that are signing keys of this store, or that their owners have asked this store to register. */
async function heldKeys(ids: readonly string[], { assertions, signingKeys }: AssertionRecords): Promise<HeldKey[]> {
  const held: HeldKey[] = [];
  for (const id of ids) {
    const key = await signingKeys.publicHalf(id);
    if (key !== undefined) held.push({ keyId: id, accountId: key.brandAccountId, name: key.name });
  }
  const requests = await assertions.listOf(ids.map((id) => `account-key-request/${id}`));
  return [...held, ...requests.map(({ text }) => toHeldKey(parseAssertion(text)))];
}

const toHeldKey = ({ headers }: Assertion): HeldKey => ({
  keyId: headers['public-key-sha3-384'] as string,
  accountId: headers['account-id'] as string,
  name: headers['name'] as string,
});

const overtakenRefusal = (): Refusal =>
  new Refusal(
    'conflict',
    'The stored assertions changed during the import, so nothing was imported. Send the assertions again.',
  );
