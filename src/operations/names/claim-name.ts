// Registering a name: what an operation and a command on the host have in common.
import type { Namespace, PackageType } from '#domain/namespace.ts';
import { addressWords, nameProblem } from '#domain/package-name.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Changes } from '#records/index.ts';

export interface NewName {
  id: string;
  namespace: Namespace;
  name: string;
  type: PackageType;
  publisherId: string;
  private: boolean;
  createdAt: string;
}

/** Refuses what is no name, and what nobody may register. */
export function refuseBadName(name: string, reserved: readonly string[]): void {
  const problem = nameProblem(name);
  if (problem !== undefined) throw new Refusal('api-error', problem);
  if (reserved.includes(name)) throw new Refusal('reserved-name', `The name '${name}' is reserved.`);
}

/** Gives a name to an account, with the track that every package has; refuses one that somebody holds, or that nobody can have. */
export async function claimName(tx: Changes, wanted: NewName): Promise<void> {
  const { id, namespace, name, publisherId, createdAt } = wanted;
  if (addressWords[namespace]?.includes(name)) {
    throw new Refusal(
      'reserved-name',
      `The name '${name}' is part of the store's own addresses in ${namespace}; take another.`,
    );
  }
  const claimed = await tx.packages.claim({
    ...wanted,
    status: 'registered',
    title: null,
    summary: null,
    description: null,
    defaultTrack: null,
    links: {},
    icon: null,
  });
  if (claimed) {
    await tx.tracks.add(id, { name: 'latest', versionPattern: null, automaticPhasingPercentage: null, createdAt });
    return;
  }
  const holder = await tx.packages.find(namespace, name);
  if (holder === undefined) throw new Refusal('conflict', `The package id '${id}' is taken.`);
  throw holder.publisherId === publisherId
    ? new Refusal('already-owned', `This account has registered the name '${name}' already.`)
    : new Refusal('already-registered', `The name '${name}' is taken.`);
}
