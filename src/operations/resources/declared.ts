// A resource exists from the first revision on that declares it.
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Records } from '#records/index.ts';
import type { DeclaredResource } from '#records/resources.ts';

/** What the package's revisions (or this one of them) say of a resource; refuses one that none declares. */
export async function declaredOr404(
  records: Pick<Records, 'resources'>,
  subject: PublishedPackage,
  name: string,
  revision?: number,
): Promise<DeclaredResource & { revision: number }> {
  const declared = await records.resources.declared(subject.id, name, revision);
  if (declared !== undefined) return declared;
  const which = revision === undefined ? 'no revision of it declares one' : `its revision ${revision} declares none`;
  throw new Refusal(
    'resource-not-found',
    `'${subject.name}' has no resource '${name.slice(0, 100)}': ${which} of that name.`,
  );
}
