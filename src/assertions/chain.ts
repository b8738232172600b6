// The chain of trust: which assertions of an upload can be believed, up to the roots an administrator configured.
// Nothing here asks or changes anything outside: what is known comes in, and what may be kept goes out.
import type { KeyObject } from 'node:crypto';
import { NameIndex } from '#domain/name-index.ts';
import { Refusal } from '#domain/refusal.ts';
import { joined, parseStream, type Assertion } from './assertion.ts';
import { constraintsAllow } from './constraints.ts';
import { HeaderReader } from './headers.ts';
import { decodePublicKey, decodeSignature, deviation, judge } from './openpgp.ts';
import type { AssertionsByName } from './spooled.ts';
import { checkAssertion, defaultProvenance, nameOf, primaryKeyOf, series, typeOf } from './types.ts';

/** Where trust begins: accounts that may vouch for others, and the keys they sign with. */
export interface Roots {
  readonly assertions: readonly Assertion[];
  readonly accounts: ReadonlySet<string>;
}

/** A signing key of this store, or one whose owner asked here to have it registered. */
export interface HeldKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly name: string;
}

export interface Circumstances {
  readonly roots: Roots;
  /** What was accepted before. */
  readonly known: readonly Assertion[] | AssertionsByName;
  readonly held: readonly HeldKey[];
  /** Whether keys come in as well that nobody has or asked for here, as those of other brands and publishers. */
  readonly takesForeignKeys?: boolean;
  readonly now: Date;
}

/**
 * The assertions of an upload that are new, each after those it rests on. What is already known word for word is passed
 * over. If anything in the upload cannot be believed, all of it is refused.
 */
export function acceptUpload(text: string | Uint8Array, circumstances: Circumstances): Assertion[] {
  const accepted = acceptAll(parseStream(text), circumstances);
  if (accepted.length > 0) return accepted;
  throw new Refusal(
    'api-error',
    'There is nothing new in this upload: each assertion is already here in this revision.',
  );
}

/** The same for assertions that were read already, of which there may be nothing new. */
export function acceptAll(assertions: readonly Assertion[], circumstances: Circumstances): Assertion[] {
  const here = new Here(circumstances);
  const upload = new Map<string, Assertion>();
  for (const assertion of assertions) {
    checkAssertion(assertion);
    const name = nameOf(assertion);
    const twin = upload.get(name);
    if (twin !== undefined && joined(twin) !== joined(assertion))
      throw no(assertion, 'it is there twice, with different texts');
    if (here.lacks(assertion)) upload.set(name, assertion);
  }
  const accepted: Assertion[] = [];
  acceptEach(upload.values(), findIn(upload), circumstances, (one) => accepted.push(one));
  return accepted;
}

/**
 * The same of very many that were checked, are newer than what is known, and are found by name among all that are. Each is told
 * when it is accepted.
 */
export function acceptEach(
  assertions: Iterable<Assertion>,
  upload: AssertionsByName,
  circumstances: Circumstances,
  accept: (one: Assertion) => void,
): void {
  const here = new Here(circumstances);
  const chain = new Chain(circumstances, { upload, here, accept });
  for (const assertion of assertions) if (here.lacks(assertion)) chain.accept(assertion);
}

/** Reads the configured roots: accounts and their keys, which may vouch for themselves but must do it rightly. */
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

/** Refuses an assertion that the key did not sign, or not as snapd signs. */
export function checkSignature(assertion: Assertion, key: KeyObject): void {
  const signature = decodeSignature(assertion.signature);
  const strange = deviation(assertion.signature, signature);
  if (strange !== undefined) throw no(assertion, `its signature is not taken: ${strange}`);
  const verdict = judge(key, assertion.content, signature);
  if (verdict === 'changed') throw no(assertion, 'it was changed after it was signed');
  if (verdict === 'another key')
    throw no(assertion, `it was not signed by the key ${assertion.signKeyId}, which it names`);
}

export type KeyState = 'valid' | 'not yet valid' | 'expired' | 'revoked';

/** Whether a key that an account-key vouches for may be used at a moment. A revision with until = since revokes it. */
export function keyState(accountKey: Assertion, moment: Date): KeyState {
  const { since, until } = reader(accountKey).validity(false);
  if (until !== undefined && until.getTime() === since.getTime()) return 'revoked';
  if (moment < since) return 'not yet valid';
  return until !== undefined && moment >= until ? 'expired' : 'valid';
}

