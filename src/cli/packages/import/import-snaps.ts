// Imports inspected snaps: first the content, then the revision with its assertions, in one act.
import { importPackage } from '#acts/packages/imports.ts';
import { pushReleases } from '#acts/releases/releases.ts';
import { withFile, type Blobs } from '#blobs/blobs.ts';
import { everyDevice, newestOfSlots, slotsOf } from '#domain/releases/channel-map.ts';
import type { Channel } from '#domain/releases/channel.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { findingsOf, keepIcon } from '#jobs/uploads/findings.ts';
import type { Reviewer } from '#review/reviewer.ts';
import { Failure } from '../../frame/command.ts';
import type { ProgressReporter } from '../../frame/progress.ts';
import type { OpenStore } from '../../frame/store.ts';
import { uploadFile, hostAddress, withSentFile } from '../../uploads/sent-file.ts';
import { verifyAgain, type SnapInspectionContext, type InspectedSnap } from './inspect-snap.ts';

export interface SnapImportContext extends SnapInspectionContext {
  blobs: Blobs;
  reviewer: Reviewer;
  progress: ProgressReporter;
}

/** Imports a snap; returns whether its package is new. If the import fails, the next sweep removes the content. */
export async function importSnap(
  seen: InspectedSnap,
  store: OpenStore,
  taking: SnapImportContext,
): Promise<{ isNew: boolean }> {
  const upload = await contentOf(seen, store, taking);
  try {
    const findings = await reviewStored(seen, store, taking);
    const { believed, snap } = await verifyAgain(seen, taking);
    return await store.acts.do(importPackage, store.person, { snap, believed, findings, upload });
  } catch (error) {
    await store.records.ephemeral(({ unclaimedUploads }) => unclaimedUploads.forget(upload));
    throw error;
  }
}

/** Creates an unclaimed upload with the snap's content; does not copy content that the store already has. */
async function contentOf(
  { file, snap, sha256 }: InspectedSnap,
  store: OpenStore,
  { blobs, progress }: SnapImportContext,
): Promise<string> {
  const { sha3_384, size } = snap;
  const { records, newId, now } = store;
  if ((await records.neededContents.has(sha3_384)) && (await blobs.prove(sha3_384))) {
    const id = newId.uuid();
    const upload = { id, sha3_384, sha256, size, address: hostAddress, receivedAt: timestamp(now()) };
    await records.ephemeral(({ unclaimedUploads }) => unclaimedUploads.add(upload));
    return id;
  }
  return withSentFile(file, (sent) => uploadFile(store, blobs, sent, progress, sha3_384), store.asCaller);
}

/** Reviews the stored content, because a medium may return other bytes at a second read. */
async function reviewStored({ snap }: InspectedSnap, { newId }: OpenStore, { blobs, reviewer }: SnapImportContext) {
  const { sha3_384, name } = snap;
  if (!(await blobs.prove(sha3_384))) throw new Failure('the imported file cannot be read again; check the disk');
  const verdict = await withFile(blobs, sha3_384, (path) =>
    reviewer.review({ kind: 'snap', path, name, signed: true }),
  );
  if (!verdict.approved) throw new Failure(verdict.errors.map(({ message }) => message).join(' '));
  const findings = findingsOf(verdict, await keepIcon(verdict, { blobs, newId }));
  if (findings.kind !== 'revision') throw new Error('cannot take in a snap as a resource');
  return findings;
}

export interface ReleasedPackage {
  package: string;
  revisions: number[];
}

/**
 * Releases the imported and the already present revisions of a package to each channel: the newest for each architecture. A
 * channel that holds a newer revision keeps it.
 */
export async function releaseImported(
  name: string,
  seen: readonly InspectedSnap[],
  channels: readonly Channel[],
  { records, acts, person, now }: OpenStore,
): Promise<ReleasedPackage | undefined> {
  const subject = await records.packages.find('snap', name);
  if (subject === undefined) throw new Refusal('resource-not-found', `There is no package snap/${name}.`);
  const revisions = seen.map(({ snap: { revision }, architectures }) => ({ revision, architectures }));
  const releases = [];
  for (const channel of channels) {
    const held = await records.releases.inChannel(subject.id, channel.name, timestamp(now()));
    for (const { revision, architectures } of newestOfSlots(revisions)) {
      const isOlder = ({ slot }: { slot: string }): boolean =>
        held.every((current) => current.slot !== slot || current.revision < revision);
      if (!slotsOf('snap', { architectures }).some(isOlder)) continue;
      releases.push({ channel, revision, progressive: everyDevice, resources: [], onlyIfNewer: true });
    }
  }
  if (releases.length === 0) return undefined;
  await acts.do(pushReleases, person, { package: subject, releases });
  return { package: `snap/${name}`, revisions: [...new Set(releases.map(({ revision }) => revision))] };
}
