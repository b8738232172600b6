// Resources: content beside a package's revisions, and the bases that it runs on.
import { Refusal } from '#domain/refusal.ts';
import { everywhere, mergeBases, type ResourceBase } from '#domain/resources/resource-base.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { ResourceDeclaration } from '#records/resources/resources.ts';
import type { ResourceRequest } from '#records/uploads/uploads.ts';
import { act } from '../act.ts';
import { packageObject } from '../packages/package.ts';

/** A requested base. Omitted members match all values. */
type RequestedBase = Partial<ResourceBase> & Pick<ResourceBase, 'architectures'>;

/** A request to push content for a resource. */
export interface ResourcePushRequest {
  package: PublishedPackage;
  resource: string;
  /** The type that the client expects. */
  type?: string | undefined;
  bases?: readonly RequestedBase[] | undefined;
  /** The revision of the snap that it is for; the newest if undefined. */
  revision?: number | undefined;
}

/** Records of resources, inside or outside a transaction. */
type ResourceDeclarationRecords =
  Pick<ChangeRecords, 'resources' | 'revisions'> | Pick<StoreRecords, 'resources' | 'revisions'>;

export const updateResourceRevisions = act({
  name: 'update_resource_revisions',
  summary: 'Set the bases of revisions of a resource.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: { package: PublishedPackage }) => packageObject(subject),
  gate: { never: 'it describes the bases and architectures of a file and releases nothing' },

  async perform(
    tx,
    {
      package: subject,
      resource: name,
      updates,
    }: {
      package: PublishedPackage;
      resource: string;
      updates: readonly { revision: number; bases: readonly RequestedBase[] }[];
    },
    { at, actor, note },
  ): Promise<void> {
    const numbers = updates.map(({ revision }) => revision);
    const twice = numbers.find((number, index) => numbers.indexOf(number) < index);
    if (twice !== undefined) {
      throw new Refusal('api-error', `Revision ${twice} is named twice at /resource-revision-updates`);
    }
    note({ resource: name, revisions: numbers });
    for (const { revision, bases } of updates) {
      const existing = await tx.resourceRevisions.find(subject.id, name, revision);
      if (existing === undefined) {
        throw new Refusal(
          'resource-not-found',
          `The resource '${name.slice(0, 100)}' of '${subject.name}' has no revision ${revision}.`,
        );
      }
      if (existing.bases === null)
        throw new Refusal('api-error', `The resource '${name}' is a component of a snap and has no bases.`);
      const changed = { packageId: subject.id, name, revision, bases: mergeBases(bases) };
      await tx.resourceRevisions.rebase({ ...changed, at, actor });
    }
  },
});

/**
 * The declaration of a resource by the package's revisions, or by the given one. Refuses a resource that is not
 * declared. A resource exists from the first revision that declares it.
 */
export async function requireDeclaredResource(
  { resources }: Pick<ResourceDeclarationRecords, 'resources'>,
  subject: PublishedPackage,
  name: string,
  revision?: number,
): Promise<ResourceDeclaration & { revision: number }> {
  const declared = await resources.declared(subject.id, name, revision);
  if (declared !== undefined) return declared;
  const which = revision === undefined ? 'no revision of it declares one' : `its revision ${revision} declares none`;
  throw new Refusal(
    'resource-not-found',
    `'${subject.name}' has no resource '${name.slice(0, 100)}': ${which} of that name.`,
  );
}

/** The properties of pushed content, from the request and from the revision that declares the resource. */
export async function createResourceRequest(
  records: ResourceDeclarationRecords,
  { package: subject, resource: name, type, bases, revision }: ResourcePushRequest,
): Promise<ResourceRequest> {
  const isSnap = subject.namespace === 'snap';
  // A component is declared by one revision of its snap. The resources of a charm are declared by any of its revisions.
  const of = isSnap ? (revision ?? (await records.revisions.newest(subject.id))) : undefined;
  const declared = await requireDeclaredResource(records, subject, name, of);
  if (type !== undefined && type !== declared.type) {
    throw new Refusal('api-error', `The resource '${name}' is declared as ${declared.type}, not as ${type} at /type`);
  }
  if (!isSnap) {
    const merged = bases === undefined ? everywhere : mergeBases(bases);
    return { type: declared.type, bases: merged, architectures: null, packageRevision: null };
  }
  if (bases !== undefined) {
    throw new Refusal(
      'api-error',
      'A component of a snap has the architectures of the snap; it takes no bases at /bases',
    );
  }
  const architectures = (await records.revisions.find(subject.id, declared.revision))?.details.architectures ?? ['all'];
  return { type: declared.type, bases: null, architectures, packageRevision: declared.revision };
}