/**
 * Refuses an assertion that a key did not sign, or may not.
 *
 * @param signer the account-key of that key, or the request for one
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
  if (!constraintsAllow(signer, assertion.headers))
    throw no(assertion, 'the constraints of the key that signed it do not allow it');
}

/** What was accepted before, and the roots. */
class Here implements AssertionsByName {
  readonly #rooted: AssertionsByName;
  readonly #known: AssertionsByName;

  constructor({ roots, known }: Pick<Circumstances, 'roots' | 'known'>) {
    this.#rooted = findIn(byName(roots.assertions));
    this.#known = 'get' in known ? known : findIn(byName(known));
  }

  get(name: string): Assertion | undefined {
    return this.#known.get(name) ?? this.#rooted.get(name);
  }

  *ofType(type: string): Generator<Assertion, undefined> {
    yield* this.#known.ofType(type);
    yield* this.#rooted.ofType(type);
    return undefined;
  }

  /** Whether an assertion is not here word for word; refused where it cannot be here beside what is. */
  lacks(assertion: Assertion): boolean {
    if (typeOf(assertion).withoutAuthority && assertion.type !== 'account-key-request') {
      throw no(assertion, 'a device makes it for one conversation; there is nobody who vouches for it');
    }
    const name = nameOf(assertion);
    const [root, present] = [this.#rooted.get(name), this.#known.get(name)];
    if ([root, present].some((one) => one !== undefined && joined(one) === joined(assertion))) return false;
    if (root !== undefined)
      throw no(assertion, 'it stands in the place of a configured root of trust, which no upload can change');
    if (present !== undefined && present.revision >= assertion.revision) {
      throw no(assertion, `its revision is ${assertion.revision}, but revision ${present.revision} is already here`);
    }
    return true;
  }
}

interface Judging {
  /** What is new, by name. */
  upload: AssertionsByName;
  here: AssertionsByName;
  accept: (one: Assertion) => void;
}

class Chain {
  readonly #circumstances: Circumstances;
  readonly #judging: Judging;
  readonly #begun = new NameIndex();
  readonly #done = new NameIndex();
  /** The ids of the keys that an account has under a name, by both. */
  #namedKeys: Map<string, Set<string>> | undefined;

  constructor(circumstances: Circumstances, judging: Judging) {
    this.#circumstances = circumstances;
    this.#judging = judging;
  }

  /** Accepts an assertion of the upload after everything it rests on, or refuses it. */
  accept(assertion: Assertion): void {
    const name = nameOf(assertion);
    if (this.#done.has(name)) return;
    if (this.#begun.has(name)) throw no(assertion, 'it vouches for itself in a circle and leads to no root of trust');
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

  /** Whether only an account among the roots may say this. */
  #needsTrust({ type, headers }: Assertion): boolean {
    if (revisionsOf.has(type)) return (headers['provenance'] ?? defaultProvenance) === defaultProvenance;
    return ['account', 'account-key', 'store', 'snap-declaration'].includes(type);
  }

  /** What each type says about others must agree with what is known of them. */
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
        this.#checkRevisionAuthority(assertion);
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

  /** Brings what an assertion rests on, accepting it first when it is part of the upload, which is newer than what is here. */
  #find(...parts: string[]): Assertion | undefined {
    const { upload, here } = this.#judging;
    const name = parts.join('/');
    const found = upload.get(name);
    if (found === undefined) return here.get(name);
    this.accept(found);
    return found;
  }

  #needAccount(assertion: Assertion, name: string): void {
    const account = header(assertion, name);
    if (this.#find('account', account) === undefined) {
      throw no(assertion, `the account assertion of '${account}' is neither in the upload nor already here`);
    }
  }

