// Verifies the chain of trust of uploaded assertions, up to the trusted roots that the administrator configured. Pure functions: known
// assertions are arguments, accepted ones are results.
import type { KeyObject } from '#domain/cryptography.ts';
import { NameIndex } from '#domain/name-index.ts';
import { Refusal } from '#domain/refusal.ts';
import { joined, parseStream, type Assertion } from './format/assertion.ts';
import { constraintsAllow, newestKeyFormat } from './format/constraints.ts';
import { HeaderReader } from './format/headers.ts';
import { decodePublicKey, decodeSignature, deviation, verifySignature } from './format/openpgp.ts';
import type { AssertionsByName } from './spilled-assertions.ts';
import { checkAssertion, defaultProvenance, nameOf, primaryKeyOf, series, typeOf } from './format/types.ts';

/** The trusted roots: accounts that may sign for others, and their keys. */
export interface Roots {
  readonly assertions: readonly Assertion[];
  readonly accounts: ReadonlySet<string>;
}

/** A signing key of this store, or one for which its owner requested registration here. */
export interface HeldKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly name: string;
}

export interface VerificationContext {
  readonly roots: Roots;
  /** Assertions accepted earlier. */
  readonly storedAssertions: readonly Assertion[] | AssertionsByName;
  readonly held: readonly HeldKey[];
  /** Whether to accept account-keys that are neither held nor requested here, such as those of other brands and publishers. */
  readonly takesForeignKeys?: boolean;
  readonly now: Date;
}

/**
 * Verifies an upload and returns its new assertions, prerequisites first. Skips assertions that are already stored with the same
 * text. Refuses the whole upload if any assertion is not trusted.
 */
export function acceptUpload(text: string | Uint8Array, circumstances: VerificationContext): Assertion[] {
  const accepted = acceptAll(parseStream(text), circumstances);
  if (accepted.length > 0) return accepted;
  throw new Refusal(
    'api-error',
    'This upload contains nothing new: each assertion is already stored in this revision.',
  );
}

/** Like `acceptUpload`, for parsed assertions; the result may be empty. */
export function acceptAll(assertions: readonly Assertion[], circumstances: VerificationContext): Assertion[] {
  const stored = new StoredAssertions(circumstances);
  const upload = new Map<string, Assertion>();
  for (const assertion of assertions) {
    checkAssertion(assertion);
    const name = nameOf(assertion);
    const twin = upload.get(name);
    if (twin !== undefined && joined(twin) !== joined(assertion))
      throw no(assertion, 'it is there twice, with different texts');
    if (stored.lacks(assertion)) upload.set(name, assertion);
  }
  const accepted: Assertion[] = [];
  acceptEach(upload.values(), findIn(upload), circumstances, (assertion) => accepted.push(assertion));
  return accepted;
}

/**
 * Like `acceptAll`, for very many assertions. They must be checked already and newer than the known ones, and `upload` finds them by name.
 * Calls `accept` for each accepted assertion.
 */
export function acceptEach(
  assertions: Iterable<Assertion>,
  upload: AssertionsByName,
  circumstances: VerificationContext,
  accept: (assertion: Assertion) => void,
): void {
  const stored = new StoredAssertions(circumstances);
  const chain = new Chain(circumstances, { upload, stored, accept });
  for (const assertion of assertions) if (stored.lacks(assertion)) chain.accept(assertion);
}

/** Reads the trusted roots: accounts and account-keys. They may be self-signed, but their signatures must be valid. */
export function readRoots(text: string | Uint8Array): Roots {
  const assertions = parseStream(text);
  const accounts = new Set<string>();
  const keys = new Map<string, Assertion>();
  for (const assertion of assertions) {
    checkAssertion(assertion);
    if (assertion.type === 'account') accounts.add(header(assertion, 'account-id'));
    else if (assertion.type === 'account-key') keys.set(header(assertion, 'public-key-sha3-384'), assertion);
    else throw no(assertion, 'a root of trust is an account or an account-key');
  }
  for (const assertion of assertions) {
    const signer = keys.get(assertion.signKeyId);
    const vouches = signer && header(signer, 'account-id') === header(assertion, 'authority-id');
    if (!vouches || !accounts.has(header(assertion, 'account-id'))) {
      throw no(assertion, 'each root of trust must be signed by a key of an account that is a root itself');
    }
    checkSignature(assertion, decodePublicKey(signer.body));
  }
  if (keys.size === 0) throw new Refusal('api-error', 'The roots of trust hold no key.');
  return { assertions, accounts };
}

