// Which releases and revisions of a snap exist for a caller. Every operation that names or sends a revision decides with these functions.
import type { SnapReach } from '#access/account-snaps.ts';
import type { VisibleSnap } from '#access/device-snaps.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import type { SlotRelease } from '#domain/releases/channel-map.ts';
import type { RevisionForDevices } from '#records/revisions/revisions.ts';
import { isPinned } from './validation-set-pins.ts';

/** The releases that exist for the caller. */
export const visibleReleases = <Held extends Pick<SlotRelease, 'channel'>>(
  held: readonly Held[],
  { coversChannel }: SnapReach,
): readonly Held[] => (coversChannel === undefined ? held : held.filter(({ channel }) => coversChannel(channel)));

/** Whether a revision was ever released to a channel that exists for the caller. */
export const wasReleasedFor = async (
  { coversChannel }: SnapReach,
  { packageId, revision, status }: RevisionForDevices,
  { pastReleases }: Pick<HandlerRecords, 'pastReleases'>,
): Promise<boolean> =>
  status === 'released' &&
  (coversChannel === undefined || (await pastReleases.hasHeld(packageId, revision, coversChannel)));

/**
 * The revision of this number, if it exists for the caller. A revision that was never released stays hidden, also from guessing, unless a
 * validation set names it or the caller sees all revisions. A device that knows a formerly released revision can still download it.
 */
export async function findVisibleRevision(
  { snap: { id }, reach }: VisibleSnap,
  number: number,
  records: Pick<HandlerRecords, 'assertions' | 'pastReleases' | 'revisions'>,
): Promise<RevisionForDevices | undefined> {
  const revision = await records.revisions.forDevices(id, number);
  if (revision === undefined || reach.unreleased || (await wasReleasedFor(reach, revision, records))) return revision;
  return reach.coversChannel === undefined && (await isPinned(id, number, records)) ? revision : undefined;
}
