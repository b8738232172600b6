// Stored assertions: imported and believed, signed here, or sent here for registration.
import { createHash } from 'node:crypto';

import { joined, parseAssertion, parseStream, type Assertion } from '#assertions/assertion.ts';
import { acceptAll, acceptEach, acceptUpload, checkSignature, type HeldKey, type Roots } from '#assertions/chain.ts';
import { decodePublicKey } from '#assertions/openpgp.ts';
import { eachRestedOn, restsOn } from '#assertions/prerequisites.ts';
import type { AssertionsByName, Picked, SpooledAssertions } from '#assertions/spooled.ts';
import { checkAssertion, nameOf } from '#assertions/types.ts';
import { NameIndex } from '#domain/name-index.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Sequence } from '#domain/sequence.ts';
import type { KeptAssertion } from '#records/assertions.ts';
import type { Changes, Records } from '#records/index.ts';
import { act, type Acts, type By, type Doing } from './act.ts';
import { noSigningKey } from './signing-keys.ts';

/** A verified stream of assertions, with the state of the records that it was verified against. */
export interface Believed {
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

type Known = {
  assertions: Pick<Records['assertions'], 'listOf' | 'keysOf'>;
  signingKeys: Pick<Records['signingKeys'], 'publicHalf'>;
};

export const keepImported = act({
  name: 'import_assertions',
  summary: 'Take in assertions that came back from the online store, checked up to a root of trust.',
  on: 'brand/ACCOUNT-ID or assertions',
  object: ({ brandAccountId }: Believed) => (brandAccountId === undefined ? 'assertions' : `brand/${brandAccountId}`),
  gate: { never: 'what it brings counts as far as a trusted root vouches for it' },

  perform: (tx, believed: Believed, doing) => keepBelieved(tx, believed, doing),
});

/** Stores the new assertions, unless a related record changed since they were verified. */
export async function keepBelieved(
  tx: Changes,
  { brandAccountId, upload, accepted, basis }: Believed,
  { at, actor, note }: Doing,
): Promise<void> {
  // A key that one of them relies on may have been revoked or deleted since they were verified.
  if ((await basisOf(upload, tx, brandAccountId)).digest !== basis) throw overtaken();
  // The request only shows that registration was asked for; no assertion relies on it.
  const kept: string[] = [];
  for (const one of accepted.values().filter(({ type }) => type !== 'account-key-request')) {
    if (!(await tx.assertions.keep(asKept(one, 'imported', { at, actor })))) throw overtaken();
    kept.push(`${nameOf(one)} revision ${one.revision}`);
  }
  note({ assertions: kept });
}

export const keepSigned = act({
  name: 'assertion sign',
  summary: "Keep an assertion that was signed here with a brand's key.",
  on: 'TYPE/PRIMARY-KEY',
  object: ({ signed }: { signed: Assertion }) => nameOf(signed),
  gate: { never: 'whoever may do it has the keys' },

  async perform(tx, { signed }: { signed: Assertion }, { at, actor, note }) {
    const key = signed.signKeyId;
    if ((await tx.signingKeys.find(key)) === undefined) {
      throw noSigningKey(signed.headers['authority-id'] as string, key);
    }
    if (!(await tx.assertions.keep(asKept(signed, 'signed', { at, actor })))) {
      throw new Refusal(
        'conflict',
        `Revision ${signed.revision} of '${nameOf(signed)}' is not newer than the one that is here.`,
      );
    }
    note({ revision: signed.revision, key });
  },
});

export const askForRegistration = act({
  name: 'dashboard_account_key',
  summary: "Keep a request to register a publisher's own key until somebody carries it to the online store.",
  on: 'account/ID',
  object: ({ accountId }: { accountId: string }) => `account/${accountId}`,
  gate: { never: 'the online store decides on it, once somebody has carried it there' },

  async perform(tx, { accountId, request }: { accountId: string; request: Assertion }, { at, actor, note }) {
    if (request.headers['account-id'] !== accountId) {
      throw new Refusal('api-error', 'The request is for a key of another account; make it with your own account id.');
    }
    const key = request.headers['public-key-sha3-384'] as string;
    if (!(await tx.assertions.keep(asKept(request, 'imported', { at, actor })))) {
      throw new Refusal('conflict', `It was asked before to register the key ${key}, and that request waits here.`);
    }
    note({ key });
  },
});

export interface Import {
  records: Known;
  acts: Acts;
  roots: Roots;
  now: Date;
  brandAccountId?: string;
}

/**
 * Verifies a stream of assertions up to the trusted roots and stores the new ones. If one of them cannot be believed,
 * none is stored. An assertion of the stream is never used as a root.
 */
export async function importAssertions(
  text: string | Uint8Array,
  by: By,
  { records, acts, roots, now, brandAccountId }: Import,
): Promise<Assertion[]> {
  const upload = parseStream(text);
  upload.forEach(checkAssertion);
  const known: Assertion[] = [];
  const { held, digest: basis } = await basisOf(upload, records, brandAccountId, (one) => known.push(one));
  const accepted = acceptUpload(text, {
    roots,
    known,
    held,
    takesForeignKeys: brandAccountId === undefined,
    now,
  });
  await acts.do(keepImported, by, { brandAccountId, upload, accepted, basis });
  return accepted;
}

/** Believed assertions, with a lookup by name of the assertions that they rely on. */
export type BelievedByName<Accepted extends Sequence<Assertion> = Sequence<Assertion>> = Believed & {
  accepted: Accepted;
  find: (name: string) => Assertion | undefined;
};

/**
 * Verifies parsed assertions of any account that a trusted root vouches for. Skips an assertion that this store has in
 * the same or a newer revision, and uses the stored one instead.
 */
export async function believe(
  upload: readonly Assertion[],
  { records, roots, now }: Pick<Import, 'records' | 'roots' | 'now'>,
): Promise<BelievedByName<Assertion[]>> {
  upload.forEach(checkAssertion);
  const known: Assertion[] = [];
  const { held, digest: basis } = await basisOf(upload, records, undefined, (one) => known.push(one));
  const here = new Map([...roots.assertions, ...known].map((one) => [nameOf(one), one]));
  const wanted = upload.filter((one) => (here.get(nameOf(one))?.revision ?? -1) < one.revision);
  const accepted = acceptAll(wanted, { roots, known, held, takesForeignKeys: true, now });
  for (const one of accepted) here.set(nameOf(one), one);
  return { brandAccountId: undefined, upload, accepted, basis, find: (name) => here.get(name) };
}

/** The same for large numbers: neither these assertions nor the stored ones are held in memory. */
export async function believeMany(
  upload: SpooledAssertions,
  { records, roots, now }: Pick<Import, 'records' | 'roots' | 'now'>,
): Promise<BelievedByName<Picked>> {
  for (const one of upload) checkAssertion(one);
  const known = upload.beside();
  const { held, digest: basis } = await basisOf(upload, records, undefined, (one) => {
    known.add(one);
  });
  const rooted = new Map(roots.assertions.map((one) => [nameOf(one), one]));
  const isNew = (one: Assertion): boolean => {
    const name = nameOf(one);
    const number = known.numberOf(name);
    return (number < 0 ? (rooted.get(name)?.revision ?? -1) : known.revisionAt(number)) < one.revision;
  };
  const wanted: AssertionsByName & Iterable<Assertion> = {
    get(name) {
      const found = upload.get(name);
      return found !== undefined && isNew(found) ? found : undefined;
    },
    ofType: (type) => upload.ofType(type).filter(isNew),
    [Symbol.iterator]: () => upload.values().filter(isNew),
  };
  const accepted: number[] = [];
  acceptEach(wanted, wanted, { roots, known, held, takesForeignKeys: true, now }, (one) =>
    accepted.push(upload.numberOf(nameOf(one))),
  );
  const find = (name: string): Assertion | undefined => wanted.get(name) ?? known.get(name) ?? rooted.get(name);
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
export const asKept = (
  one: Assertion,
  origin: KeptAssertion['origin'],
  { at, actor }: { at: string; actor: string },
): KeptAssertion => ({
  name: nameOf(one),
  type: one.type,
  accountId: ['account-key', 'validation-set'].includes(one.type) ? headerOf(one, 'account-id') : null,
  snapName: one.type === 'snap-declaration' ? headerOf(one, 'snap-name') : null,
  setName: one.type === 'validation-set' ? headerOf(one, 'name') : null,
  sequence: one.type === 'validation-set' ? Number(one.headers['sequence']) : null,
  snapId: one.type === 'snap-revision' ? headerOf(one, 'snap-id') : null,
  snapRevision: one.type === 'snap-revision' ? Number(one.headers['snap-revision']) : null,
  revision: one.revision,
  origin,
  text: joined(one),
  keptAt: at,
  keptBy: actor,
});

/**
 * Collects all stored assertions that may affect an upload: the ones of the same names, the ones that it relies on, its
 * keys, and the keys of its accounts. Passes each to `tell` once. The order is stable while the records are unchanged.
 */
async function basisOf(
  upload: Iterable<Assertion>,
  known: Known,
  brandAccountId: string | undefined,
  tell?: (one: Assertion) => void,
): Promise<Basis> {
  const keys: Pick<Assertion, 'headers'>[] = [];
  const digest = createHash('sha256');
  const told = new NameIndex();
  const add = (one: Assertion): void => {
    const before = told.size;
    if (told.add(nameOf(one)) < before) return;
    digest.update(`\0${joined(one)}`);
    tell?.(one);
  };
  const names = namesFor(upload, (key) => keys.push({ headers: key.headers }));
  for await (const { assertion } of eachRestedOn(names, (some) => known.assertions.listOf(some))) add(assertion);
  const owners = new Set(keys.map(({ headers }) => headers['account-id'] as string));
  for (const { text } of await known.assertions.keysOf([...owners])) add(parseAssertion(text));
  const ids = keys.map(({ headers }) => headers['public-key-sha3-384'] as string);
  const held = (await heldKeys(ids, known)).filter(
    ({ accountId }) => brandAccountId === undefined || accountId === brandAccountId,
  );
  return { held, digest: digest.update(JSON.stringify(held)).digest('hex') };
}

/** The names of an upload and of the assertions that it relies on. Passes each account-key to `key`. */
function* namesFor(upload: Iterable<Assertion>, key: (one: Assertion) => void): Generator<string> {
  for (const one of upload) {
    if (one.type === 'account-key') key(one);
    yield nameOf(one);
    yield* restsOn(one);
  }
}

/** The keys that are signing keys of this store, or that their owners have asked this store to register. */
async function heldKeys(ids: readonly string[], { assertions, signingKeys }: Known): Promise<HeldKey[]> {
  const held: HeldKey[] = [];
  for (const id of ids) {
    const key = await signingKeys.publicHalf(id);
    if (key !== undefined) held.push({ keyId: id, accountId: key.brandAccountId, name: key.name });
  }
  const requests = await assertions.listOf(ids.map((id) => `account-key-request/${id}`));
  return [...held, ...requests.map(({ text }) => askedFor(parseAssertion(text)))];
}

const askedFor = ({ headers }: Assertion): HeldKey => ({
  keyId: headers['public-key-sha3-384'] as string,
  accountId: headers['account-id'] as string,
  name: headers['name'] as string,
});

const overtaken = (): Refusal =>
  new Refusal(
    'conflict',
    'Something that these assertions rest on, or a newer revision of one, came in meanwhile; nothing was imported. Send them again.',
  );