/** Refuses an assertion if this key did not sign it, or if the signature is not written as snapd writes it. */
export function checkSignature(assertion: Assertion, key: KeyObject): void {
  const signature = decodeSignature(assertion.signature);
  const strange = deviation(assertion.signature, signature);
  if (strange !== undefined) throw no(assertion, `its signature is not accepted: ${strange}`);
  const verdict = verifySignature(key, assertion.content, signature);
  if (verdict === 'changed') throw no(assertion, 'it was changed after it was signed');
  if (verdict === 'another key')
    throw no(assertion, `it was not signed by the key ${assertion.signKeyId}, which it names`);
}

export type KeyState = 'valid' | 'not yet valid' | 'expired' | 'revoked';

/** Returns the state of an account-key at a moment. A revision with until = since revokes the key. */
export function keyState(accountKey: Assertion, moment: Date): KeyState {
  const { since, until } = reader(accountKey).validity(false);
  if (until !== undefined && until.getTime() === since.getTime()) return 'revoked';
  if (moment < since) return 'not yet valid';
  return until !== undefined && moment >= until ? 'expired' : 'valid';
}

/**
 * Refuses an assertion if the signer's key did not sign it or is not permitted to.
 *
 * @param signer the account-key of the key, or the request for it
 */
export function checkSignedWith(assertion: Assertion, signer: Assertion, now: Date): void {
  const authority = header(assertion, 'authority-id');
  if (header(signer, 'account-id') !== authority) {
    throw no(
      assertion,
      `it speaks for '${authority}', but the key that signed it belongs to '${header(signer, 'account-id')}'`,
    );
  }
  checkSignature(assertion, decodePublicKey(signer.body));
  const state = keyState(signer, now);
  if (state !== 'valid') throw no(assertion, `the key ${assertion.signKeyId} that signed it is ${state}`);
  if (
    Object.hasOwn(assertion.headers, 'timestamp') &&
    keyState(signer, reader(assertion).time('timestamp')) !== 'valid'
  ) {
    throw no(assertion, 'its timestamp lies outside of the time for which the key that signed it is valid');
  }
  if (signer.format > newestKeyFormat) {
    throw no(
      assertion,
      `the account-key of the key that signed it is in format ${signer.format}, but this store knows the constraints of keys only up to format ${newestKeyFormat}`,
    );
  }
  if (!constraintsAllow(signer, assertion.headers))
    throw no(assertion, 'the constraints of the key that signed it do not allow it');
}

/** Assertions accepted earlier, and the trusted roots. */
class StoredAssertions implements AssertionsByName {
  readonly #rooted: AssertionsByName;
  readonly #known: AssertionsByName;

  constructor({ roots, storedAssertions }: Pick<VerificationContext, 'roots' | 'storedAssertions'>) {
    this.#rooted = findIn(byName(roots.assertions));
    this.#known = 'get' in storedAssertions ? storedAssertions : findIn(byName(storedAssertions));
  }

  get(name: string): Assertion | undefined {
    return this.#known.get(name) ?? this.#rooted.get(name);
  }

  *ofType(type: string): Generator<Assertion, undefined> {
    yield* this.#known.ofType(type);
    yield* this.#rooted.ofType(type);
    return undefined;
  }

  /** Returns whether this text of the assertion is not stored yet. Throws if it conflicts with a stored assertion. */
  lacks(assertion: Assertion): boolean {
    if (typeOf(assertion).withoutAuthority && assertion.type !== 'account-key-request') {
      throw no(assertion, 'devices make it for one session, so it cannot be verified later');
    }
    const name = nameOf(assertion);
    const [root, present] = [this.#rooted.get(name), this.#known.get(name)];
    if ([root, present].some((existing) => existing !== undefined && joined(existing) === joined(assertion)))
      return false;
    if (root !== undefined) throw no(assertion, 'it would replace a configured root of trust');
    if (present !== undefined && present.revision >= assertion.revision) {
      throw no(assertion, `its revision is ${assertion.revision}, but revision ${present.revision} is already here`);
    }
    return true;
  }
}

interface Judging {
  /** New assertions, by name. */
  upload: AssertionsByName;
  stored: AssertionsByName;
  accept: (assertion: Assertion) => void;
}

class Chain {
  readonly #circumstances: VerificationContext;
  readonly #judging: Judging;
  readonly #begun = new NameIndex();
  readonly #done = new NameIndex();
  /** Ids of the account-keys per account and key name. */
  #namedKeys: Map<string, Set<string>> | undefined;

  constructor(circumstances: VerificationContext, judging: Judging) {
    this.#circumstances = circumstances;
    this.#judging = judging;
  }

