// The identifiers of the store's own macaroons: their kind, and the root key that signed them. Signed like everything
// else, and opaque to the bearer.
import { randomBytes } from '#domain/cryptography.ts';
import { isUuid } from '#domain/ids.ts';

/** A token authenticates its bearer; a login is exchanged for a token after the identity provider has discharged it. */
export type IdentifierKind = 'token' | 'login';

export interface TokenIdentifier {
  kind: IdentifierKind;
  rootKeyId: string;
  /** `1` for macaroons of the first release, with channels as globs; `2` for channels in the syntax of releases. */
  version: '1' | '2';
  /** The purpose of a login, as described by its client; null if it gave none. */
  description: string | null;
}

export const writeIdentifier = ({ kind, version, rootKeyId, description }: TokenIdentifier): string => {
  const nonce = randomBytes(16).toString('base64url');
  const words = description === null ? [] : [Buffer.from(description).toString('base64url')];
  return ['larder', kind, version, rootKeyId, nonce, ...words].join(':');
};

export function readIdentifier(identifier: Buffer): TokenIdentifier | undefined {
  const [store, kind, version, rootKeyId = '', , words] = identifier.toString('latin1').split(':');
  if (store !== 'larder' || (version !== '1' && version !== '2') || (kind !== 'token' && kind !== 'login'))
    return undefined;
  if (!isUuid(rootKeyId)) return undefined;
  return {
    kind,
    version,
    rootKeyId,
    description: words === undefined ? null : Buffer.from(words, 'base64url').toString(),
  };
}
