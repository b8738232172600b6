// The resources of a release: those that the request names, and for the others what was released before.
import type { Channel } from '#domain/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';

interface Wanted {
  channel: Channel;
  revision: number;
  resources: { name: string; revision: number | null }[];
  now: string;
}

/** What is read to know what comes beside a revision. */
export type ReadResources = Pick<Records, 'releases' | 'resources' | 'resourceRevisions'>;

type ReleasedResource = Release['resources'][number];

/** What comes beside a revision in a channel: one entry for each resource that it declares. */
export async function resourcesOf(
  tx: ReadResources,
  subject: PublishedPackage,
  wanted: Wanted,
): Promise<ReleasedResource[]> {
  const declared = await tx.resources.list(subject.id, wanted.revision);
  const named = new Map<string, number | null>();
  for (const { name, revision } of wanted.resources) {
    if (named.has(name)) throw new Refusal('api-error', `The resource '${name}' is named twice.`);
    if (!declared.some((one) => one.name === name)) {
      throw new Refusal('api-error', `Resource '${name}' is not valid for ${subject.type} with id ${subject.id}.`);
    }
    // Clients write 0 for "no file".
    const number = revision === 0 ? null : revision;
    if (number !== null && (await tx.resourceRevisions.find(subject.id, name, number)) === undefined) {
      throw new Refusal(
        'api-error',
        `Resource '${name}' with revision ${number} does not exist for ${subject.type} with id ${subject.id}.`,
      );
    }
    named.set(name, number);
  }
  const before = declared.every(({ name }) => named.has(name)) ? [] : await tx.releases.current(subject.id, wanted.now);
  const released = declared.map(({ name, type, optional }) => {
    const given = named.get(name);
    const revision = given === undefined ? releasedBefore(before, wanted, name) : given;
    if (given === undefined && revision === null && !optional) {
      throw new Refusal(
        'api-error',
        `Resource '${name}' doesn't have a released revision for ${subject.type} with id '${subject.id}' and revision ${wanted.revision}`,
      );
    }
    return { name, type, revision };
  });
  for (const { name, revision } of released)
    if (revision !== null) await tx.resourceRevisions.refuseDamaged(subject.id, name, revision);
  return released;
}

/** What the channel holds of a resource; failing that, what was released anywhere with the same revision. */
function releasedBefore(before: Release[], { channel, revision }: Wanted, name: string): number | null {
  const here = before.filter((release) => release.channel === channel.name);
  const same = before.filter((release) => release.revision === revision);
  for (const release of [...here, ...same]) {
    const found = release.resources.find((resource) => resource.name === name)?.revision;
    if (found !== undefined && found !== null) return found;
  }
  return null;
}