  /** Accepts an assertion of the upload after its prerequisites, or refuses it. */
  accept(assertion: Assertion): void {
    const name = nameOf(assertion);
    if (this.#done.has(name)) return;
    if (this.#begun.has(name)) throw no(assertion, 'its chain of signatures is a circle and leads to no root of trust');
    this.#begun.add(name);
    if (assertion.type === 'account-key-request') checkSignature(assertion, decodePublicKey(assertion.body));
    else this.#checkSigner(assertion);
    this.#checkClaims(assertion);
    this.#done.add(name);
    this.#judging.accept(assertion);
  }

  #checkSigner(assertion: Assertion): void {
    const authority = header(assertion, 'authority-id');
    if (this.#needsTrust(assertion) && !this.#circumstances.roots.accounts.has(authority)) {
      throw no(assertion, `'${authority}' is not an authority that may say this`);
    }
    const signer = this.#find('account-key', assertion.signKeyId);
    if (signer === undefined) {
      throw no(
        assertion,
        `the account-key ${assertion.signKeyId}, with which '${authority}' signed it, is neither in the upload nor already here`,
      );
    }
    checkSignedWith(assertion, signer, this.#circumstances.now);
  }

  /** Returns whether only a trusted root account may sign this assertion. */
  #needsTrust({ type, headers }: Assertion): boolean {
    // The schemas of `system` apply to the devices of every brand.
    if (type === 'confdb-schema') return headers['account-id'] === 'system';
    if (revisionsOf.has(type)) return (headers['provenance'] ?? defaultProvenance) === defaultProvenance;
    return ['account', 'account-key', 'store', 'snap-declaration'].includes(type);
  }

  /** Checks that the claims about other assertions agree with the known ones. */
  #checkClaims(assertion: Assertion): void {
    switch (assertion.type) {
      case 'account-key':
        this.#checkHeld(assertion);
        this.#checkKeyName(assertion);
        this.#needAccount(assertion, 'account-id');
        break;
      case 'account-key-request':
        this.#needAccount(assertion, 'account-id');
        break;
      case 'store':
        this.#needAccount(assertion, 'operator-id');
        break;
      case 'snap-declaration':
        this.#needAccount(assertion, 'publisher-id');
        break;
      case 'snap-revision':
      case 'snap-resource-revision':
      case 'snap-resource-pair':
        this.#needAccount(assertion, 'developer-id');
        this.#checkSnapRevisionAuthority(assertion);
        break;
      case 'serial':
        this.#checkDelegate(assertion, [header(assertion, 'model')], 'serial-authority');
        break;
      case 'preseed':
        this.#checkDelegate(assertion, [header(assertion, 'model')], 'preseed-authority');
        break;
      case 'system-user': {
        const headers = reader(assertion);
        this.#checkDelegate(assertion, headers.has('models') ? headers.texts('models') : [], 'system-user-authority');
        break;
      }
    }
  }

  /** Finds a prerequisite. If it is part of the upload, which is newer than the stored one, accepts it first. */
  #find(...parts: string[]): Assertion | undefined {
    const { upload, stored } = this.#judging;
    const name = parts.join('/');
    const uploaded = upload.get(name);
    if (uploaded === undefined) return stored.get(name);
    this.accept(uploaded);
    return uploaded;
  }

