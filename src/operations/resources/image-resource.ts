// Finds the image resource of an operation, and names its image.
import type { Services } from '#http/services.ts';
import { Refusal } from '#domain/refusal.ts';
import { canBeRepository, repositoryName, type Repository } from '#registry/repository.ts';

/** The repository of a resource that a revision of the package declares as an image. */
export async function imageResource(
  { registry }: Services,
  subject: { id: string; namespace: string; name: string },
  resource: string,
): Promise<Repository> {
  const repository = { packageId: subject.id, resource };
  const type = await registry.declaredType(repository);
  if (type === undefined) {
    throw new Refusal(
      'resource-not-found',
      `No revision of ${subject.namespace}/${subject.name} declares a resource '${resource.slice(0, 100)}'.`,
    );
  }
  if (type !== 'oci-image')
    throw new Refusal('api-error', `The resource '${resource}' is of type ${type}, not oci-image.`);
  if (!canBeRepository(resource)) {
    throw new Refusal(
      'api-error',
      `The store cannot hold an image for '${resource.slice(0, 100)}': its name may have lower-case letters, digits and single separators.`,
    );
  }
  return repository;
}

/** The data that deployments need to pull an image. Clients upload it unchanged as the content of the resource. */
export const formatImageResource = (
  host: string,
  repository: Repository,
  { sha256, username, password }: { sha256: string; username: string; password: string },
) => ({ ImageName: `${imageName(host, repository)}@sha256:${sha256}`, Username: username, Password: password });

/** The name of the image for clients: the host of its registry, and the repository. */
export const imageName = (host: string, repository: Repository): string => `${host}/${repositoryName(repository)}`;

/** The host of this store, as clients know it. */
export const ownHost = ({ config }: Services): string => new URL(config.http.base_url).host;

/** The host of the registry that new images are pushed to. */
export const registryHost = (services: Services): string => services.config.registry.external ?? ownHost(services);
