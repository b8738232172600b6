import { anyone } from '#access/access-rules.ts';
import { json } from '#http/response/outgoing-response.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { apiVersion, registryClient } from '#access/registry-access.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { repositoryName } from '#registry/repository.ts';
import { readScope } from '#registry/tokens.ts';

export const registryVersion = operation({
  name: 'registry_version',
  method: 'GET',
  path: '/v2/',
  since: 0,
  summary: 'Identify this as an image registry, and give the source of its tokens.',
  access: registryClient,
  errors: 'registry',
  prefixed: false,
  response: 'NothingToSay',
  handle: () => new OperationResponse({ headers: { ...json, ...apiVersion }, body: '{}' }),
});

export const registryToken = operation({
  name: 'registry_token',
  method: 'GET',
  path: '/registry/token',
  since: 0,
  summary: 'Exchange the credentials of a repository for a token.',
  access: anyone,
  query: 'RegistryTokenQuery',
  repeated: ['scope'],
  response: 'RegistryTokenResponse',
  errors: 'registry',
  prefixed: false,
  refuses: ['unauthorized'],

  async handle({ request, query, registry, config, requestId, address }) {
    const login = basicLogin(request.headers.authorization);
    const credential =
      login === undefined ? undefined : await registry.credentials.logIn(login, { address, requestId });
    if (credential === undefined) {
      throw new Refusal(
        'unauthorized',
        'These credentials are not for a repository, or they have expired. Request new ones.',
        undefined,
        {
          'www-authenticate': 'Basic realm="larder"',
        },
      );
    }
    // A token gets the part of the requested scope that its credentials allow: their own repository. If an external registry keeps
    // the images, pushes to the internal one are refused.
    const { external } = config.registry;
    const forExternal = external !== undefined && query.service === external;
    const mayPush = credential.kind === 'push' && (external === undefined || forExternal);
    const own = repositoryName(credential);
    const grants = readScope(query.scope ?? '')
      .filter(({ repository }) => repository === own)
      .map((grant) => ({ ...grant, actions: grant.actions.filter((action) => action === 'pull' || mayPush) }));
    const token = { credential: credential.id, grants };
    const { text, issuedAt, lifetimeSeconds } = forExternal
      ? await registry.signedTokens.mint(token, { registry: external, issuer: config.http.base_url })
      : registry.tokens.mint(token);
    return { token: text, access_token: text, expires_in: lifetimeSeconds, issued_at: timestamp(issuedAt) };
  },
});

/** User name and password of basic authentication (RFC 7617). */
function basicLogin(authorization = ''): { username: string; password: string } | undefined {
  const [, encoded = ''] = /^basic +([A-Za-z0-9+/=]{1,1024})$/i.exec(authorization) ?? [];
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