  #needAccount(assertion: Assertion, name: string): void {
    const account = header(assertion, name);
    if (this.#find('account', account) === undefined) {
      throw no(assertion, `the account assertion of '${account}' is neither in the upload nor already here`);
    }
  }

  /**
   * Checks that the key of an account-key is held or was requested here, or belongs to a trusted root account. With `takesForeignKeys`,
   * the signature of a root is sufficient.
   */
  #checkHeld(assertion: Assertion): void {
    const [id, account] = [header(assertion, 'public-key-sha3-384'), header(assertion, 'account-id')];
    const { held: keys, roots, takesForeignKeys } = this.#circumstances;
    const held = keys.find((key) => key.keyId === id);
    if (held === undefined) {
      if (takesForeignKeys !== true && !roots.accounts.has(account))
        throw no(assertion, 'its key is not a signing key of this store, and there is no key request for it');
      return;
    }
    if (held.accountId !== account)
      throw no(assertion, `its key belongs to '${held.accountId}' here, not to '${account}'`);
    if (held.name !== assertion.headers['name']) throw no(assertion, `its key has the name '${held.name}' here`);
  }

  #checkKeyName(assertion: Assertion): void {
    if (assertion.headers['name'] === undefined) return;
    const id = header(assertion, 'public-key-sha3-384');
    const other = [...this.#keysNamedAs(assertion)].find((keyId) => keyId !== id);
    if (other !== undefined) throw no(assertion, `another key of the account, ${other}, has the same name`);
  }

  /** Returns the ids of keys with the same name in the same account. Newer account-keys of the upload replace the stored ones. */
  #keysNamedAs(assertion: Assertion): Iterable<string> {
    const toNameKey = ({ headers }: Assertion): string => JSON.stringify([headers['account-id'], headers['name']]);
    this.#namedKeys ??= this.#allKeys(toNameKey);
    return this.#namedKeys.get(toNameKey(assertion)) ?? [];
  }

  #allKeys(toNameKey: (key: Assertion) => string): Map<string, Set<string>> {
    const { upload, stored } = this.#judging;
    const all = new Map<string, Set<string>>();
    const seen = new Set<string>();
    for (const some of [upload, stored]) {
      for (const key of some.ofType('account-key')) {
        const id = header(key, 'public-key-sha3-384');
        if (!seen.has(id)) all.set(toNameKey(key), (all.get(toNameKey(key)) ?? new Set()).add(id));
        seen.add(id);
      }
    }
    return all;
  }

  /** Checks that an account other than the brand is authorised by the brand's models. */
  #checkDelegate(assertion: Assertion, models: readonly string[], name: string): void {
    const [authority, brand] = [header(assertion, 'authority-id'), header(assertion, 'brand-id')];
    if (authority === brand) return;
    const delegates = (model: string): boolean => {
      const authorities = this.#find('model', series, brand, model)?.headers[name];
      return authorities === '*' || (Array.isArray(authorities) && authorities.includes(authority));
    };
    if (models.length === 0 || !models.every(delegates)) {
      throw no(assertion, `'${authority}' is not the brand '${brand}', and no model that is here names it as ${name}`);
    }
  }

  #checkSnapRevisionAuthority(assertion: Assertion): void {
    const declaration = this.#find('snap-declaration', series, header(assertion, 'snap-id'));
    if (declaration === undefined)
      throw no(assertion, 'the snap-declaration of its snap is neither in the upload nor already here');
    if (!this.#needsTrust(assertion) && !delegatesRevision(declaration, assertion)) {
      throw no(
        assertion,
        `the snap-declaration does not let '${header(assertion, 'authority-id')}' sign revisions of this provenance`,
      );
    }
  }
}

/** Assertion types about a file of a snap, with the header of the number that a declaration can limit. */
const revisionsOf: ReadonlyMap<string, string> = new Map([
  ['snap-revision', 'snap-revision'],
  ['snap-resource-revision', 'resource-revision'],
  ['snap-resource-pair', 'resource-revision'],
]);

/** Returns whether a snap-declaration delegates the signing of this snap-revision, or of a component's revision, to its authority. */
export function delegatesRevision(declaration: Assertion, revision: Pick<Assertion, 'type' | 'headers'>): boolean {
  const { type, headers } = revision;
  if (!Object.hasOwn(declaration.headers, 'revision-authority')) return false;
  const revisionHeaders = new HeaderReader(`${type} assertion`, headers);
  const [number, timestamp] = [
    revisionHeaders.count(revisionsOf.get(type) ?? 'revision', 1),
    revisionHeaders.time('timestamp'),
  ];
  return reader(declaration)
    .maps('revision-authority')
    .some(
      (authority) =>
        authority.text('account-id') === headers['authority-id'] &&
        authority.texts('provenance').includes(revisionHeaders.text('provenance')) &&
        !(authority.has('min-revision') && number < authority.count('min-revision', 1)) &&
        !(authority.has('max-revision') && number > authority.count('max-revision', 1)) &&
        !(authority.has('since') && timestamp < authority.time('since')) &&
        !(authority.has('until') && timestamp >= authority.time('until')),
    );
}

function byName(assertions: readonly Assertion[]): Map<string, Assertion> {
  const map = new Map<string, Assertion>();
  for (const assertion of assertions) {
    const other = map.get(nameOf(assertion));
    if (other === undefined || other.revision < assertion.revision) map.set(nameOf(assertion), assertion);
  }
  return map;
}

/** Wraps a map of assertions by name. */
const findIn = (map: ReadonlyMap<string, Assertion>): AssertionsByName => ({
  get: (name) => map.get(name),
  ofType: (type) => map.values().filter((assertion) => assertion.type === type),
});

const reader = ({ type, headers }: Assertion): HeaderReader => new HeaderReader(`${type} assertion`, headers);
const header = (assertion: Assertion, name: string): string => reader(assertion).text(name);

function no(assertion: Assertion, reason: string): Refusal {
  const name = [assertion.type, ...primaryKeyOf(assertion)].join(' ');
  return new Refusal('api-error', `The assertion '${name}' cannot be taken: ${reason}.`);
}
