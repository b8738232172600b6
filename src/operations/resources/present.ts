import type { DeclaredResource as DeclaredShape, ResourceRevision as ResourceRevisionShape } from '#contract/wire.ts';
import type { ResourceRevision } from '#records/resources/resource-revisions.ts';
import type { ResourceDeclaration } from '#records/resources/resources.ts';

type ResourceType = DeclaredShape['type'];

export const presentDeclaredResource = (resource: ResourceDeclaration & { newest: number | null }): DeclaredShape => ({
  name: resource.name,
  optional: resource.optional,
  ...(resource.newest !== null && { revision: resource.newest }),
  type: resource.type as ResourceType,
});

export const presentResourceRevision = (revision: ResourceRevision): ResourceRevisionShape => ({
  ...(revision.bases === null ? { architectures: revision.architectures ?? [] } : { bases: revision.bases }),
  'created-at': revision.createdAt,
  name: revision.name,
  revision: revision.revision,
  sha256: revision.sha256,
  'sha3-384': revision.sha3_384,
  sha384: revision.sha384,
  sha512: revision.sha512,
  size: revision.size,
  type: revision.type as ResourceType,
  'updated-at': revision.updatedAt,
  'updated-by': revision.updatedBy,
});
