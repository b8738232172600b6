// Verifies logout tokens: OpenID Connect Back-Channel Logout 1.0, section 2.6.
import type { JSONWebKeySet, JWTPayload } from 'jose';

/** Signatures that the holder of the client secret cannot make. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** A token is sent at once, and its id is remembered for longer. */
export const maxLogoutAgeSeconds = 300;
const toleranceSeconds = 30;
const event = 'http://schemas.openid.net/event/backchannel-logout';

export interface LogoutTokenContext {
  keys: unknown;
  issuer: string;
  audience: string;
  at: Date;
}

/** A logout that the provider announces: of one login there, or of all logins of a person. */
export interface VerifiedLogout {
  /** The id of the token, which counts once. */
  id: string;
  issuer: string;
  subject: string | undefined;
  sessionId: string | undefined;
}

export async function verifyLogoutToken(
  token: string,
  { keys, issuer, audience, at }: LogoutTokenContext,
): Promise<VerifiedLogout> {
  const { createLocalJWKSet, jwtVerify } = await import('jose');
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(keys as JSONWebKeySet), {
    issuer,
    audience,
    algorithms,
    currentDate: at,
    clockTolerance: toleranceSeconds,
    maxTokenAge: maxLogoutAgeSeconds,
    requiredClaims: ['iat', 'jti', 'events'],
  });
  const { typ = 'JWT' } = protectedHeader;
  if (!['JWT', 'LOGOUT+JWT'].includes(typ.toUpperCase())) throw new Error('the token is no logout token');
  if ('nonce' in payload || !isLogout(payload)) throw new Error('the token is no logout token');
  const [id, subject, sessionId] = [textIn(payload, 'jti'), textIn(payload, 'sub'), textIn(payload, 'sid')];
  if (id === undefined || (subject === undefined && sessionId === undefined)) {
    throw new Error('the logout token has no id, or names neither a person nor a login');
  }
  return { id, issuer, subject, sessionId };
}

function isLogout({ events }: JWTPayload): boolean {
  if (typeof events !== 'object' || events === null || !Object.hasOwn(events, event)) return false;
  const { [event]: members } = events as Record<string, unknown>;
  return typeof members === 'object' && members !== null && !Array.isArray(members);
}

/** A claim that is a text of at most 255 characters; undefined if it is absent. */
function textIn(payload: JWTPayload, name: string): string | undefined {
  const value = payload[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '' || value.length > 255)
    throw new Error(`the claim ${name} is not a short text`);
  return value;
}
