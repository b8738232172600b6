// Access to the image registry. Its clients follow the token protocol of that world: they are told where to fetch a
// token, fetch it with the credentials of a repository, and come again.
import type { IncomingMessage } from 'node:http';

import { Refusal } from '#domain/refusal.ts';
import type { ImageCredential } from '#records/image-credentials.ts';
import { repositoryName } from '#registry/repository.ts';
import { grants, type Action, type RegistryToken } from '#registry/tokens.ts';
import type { Config } from '#src/config.ts';
import type { Access, Asked } from './access.ts';

/** A repository that the caller may use, by the credentials that are for it. */
export interface RepositoryEvidence {
  repository: ImageCredential;
  /** What clients call it. */
  repositoryName: string;
  token: RegistryToken;
  /** Where this request reached the store, such as `http://store:8080`. */
  origin: string;
}

/** Whoever brings a token of the registry. */
export const registryClient: Access<object> = {
  about: 'public',
  permissions: [],
  who: 'holder of credentials of a repository',
  async admit(asked) {
    await holder(asked);
    return {};
  },
};

/** Whoever brings a token for the repository in the path. */
export const onRepository = (action: Action): Access<RepositoryEvidence> => ({
  about: 'public',
  permissions: [],
  who: 'holder of credentials of the repository',
  async admit(asked) {
    const { params, request, config } = asked;
    const name = `images/${(params['package_id'] ?? '').toLowerCase()}/${params['resource'] ?? ''}`;
    const scope = `repository:${name}:${action === 'push' ? 'pull,push' : 'pull'}`;
    const { token, credential } = await holder(asked, scope);
    if (!grants(token, name, action) || repositoryName(credential) !== name) {
      throw challenge(asked, `This token does not allow to ${action} here.`, scope, 'insufficient_scope');
    }
    return { repository: credential, repositoryName: name, token, origin: originOf(request, config) };
  },
});

/**
 * Where a request reached the store. Clients take addresses in our answers as they are, so the host is the one they
 * know us by; how it is reached is configured.
 */
export function originOf({ headers: { host = '' } }: IncomingMessage, { http }: Config): string {
  const { protocol, origin } = new URL(http.base_url);
  return /^(?:[A-Za-z0-9.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/.test(host) ? `${protocol}//${host}` : origin;
}

async function holder(asked: Asked, scope?: string): Promise<{ token: RegistryToken; credential: ImageCredential }> {
  const { request, registry } = asked;
  const { authorization } = request.headers;
  if (authorization === undefined)
    throw challenge(asked, 'Fetch a token with the credentials of the repository first.', scope);
  const [, text = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
  const token = registry.tokens.read(text);
  const credential = token === undefined ? undefined : await registry.credentials.find(token.credential);
  if (token === undefined || credential === undefined) {
    throw challenge(asked, 'The token is none of this registry, or it has ended.', scope, 'invalid_token');
  }
  if (credential.kind === 'push') registry.credentials.moves(credential.id);
  return { token, credential };
}

function challenge({ request, config }: Asked, message: string, scope?: string, error?: string): Refusal {
  const members = {
    realm: `${originOf(request, config)}/registry/token`,
    service: new URL(config.http.base_url).host,
    ...(scope !== undefined && { scope }),
    ...(error !== undefined && { error }),
  };
  // What is not a plain word could end the quotation; no repository that exists is named so.
  const quoted = Object.entries(members).filter(([, value]) => /^[!#-[\]-~]*$/.test(value));
  return new Refusal('unauthorized', message, undefined, {
    'www-authenticate': `Bearer ${quoted.map(([name, value]) => `${name}="${value}"`).join(',')}`,
    ...apiVersion,
  });
}

/** By this, clients know an image registry. */
export const apiVersion = { 'docker-distribution-api-version': 'registry/2.0' };
