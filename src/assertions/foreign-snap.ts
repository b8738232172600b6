// Reads the facts about a snap of another store from its assertions, and compares them with the file.
import { Refusal } from '#domain/refusal.ts';
import type { Assertion } from './format/assertion.ts';
import { HeaderReader } from './format/headers.ts';
import { defaultProvenance, nameOf, series } from './format/types.ts';

/** An account of another store. */
export interface ForeignAccount {
  id: string;
  /** Its username there, if the account assertion has one. */
  username: string | undefined;
  displayName: string;
  validation: string;
}

/** The facts in a snap-revision and its prerequisites. */
export interface ForeignSnap {
  /** The name of the snap-revision in the records. */
  assertion: string;
  id: string;
  name: string;
  revision: number;
  /** In hexadecimal. */
  sha3_384: string;
  /** Bytes. */
  size: number;
  provenance: string;
  publisher: ForeignAccount;
  /** The account that pushed the revision to that store. */
  developer: ForeignAccount;
}

/**
 * Returns the facts that an accepted snap-revision states about its file. Refuses a snap without a name, because a store revokes a snap by
 * removing its name.
 *
 * @param find finds an accepted assertion or prerequisite by its name
 */
export function readForeignSnap(revision: Assertion, find: (name: string) => Assertion | undefined): ForeignSnap {
  const needed = (name: string): Assertion => {
    const assertion = find(name);
    if (assertion !== undefined) return assertion;
    throw new Refusal(
      'api-error',
      `The assertion '${name}' is needed for this file, but it is neither stored here nor sent with the file.`,
    );
  };
  const headers = reader(revision);
  const id = headers.text('snap-id');
  const declaration = reader(needed(`snap-declaration/${series}/${id}`));
  const name = declaration.optionalText('snap-name') ?? '';
  if (name === '') {
    throw new Refusal(
      'conflict',
      `The snap '${id}' was withdrawn by the store that publishes it: its declaration has no name.`,
    );
  }
  return {
    assertion: nameOf(revision),
    id,
    name,
    revision: headers.count('snap-revision', 1),
    sha3_384: Buffer.from(headers.text('snap-sha3-384'), 'base64url').toString('hex'),
    size: headers.count('snap-size', 0),
    provenance: headers.has('provenance') ? headers.text('provenance') : defaultProvenance,
    publisher: foreignAccount(needed(`account/${declaration.accountId('publisher-id')}`)),
    developer: foreignAccount(needed(`account/${headers.accountId('developer-id')}`)),
  };
}

/** The facts in a file that its assertions also state. */
export interface FileFacts {
  /** In hexadecimal. */
  sha3_384: string;
  /** Bytes. */
  size: number;
  /** As in its snap.yaml. */
  name: string;
  provenance: string;
}

/** Describes in one sentence how a file differs from its assertions; undefined if it does not. */
export function disagreement(snap: ForeignSnap, file: FileFacts): string | undefined {
  const points = [
    ['has the digest', file.sha3_384, snap.sha3_384],
    ['has the size', String(file.size), String(snap.size)],
    ['is called', file.name, snap.name],
    ['has the provenance', file.provenance, snap.provenance],
  ] as const;
  const wrong = points.filter(([, is, stated]) => is !== stated);
  if (wrong.length === 0) return undefined;
  const differences = wrong.map(([property, is, stated]) => `${property} '${is}', and not '${stated}'`);
  return `The file does not match its assertions: it ${differences.join('; it ')}.`;
}

/** Returns whether a snap-declaration permits another authority than its own to sign revisions with this provenance (`revision-authority`). */
export function delegates(declaration: Assertion, provenance: string): boolean {
  const headers = reader(declaration);
  return (
    headers.has('revision-authority') &&
    headers.maps('revision-authority').some((authority) => authority.texts('provenance').includes(provenance))
  );
}

export function foreignAccount(account: Assertion): ForeignAccount {
  const headers = reader(account);
  return {
    id: headers.accountId('account-id'),
    username: headers.optionalText('username'),
    displayName: headers.text('display-name'),
    validation: headers.text('validation'),
  };
}

const reader = ({ type, headers }: Assertion): HeaderReader => new HeaderReader(`${type} assertion`, headers);
