// Access to the image registry. Its clients use the token protocol of image registries: a refusal names the token address, the client
// fetches a token with the credentials of a repository, and repeats the request.
import type { IncomingMessage } from 'node:http';

import { Refusal } from '#domain/refusal.ts';
import type { ImageCredential } from '#records/images/image-credentials.ts';
import { repositoryName } from '#registry/repository.ts';
import { isGranted, type Action, type RegistryToken } from '#registry/tokens.ts';
import type { Config } from '#configuration/config.ts';
import type { Access, AccessRequest } from './access-rules.ts';

/** A repository that the caller may use, by the credentials for it. */
export interface RepositoryEvidence {
  repository: ImageCredential;
  /** The name that clients use. */
  repositoryName: string;
  token: RegistryToken;
  /** The origin of this request as the client sees it, such as `http://store:8080`. */
}

/** Admits a caller with a token of the registry. */
export const registryClient: Access<object> = {
  about: 'public',
  permissions: [],
  who: 'holder of credentials of a repository',
  async admit(accessRequest) {
    await holder(accessRequest);
    return {};
  },
};

/** Admits a caller with a token for the repository in the path. */
export const onRepository = (action: Action): Access<RepositoryEvidence> => ({
  about: 'public',
  permissions: [],
  who: 'holder of credentials of the repository',
  async admit(accessRequest) {
    const { params } = accessRequest;
    const name = `images/${(params['package_id'] ?? '').toLowerCase()}/${params['resource'] ?? ''}`;
    const scope = `repository:${name}:${action === 'push' ? 'pull,push' : 'pull'}`;
    const { token, credential } = await holder(accessRequest, scope);
    if (!isGranted(token, name, action) || repositoryName(credential) !== name) {
      throw challenge(accessRequest, `This token does not allow to ${action} here.`, scope, 'insufficient_scope');
    }
    return { repository: credential, repositoryName: name, token };
  },
});

type RegistryRequest = Pick<IncomingMessage, 'headers'>;

/**
 * Returns the name that the client used, if it is one of the store's own, with the port of `base_url`; a proxy may have changed any other
 * name. Else returns `base_url`.
 */
function originFor({ headers: { host = '' } }: RegistryRequest, { http, tls }: Config): string {
  const { protocol, origin, port } = new URL(http.base_url);
  const own = tls.names.map((name) => `${name.includes(':') ? `[${name}]` : name}${port === '' ? '' : `:${port}`}`);
  return own.includes(host.toLowerCase()) ? `${protocol}//${host.toLowerCase()}` : origin;
}

/**
 * A Location relative to the address of the request (RFC 9110, 10.2.2), because a proxy may have another name and port. charmcraft passes
 * the header to python-requests, which accepts absolute addresses only.
 */
export function locationFor(request: RegistryRequest, config: Config, path: string): string {
  const needsOrigin = /^python-requests\//.test(request.headers['user-agent'] ?? '');
  return needsOrigin ? `${originFor(request, config)}${path}` : path;
}

async function holder(
  accessRequest: AccessRequest,
  scope?: string,
): Promise<{ token: RegistryToken; credential: ImageCredential }> {
  const { request, registry } = accessRequest;
  const { authorization } = request.headers;
  if (authorization === undefined)
    throw challenge(accessRequest, 'Fetch a token with the credentials of the repository first.', scope);
  const [, text = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
  const token = registry.tokens.read(text);
  const credential = token === undefined ? undefined : await registry.credentials.find(token.credential);
  if (token === undefined || credential === undefined) {
    throw challenge(accessRequest, 'The token is not from this registry, or it has expired.', scope, 'invalid_token');
  }
  if (credential.kind === 'push') registry.credentials.recordProgress(credential.id);
  return { token, credential };
}

function challenge({ request, config }: AccessRequest, message: string, scope?: string, error?: string): Refusal {
  const members = {
    realm: `${originFor(request, config)}/registry/token`,
    service: new URL(config.http.base_url).host,
    ...(scope !== undefined && { scope }),
    ...(error !== undefined && { error }),
  };
  // Leaves out values that could end the quotation; no existing repository has such a name.
  const quoted = Object.entries(members).filter(([, value]) => /^[!#-[\]-~]*$/.test(value));
  return new Refusal('unauthorized', message, undefined, {
    'www-authenticate': `Bearer ${quoted.map(([name, value]) => `${name}="${value}"`).join(',')}`,
    ...apiVersion,
  });
}

/** Tells clients that this is an image registry. */
export const apiVersion = { 'docker-distribution-api-version': 'registry/2.0' };
