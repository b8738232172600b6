import type { DeclaredResource as DeclaredShape, ResourceRevision as ResourceRevisionShape } from '#api/wire.ts';
import type { ResourceRevision } from '#records/resource-revisions.ts';
import type { DeclaredResource } from '#records/resources.ts';

type ResourceType = DeclaredShape['type'];

export const presentDeclaredResource = (resource: DeclaredResource & { newest: number | null }): DeclaredShape => ({
  name: resource.name,
  optional: resource.optional,
  ...(resource.newest !== null && { revision: resource.newest }),
  type: resource.type as ResourceType,
});

export const presentResourceRevision = (one: ResourceRevision): ResourceRevisionShape => ({
  ...(one.bases === null ? { architectures: one.architectures ?? [] } : { bases: one.bases }),
  'created-at': one.createdAt,
  name: one.name,
  revision: one.revision,
  sha256: one.sha256,
  'sha3-384': one.sha3_384,
  sha384: one.sha384,
  sha512: one.sha512,
  size: one.size,
  type: one.type as ResourceType,
  'updated-at': one.updatedAt,
  'updated-by': one.updatedBy,
});
