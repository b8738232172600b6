// A small OpenID provider for tests: it signs tokens as it is told, also wrong ones, and people log in without a page.
import { createHash, createSign, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { makeAuthority, makeServerCertificate } from '#tls/certificates.ts';
import { freePort } from '#test/fixtures/free-port.ts';

export type Claims = Record<string, unknown>;

/** The lies of a provider, or of an attacker between it and the store. */
export interface Lies {
  claims?(claims: Claims): Claims;
  header?: Record<string, unknown>;
  /** Makes the whole token from its header and claims. */
  token?(header: object, claims: Claims): string;
  /** The response of the token endpoint. */
  response?(response: Record<string, unknown>): unknown;
  status?: number;
  discovery?(document: Record<string, unknown>): unknown;
  keys?: unknown;
  userinfo?: unknown;
}

const clientSecret = 'a secret of the client';

/** Keys are slow to make, so all issuers of a process share them. */
let shared: ReturnType<typeof newKeys> | undefined;
export const makeKeys = (): ReturnType<typeof newKeys> => (shared ??= newKeys());
const newKeys = async () => {
  const authority = await makeAuthority('The site', new Date());
  return {
    authority,
    server: await makeServerCertificate(authority, ['127.0.0.1'], new Date()),
    rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ec: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    stranger: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  };
};

export const base64url = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

export function signToken(key: KeyObject, header: object, claims: unknown): string {
  const input = `${base64url(header)}.${base64url(claims)}`;
  const signature = createSign('sha256').update(input).sign({ key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

interface Granted {
  claims: Claims;
  nonce: string | null;
  challenge: string | null;
  redirect: string | null;
}

export interface TestIssuer {
  issuer: string;
  /** The section of larder.toml for this issuer. */
  configuration: string;
  keys: Awaited<ReturnType<typeof makeKeys>>;
  lies: Lies;
  /** The requests so far, as `POST /token`. */
  requests: string[];
  /** The claims that the next refreshes confirm, by refresh token; undefined refuses them. */
  refreshed: Map<string, Claims | undefined>;
  issuesRefreshTokens: boolean;
  /** A person logs in at the address that the store sent the browser to. Returns the address to come back to. */
  logIn(address: string, claims: Claims): URL;
  /** Stops answering, or answers again. */
  setAway(away: boolean): Promise<void>;
}

export async function startIssuer(t: { teardown(work: () => unknown): void }, now: () => Date): Promise<TestIssuer> {
  const keys = await makeKeys();
  const folder = mkdtempSync(join(tmpdir(), 'issuer-'));
  writeFileSync(join(folder, 'secret'), `${clientSecret}\n`);
  writeFileSync(join(folder, 'ca.pem'), keys.authority.certificate);
  const port = await freePort();
  const issuer = `https://127.0.0.1:${String(port)}`;
  const codes = new Map<string, Granted>();
  const world: TestIssuer = {
    issuer,
    configuration:
      `\n[identity.oidc]\nissuer = "${issuer}"\nclient_id = "larder"\nclient_secret_file = "${join(folder, 'secret')}"\n` +
      `authority_file = "${join(folder, 'ca.pem')}"\nname = "EXAMPLE"\n`,
    keys,
    lies: {},
    requests: [],
    refreshed: new Map(),
    issuesRefreshTokens: false,
    logIn(address, claims) {
      const parameters = new URL(address).searchParams;
      const code = randomBytes(16).toString('hex');
      codes.set(code, {
        claims,
        nonce: parameters.get('nonce'),
        challenge: parameters.get('code_challenge_method') === 'S256' ? parameters.get('code_challenge') : null,
        redirect: parameters.get('redirect_uri'),
      });
      const back = new URL(parameters.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({ code, state: parameters.get('state') ?? '', iss: issuer }).toString();
      return back;
    },
    async setAway(away) {
      if (!away) return listen();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  const idToken = (claims: Claims, nonce: string | null): string => {
    const at = Math.floor(now().getTime() / 1000);
    const standard = { iss: issuer, aud: 'larder', iat: at, exp: at + 300, ...(nonce !== null && { nonce }) };
    const payload = world.lies.claims?.({ ...standard, ...claims }) ?? { ...standard, ...claims };
    const header = { alg: 'RS256', kid: 'rsa', typ: 'JWT', ...world.lies.header };
    const key = header.alg === 'ES256' ? keys.ec.privateKey : keys.rsa.privateKey;
    return world.lies.token?.(header, payload) ?? signToken(key, header, payload);
  };

  const grant = (form: URLSearchParams): [number, unknown] => {
    const code = form.get('code') ?? '';
    const granted = codes.get(code);
    codes.delete(code);
    const refreshing = form.get('refresh_token') ?? '';
    const claims = form.get('grant_type') === 'refresh_token' ? world.refreshed.get(refreshing) : granted?.claims;
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isProven =
      granted === undefined || (granted.challenge === verifier && granted.redirect === form.get('redirect_uri'));
    if (claims === undefined || !isProven) return [400, { error: 'invalid_grant' }];
    const refreshToken = randomBytes(16).toString('hex');
    if (world.issuesRefreshTokens) world.refreshed.set(refreshToken, claims);
    const response = {
      access_token: 'an access token',
      token_type: 'Bearer',
      expires_in: 300,
      id_token: idToken(claims, granted?.nonce ?? null),
      ...(world.issuesRefreshTokens && { refresh_token: refreshToken }),
    };
    return [world.lies.status ?? 200, world.lies.response?.(response) ?? response];
  };

  const respond = async (request: IncomingMessage): Promise<[number, unknown]> => {
    const body = await text(request);
    const isClient =
      request.headers.authorization ===
      `Basic ${Buffer.from(`larder:${encodeURIComponent(clientSecret).replaceAll('%20', '+')}`).toString('base64')}`;
    switch (request.url) {
      case '/.well-known/openid-configuration': {
        const document = {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          userinfo_endpoint: `${issuer}/userinfo`,
          response_types_supported: ['code'],
          id_token_signing_alg_values_supported: ['RS256', 'ES256'],
          authorization_response_iss_parameter_supported: true,
        };
        return [200, world.lies.discovery?.(document) ?? document];
      }
      case '/keys': {
        const published = [
          { ...keys.rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa', use: 'sig', alg: 'RS256' },
          { ...keys.ec.publicKey.export({ format: 'jwk' }), kid: 'ec', use: 'sig', alg: 'ES256' },
        ];
        return [200, world.lies.keys ?? { keys: published }];
      }
      case '/token':
        return isClient ? grant(new URLSearchParams(body)) : [401, { error: 'invalid_client' }];
      case '/userinfo':
        return [world.lies.userinfo === undefined ? 404 : 200, world.lies.userinfo ?? {}];
      default:
        return [404, {}];
    }
  };

  const server = createServer({ key: keys.server.key, cert: keys.server.certificate }, (request, response) => {
    world.requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    void respond(request).then(([status, body]) => {
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(status === 302 && { location: `${issuer}/elsewhere` }),
      });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  const listen = (): Promise<void> =>
    new Promise((resolve) => {
      server.listen(port, '127.0.0.1', resolve);
    });
  await listen();
  t.teardown(async () => {
    if ((server.address() as AddressInfo | null) !== null) await world.setAway(true);
    rmSync(folder, { recursive: true });
  });
  return world;
}
