// The identifiers of the store's own macaroons: what one is, and which root key signed it. Signed like all else,
// and opaque to whoever bears it.
import { randomBytes } from 'node:crypto';

import { isUuid } from '#domain/ids.ts';

/** A token lets its bearer in; a login becomes a token once the identity provider has discharged it. */
export type Kind = 'token' | 'login';

export interface Identity {
  kind: Kind;
  rootKeyId: string;
  /** `1` of the first release, in which channels are globs; `2` since they are read as releases name them. */
  version: '1' | '2';
  /** What a login is for, in the words of whoever asked; null where he said nothing. */
  description: string | null;
}

export const writeIdentifier = ({ kind, version, rootKeyId, description }: Identity): string => {
  const nonce = randomBytes(16).toString('base64url');
  const words = description === null ? [] : [Buffer.from(description).toString('base64url')];
  return ['larder', kind, version, rootKeyId, nonce, ...words].join(':');
};

export function readIdentifier(identifier: Buffer): Identity | undefined {
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
