// Packages: register and unregister names, and choose how uploads are reviewed.
import { parseAssertion } from '#assertions/format/assertion.ts';
import type { PackageNamespace, PackageType } from '#domain/packages/namespace.ts';
import { addressWords, nameProblem } from '#domain/packages/package-name.ts';
import type { Quota } from '#domain/accounts/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { act } from '../act.ts';
import { requireCurrentPackage, packageObject } from './package.ts';
import { findPackagesBeyond } from '../accounts/quotas.ts';

/** A request to register a name. */
export interface NewName {
  namespace: PackageNamespace;
  name: string;
  type: PackageType;
  publisherId: string;
  private: boolean;
  /** The requested id. If undefined, the package gets the id of its online package, if that is known here. */
  id?: string;
  /** A new random id, for a package without a known online id. */
  freshId: string;
  /** The names that cannot be registered this way. */
  reserved: readonly string[];
  /** The quota of publishers without a quota of their own. */
  defaultQuota: Quota;
}

export const registerName = act({
  name: 'register_name',
  summary: 'Register a package name for an account.',
  on: 'NAMESPACE/NAME',
  object: ({ namespace, name }: NewName) => `${namespace}/${name}`,
  gate: { never: 'a name alone gives no access' },

  async perform(tx, request: NewName, { at, note }): Promise<{ id: string }> {
    const { namespace, name, publisherId } = request;
    refuseName(request);
    const id = request.id ?? (await onlineId(tx, request)) ?? request.freshId;
    const blank = {
      title: null,
      summary: null,
      description: null,
      license: null,
      defaultTrack: null,
      links: {},
      icon: null,
      edited: [],
    };
    const { type, private: hidden } = request;
    const fresh = { id, namespace, name, type, publisherId, private: hidden, createdAt: at };
    // Together: a server does both in this order, and responds once.
    const [isClaimed, tooMany] = await Promise.all([
      tx.packages.claim({ ...fresh, ...blank, status: 'registered' }),
      findPackagesBeyond(tx, request),
    ]);
    if (!isClaimed) {
      const holder = await tx.packages.find(namespace, name);
      if (holder === undefined) throw new Refusal('conflict', `The package id '${id}' is taken.`);
      throw holder.publisherId === publisherId
        ? new Refusal('already-owned', `This account has already registered the name '${name}'.`)
        : new Refusal('already-registered', `The name '${name}' is taken.`);
    }
    if (tooMany !== undefined) throw tooMany;
    note({ id, account: publisherId });
    return { id };
  },
});

/** Refuses an invalid name, and a reserved one. */
export function refuseName({ namespace, name, reserved }: Pick<NewName, 'namespace' | 'name' | 'reserved'>): void {
  const problem = nameProblem(name);
  if (problem !== undefined) throw new Refusal('api-error', problem);
  if (reserved.includes(name)) throw new Refusal('reserved-name', `The name '${name}' is reserved.`);
  if (addressWords[namespace]?.includes(name) !== true) return;
  throw new Refusal(
    'reserved-name',
    `The name '${name}' is part of the store's own addresses in ${namespace}. Choose another name.`,
  );
}

/** The online id of a snap: from an imported snap-declaration that names the same publisher. */
async function onlineId(
  { assertions }: Pick<ChangeRecords, 'assertions'>,
  { namespace, name, publisherId }: NewName,
): Promise<string | undefined> {
  if (namespace !== 'snap') return undefined;
  for (const { text } of await assertions.ofSnap(name)) {
    const { headers } = parseAssertion(text);
    if (headers['publisher-id'] === publisherId) return headers['snap-id'] as string;
  }
  return undefined;
}

export const unregisterPackage = act({
  name: 'unregister_package',
  summary: 'Unregister a package that has no revisions.',
  on: 'NAMESPACE/NAME',
  object: packageObject,
  gate: { never: 'it has no revisions, so no device uses it' },

  async perform(tx, subject: PublishedPackage, { note }) {
    await requireCurrentPackage(tx, subject);
    await refuseInUse(tx, subject.id);
    await tx.packages.remove(subject.id);
    note({ id: subject.id });
  },
});

/** Refuses to unregister a package that has revisions, or an upload in review. */
export async function refuseInUse(
  { revisions, uploads }: Pick<StoreRecords, 'revisions' | 'uploads'>,
  id: string,
): Promise<void> {
  if ((await revisions.newest(id)) > 0) {
    throw new Refusal('forbidden', 'Cannot unregister a package with existing revisions');
  }
  if (await uploads.hasReviewPending(id)) {
    throw new Refusal('forbidden', 'Cannot unregister a package with an upload in review');
  }
}

export const setPackageId = act({
  name: 'set_package_id',
  summary: 'Change the id of a package to its id in the online store, before its first revision.',
  on: 'NAMESPACE/NAME',
  object: ({ namespace, name }: { namespace: PackageNamespace; name: string }) => `${namespace}/${name}`,
  gate: { never: 'it has no revisions yet, so no device uses it' },

  async perform(
    tx,
    { namespace, name, id }: { namespace: PackageNamespace; name: string; id: string },
    { note },
  ): Promise<{ before: string }> {
    note({ id });
    const subject = await tx.packages.find(namespace, name);
    if (subject === undefined) throw new Refusal('resource-not-found', `There is no package '${namespace}/${name}'.`);
    if (subject.id === id) return { before: id };
    if ((await tx.revisions.newest(subject.id)) > 0 || (await tx.uploads.hasReviewPending(subject.id))) {
      throw new Refusal(
        'conflict',
        `The package '${namespace}/${name}' has revisions that refer to its id, so the id cannot change any more.`,
      );
    }
    if (!(await tx.packages.setId(subject.id, id)))
      throw new Refusal('conflict', `Another package has the id '${id}'.`);
    note({ before: subject.id });
    return { before: subject.id };
  },
});

export const setManualReview = act({
  name: 'set_manual_review',
  summary: 'Turn the review by a person on or off for all uploads of a package.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: { package: PublishedPackage }) => packageObject(subject),
  gate: { never: 'no channel holds a revision before it is released, with or without that review' },

  async perform(tx, { package: subject, on }: { package: PublishedPackage; on: boolean }, { note }) {
    await requireCurrentPackage(tx, subject);
    await tx.packages.reviewByHand(subject.id, on);
    note({ on });
  },
});