  /**
   * An account-key is for a key that is held or was asked for here, or for one an authority signs with; where foreign keys
   * are taken, it is enough that a root vouches for it.
   */
  #checkHeld(assertion: Assertion): void {
    const [id, account] = [header(assertion, 'public-key-sha3-384'), header(assertion, 'account-id')];
    const { held: keys, roots, takesForeignKeys } = this.#circumstances;
    const held = keys.find((key) => key.keyId === id);
    if (held === undefined) {
      if (takesForeignKeys !== true && !roots.accounts.has(account))
        throw no(assertion, 'its key is none of the signing keys of this store, and nobody asked here to register it');
      return;
    }
    if (held.accountId !== account)
      throw no(assertion, `its key belongs to '${held.accountId}' here, and not to '${account}'`);
    if (held.name !== assertion.headers['name']) throw no(assertion, `its key has the name '${held.name}' here`);
  }

  #checkKeyName(assertion: Assertion): void {
    if (assertion.headers['name'] === undefined) return;
    const id = header(assertion, 'public-key-sha3-384');
    const other = [...this.#keysNamedAs(assertion)].find((one) => one !== id);
    if (other !== undefined) throw no(assertion, `another key of the account, ${other}, has the same name`);
  }

  /** The keys that have the same name in the same account; what is newer in the upload stands in the place of what is here. */
  #keysNamedAs(assertion: Assertion): Iterable<string> {
    const named = ({ headers }: Assertion): string => JSON.stringify([headers['account-id'], headers['name']]);
    this.#namedKeys ??= this.#allKeys(named);
    return this.#namedKeys.get(named(assertion)) ?? [];
  }

  #allKeys(named: (key: Assertion) => string): Map<string, Set<string>> {
    const { upload, here } = this.#judging;
    const all = new Map<string, Set<string>>();
    const seen = new Set<string>();
    for (const some of [upload, here]) {
      for (const key of some.ofType('account-key')) {
        const id = header(key, 'public-key-sha3-384');
        if (!seen.has(id)) all.set(named(key), (all.get(named(key)) ?? new Set()).add(id));
        seen.add(id);
      }
    }
    return all;
  }

  /** Somebody other than the brand may speak where a model of the brand says so. */
  #checkDelegate(assertion: Assertion, models: readonly string[], name: string): void {
    const [authority, brand] = [header(assertion, 'authority-id'), header(assertion, 'brand-id')];
    if (authority === brand) return;
    const delegates = (model: string): boolean => {
      const named = this.#find('model', series, brand, model)?.headers[name];
      return named === '*' || (Array.isArray(named) && named.includes(authority));
    };
    if (models.length === 0 || !models.every(delegates)) {
      throw no(assertion, `'${authority}' is not the brand '${brand}', and no model that is here names it as ${name}`);
    }
  }

  #checkRevisionAuthority(assertion: Assertion): void {
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

/** The types that say what a file of a snap is, with the header of the number that a declaration may bound. */
const revisionsOf: ReadonlyMap<string, string> = new Map([
  ['snap-revision', 'snap-revision'],
  ['snap-resource-revision', 'resource-revision'],
  ['snap-resource-pair', 'resource-revision'],
]);

/** Whether a snap-declaration lets the authority of a snap-revision, or of the like for a component, sign it. */
export function delegatesRevision(declaration: Assertion, revision: Pick<Assertion, 'type' | 'headers'>): boolean {
  const { type, headers } = revision;
  if (!Object.hasOwn(declaration.headers, 'revision-authority')) return false;
  const wanted = new HeaderReader(`${type} assertion`, headers);
  const [number, timestamp] = [wanted.count(revisionsOf.get(type) ?? 'revision', 1), wanted.time('timestamp')];
  return reader(declaration)
    .maps('revision-authority')
    .some(
      (authority) =>
        authority.text('account-id') === headers['authority-id'] &&
        authority.texts('provenance').includes(wanted.text('provenance')) &&
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

/** What is in a map, as it is looked for. */
const findIn = (map: ReadonlyMap<string, Assertion>): AssertionsByName => ({
  get: (name) => map.get(name),
  ofType: (type) => map.values().filter((one) => one.type === type),
});

const reader = ({ type, headers }: Assertion): HeaderReader => new HeaderReader(`${type} assertion`, headers);
const header = (assertion: Assertion, name: string): string => reader(assertion).text(name);

function no(assertion: Assertion, reason: string): Refusal {
  const name = [assertion.type, ...primaryKeyOf(assertion)].join(' ');
  return new Refusal('api-error', `The assertion '${name}' cannot be taken: ${reason}.`);
}
