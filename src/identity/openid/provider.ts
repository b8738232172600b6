// The client of the OpenID provider: discovery, the authorization code flow with PKCE, and refreshes. openid-client verifies the tokens.
import { createDigest } from '#domain/cryptography.ts';
import { readFileSync } from 'node:fs';

import type * as openidClient from 'openid-client';
import type { Configuration, CustomFetch, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';

import type { OidcSettings } from '#configuration/config.ts';
import { seconds, type Now } from '#domain/clock.ts';
import { verifyLogoutToken, type VerifiedLogout } from './logout-token.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { createProviderRequests, ProviderUnavailable } from './provider-requests.ts';

/** The secrets of one login. Each is used once. */
export interface LoginSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

/** A person, as the provider has confirmed them. */
export interface ConfirmedPerson {
  issuer: string;
  subject: string;
  claims: Readonly<Record<string, unknown>>;
  /** The id of the login at the provider (`sid`). */
  sessionId: string | undefined;
  refreshToken: string | undefined;
  /** When the person last entered their credentials at the provider, in seconds since the epoch (`auth_time` of the ID token). */
  authenticatedAt: number | undefined;
}

export interface OpenidProvider {
  /** The address at the provider where a browser logs in. With `isAgain` the provider asks for the credentials in any case. */
  authorizationUrl(callback: string, secrets: LoginSecrets, isAgain?: boolean): Promise<URL>;
  /** Exchanges the code that the browser brought back; `callback` is the whole address that it opened. */
  exchange(callback: URL, secrets: LoginSecrets): Promise<ConfirmedPerson>;
  /** Asks the provider to confirm a person again. Returns undefined if the provider no longer does. */
  refresh(refreshToken: string, subject: string): Promise<ConfirmedPerson | undefined>;
  /** Verifies a logout token. */
  verifyLogout(token: string): Promise<VerifiedLogout>;
  /** The last failed attempt to reach the provider, as a clause; undefined after a successful one. */
  failure(): string | undefined;
}

/** Thrown if the provider responds, and its response or token cannot be trusted or does not allow a login. */
export class LoginNotConfirmed extends Error {
  /** The reason without values of the token: the other causes of the library quote it. */
  get reason(): string {
    const messages = causes(this.cause).filter((cause) => !(cause instanceof SyntaxError));
    return messages
      .map(({ message }) => message)
      .join(': ')
      .slice(0, 300);
  }
}

/** Difference between the clocks of the store and of the provider that is accepted. */
export const toleranceSeconds = 30;

export interface OpenidProviderOptions {
  settings: () => OidcSettings;
  now: Now;
}

type ProviderTokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

export function createOpenidProvider({ settings, now }: OpenidProviderOptions): OpenidProvider {
  const send = createProviderRequests({ settings, now });
  let failure: string | undefined;

  /** Runs work with the current documents of the provider. */
  const attempt = async <Result>(
    work: (connection: ProviderConnection) => Result | Promise<Result>,
  ): Promise<Result> => {
    const about = { client: await import('openid-client'), settings: settings(), at: now() };
    try {
      return await work({ ...about, configuration: await discover(about, send) });
    } catch (error) {
      const unavailable = causes(error).find((cause) => cause instanceof ProviderUnavailable) ?? refusalOfStore(error);
      if (unavailable === undefined)
        throw new LoginNotConfirmed('the OpenID provider did not confirm a login', { cause: error });
      failure = unavailable.message;
      throw unavailable;
    }
  };
  /** Like `attempt`, for work that sends a request to the provider: its success clears a recorded failure. */
  const attemptOnline = async <Result>(work: (connection: ProviderConnection) => Promise<Result>): Promise<Result> => {
    const result = await attempt(work);
    failure = undefined;
    return result;
  };

  return {
    authorizationUrl: (callback, { state, nonce, verifier }, isAgain = false) =>
      attempt(({ client, configuration, settings: { scopes } }) =>
        client.buildAuthorizationUrl(configuration, {
          redirect_uri: callback,
          scope: ['openid', ...scopes].join(' '),
          state,
          nonce,
          code_challenge: createDigest('secret').update(verifier).digest('base64url'),
          code_challenge_method: 'S256',
          ...(isAgain && { prompt: 'login', max_age: '0' }),
        }),
      ),

    exchange: (callback, secrets) => attemptOnline((connection) => exchangeCode(connection, callback, secrets)),

    refresh: (refreshToken, subject) => attemptOnline((connection) => refreshPerson(connection, refreshToken, subject)),

    verifyLogout: (token) =>
      attempt(async ({ configuration, settings: { client_id: audience = '' }, at }) => {
        const { issuer, jwks_uri: address = '' } = configuration.serverMetadata();
        const response = await send(address, { method: 'GET', headers: {}, body: undefined, redirect: 'manual' });
        return verifyLogoutToken(token, { keys: await response.json(), issuer, audience, at });
      }),

    failure: () => failure,
  };
}

type OpenidClient = typeof openidClient;

interface ProviderConnection {
  client: OpenidClient;
  configuration: Configuration;
  settings: OidcSettings;
  at: Date;
}

/** Reads the documents of the provider, and the secret of the client. */
async function discover(
  { client, settings, at }: Omit<ProviderConnection, 'configuration'>,
  send: CustomFetch,
): Promise<Configuration> {
  const { issuer = '', client_id: clientId = '', client_secret_file: secretFile = '' } = settings;
  const clock = {
    [client.clockSkew]: (at.getTime() - Date.now()) / seconds(1),
    [client.clockTolerance]: toleranceSeconds,
  };
  const options = { [client.customFetch]: send };
  try {
    const discovered = await client.discovery(new URL(issuer), clientId, clock, client.None(), options);
    const metadata = discovered.serverMetadata();
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authenticate = methods.includes('client_secret_basic') ? client.ClientSecretBasic : client.ClientSecretPost;
    const configuration = new client.Configuration(metadata, clientId, clock, authenticate(readSecret(secretFile)));
    configuration[client.customFetch] = send;
    // Else the signature of an ID token from the token endpoint would not be verified.
    client.enableNonRepudiationChecks(configuration);
    return configuration;
  } catch (error) {
    const because =
      causes(error).find((cause) => cause instanceof ProviderUnavailable)?.message ?? inOneSentence(error);
    throw new ProviderUnavailable(`the discovery of ${issuer} failed: ${because}`, { cause: error });
  }
}

async function exchangeCode(
  connection: ProviderConnection,
  callback: URL,
  { state, nonce, verifier }: LoginSecrets,
): Promise<ConfirmedPerson> {
  const { client, configuration, settings } = connection;
  const tokens = await client.authorizationCodeGrant(configuration, callback, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  return confirmedPerson(await readClaims(connection, tokens, undefined), tokens, settings.issuer ?? '');
}

async function refreshPerson(
  connection: ProviderConnection,
  refreshToken: string,
  subject: string,
): Promise<ConfirmedPerson | undefined> {
  const { client, configuration, settings } = connection;
  let tokens: ProviderTokens;
  try {
    tokens = await client.refreshTokenGrant(configuration, refreshToken);
  } catch (error) {
    if (codeOf(error) === 'invalid_grant') return undefined;
    throw error;
  }
  return confirmedPerson(await readClaims(connection, tokens, subject), tokens, settings.issuer ?? '');
}

/**
 * The claims of the ID token, and those of the user info endpoint if the ID token lacks the name or the groups. A response to a refresh
 * can be without an ID token; it must be about `subject`.
 */
async function readClaims(
  { client, configuration, settings, at }: ProviderConnection,
  tokens: ProviderTokens,
  subject: string | undefined,
): Promise<PersonClaims> {
  const claims = tokens.claims();
  const expected = subject ?? claims?.sub;
  if (expected === undefined || (claims !== undefined && claims.sub !== expected)) {
    throw new Error('the ID token is missing, or it is about another subject');
  }
  if (claims !== undefined) {
    if (claims.iat > at.getTime() / seconds(1) + toleranceSeconds) throw new Error('the ID token is from the future');
    if (claims.azp !== undefined && claims.azp !== settings.client_id)
      throw new Error('the ID token is for another client');
  }
  const needed = [settings.username_claim, settings.groups_claim, 'email'];
  const isComplete = claims !== undefined && needed.every((claim) => claims[claim] !== undefined);
  const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
  if (isComplete || (claims !== undefined && !hasUserInfo)) return claims;
  return { ...(await client.fetchUserInfo(configuration, tokens.access_token, expected)), ...claims };
}

type PersonClaims = Readonly<Record<string, unknown>> & { sub: string };

function confirmedPerson(claims: PersonClaims, tokens: ProviderTokens, issuer: string): ConfirmedPerson {
  const { sub: subject } = claims;
  // Of the signed token: the user info endpoint is no proof.
  const authenticatedAt = tokens.claims()?.auth_time;
  const sid = claims['sid'];
  // OpenID Connect Core 1.0 section 2: at most 255 ASCII characters.
  if (!/^[\x20-\x7e]{1,255}$/.test(subject))
    throw new Error('the subject of the ID token is not a text of 1 to 255 characters');
  const sessionId = typeof sid === 'string' && sid !== '' && sid.length <= 255 ? sid : undefined;
  return { issuer, subject, claims, sessionId, refreshToken: tokens.refresh_token, authenticatedAt };
}

/** The error code in a response of the token endpoint. */
const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'error' in error && typeof error.error === 'string' ? error.error : undefined;

/** The error if the provider refuses the store itself, not a login. */
function refusalOfStore(error: unknown): ProviderUnavailable | undefined {
  const code = codeOf(error);
  if (!['invalid_client', 'unauthorized_client', 'server_error', 'temporarily_unavailable'].includes(code ?? ''))
    return undefined;
  return new ProviderUnavailable(`the provider refuses this store: ${code ?? ''}`, { cause: error });
}

function readSecret(file: string): string {
  const secret = readFileSync(file, 'utf8').trim();
  if (secret === '') throw new Error(`the client secret in ${file} is empty`);
  return secret;
}

function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let cause = error; cause instanceof Error && chain.length < 8; cause = cause.cause) chain.push(cause);
  return chain;
}
