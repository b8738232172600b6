// Tokens of the image registry: a client authenticates once with its credentials, and then uses a token for some
// minutes. Tokens are signed with a key that every process of the store has. A token is valid only while its
// credentials are.
import { createMac, timingSafeEqual } from '#domain/cryptography.ts';
import { after, minutes, type Now } from '#domain/clock.ts';

export type Action = 'pull' | 'push';

/** The rights of a token on one repository, by the name that clients use. */
export interface Grant {
  repository: string;
  actions: Action[];
}

export interface RegistryToken {
  /** The name of the credentials that it was issued for. */
  credential: string;
  grants: Grant[];
}

export interface RegistryTokens {
  mint(token: RegistryToken): { text: string; issuedAt: Date; lifetimeSeconds: number };
  /** Reads a token; undefined if it is not one of this store, or has expired. */
  read(text: string): RegistryToken | undefined;
}

const tokenLifetimeMs = minutes(5);

/** `key` signs the tokens: 32 bytes that no client knows. */
export function createTokens(key: Buffer, clock: Now): RegistryTokens {
  const sign = (payload: string): Buffer => createMac('registry token', key).update(payload).digest();

  return {
    mint(token) {
      const issuedAt = clock();
      const content = { ...token, until: after(issuedAt, tokenLifetimeMs).getTime() };
      const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
      return {
        text: `${payload}.${sign(payload).toString('base64url')}`,
        issuedAt,
        lifetimeSeconds: tokenLifetimeMs / 1000,
      };
    },

    read(text) {
      const [payload = '', signature = '', ...more] = text.split('.', 3);
      const signatureBytes = Buffer.from(signature, 'base64url');
      if (more.length > 0 || signatureBytes.length !== 32 || !timingSafeEqual(signatureBytes, sign(payload)))
        return undefined;
      const { until, ...token } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as RegistryToken & {
        until: number;
      };
      return clock().getTime() < until ? token : undefined;
    },
  };
}

/**
 * The rights requested by a scope such as `repository:images/x/y:pull,push`; several are separated by spaces. A right
 * to push includes deletion.
 */
export function readScope(text: string): Grant[] {
  return text.split(' ').flatMap((scope) => {
    const [, repository = '', actions = ''] = /^repository:([^:\s]{1,400}):([a-z,*]{1,40})$/.exec(scope) ?? [];
    if (repository === '') return [];
    const requested = new Set(actions.split(','));
    const rights = (['pull', 'push'] as const).filter(
      (action) => requested.has(action) || requested.has('*') || (action === 'push' && requested.has('delete')),
    );
    return rights.length === 0 ? [] : [{ repository, actions: rights }];
  });
}

export const isGranted = (token: RegistryToken, repository: string, action: Action): boolean =>
  token.grants.some((grant) => grant.repository === repository && grant.actions.includes(action));
