// What a slot of a channel holds, in the words that previews, proposals, receipts, the audit log and the release history share.
// Whatever a release gives to devices is in them: a member that is missing here would change without approval.
import { isProgressive, type Progress } from './channel-map.ts';

/** One release as it is described. */
export interface DescribedRelease {
  revision: number;
  /** Resources of a charm or components of a snap; null stands for no file. */
  resources: readonly { name: string; revision: number | null }[];
  progressive: Progress;
  /** RFC 3339; null if it does not end. */
  expiresAt: string | null;
  /** Days until it ends, counted from the release: for one that is not made yet. */
  lifeDays?: number | undefined;
}

/** Describes what a slot holds: `7`, or `7, and 8 with words 2 for 20 %, paused`; null if it is empty. */
export function slotText(held: readonly DescribedRelease[]): string | null {
  return held.length === 0 ? null : [...held].sort(byReach).map(releaseText).join(', and ');
}

const byReach = (one: DescribedRelease, other: DescribedRelease): number =>
  Number(isProgressive(one.progressive)) - Number(isProgressive(other.progressive));

/** Describes one release: `8 with words 2 for 20 %, paused, until 2026-12-01T00:00:00Z`. */
export function releaseText({ revision, resources, progressive, expiresAt, lifeDays }: DescribedRelease): string {
  const named = [...resources]
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, revision: number }) => `${name} ${number === null ? 'none' : String(number)}`);
  const { percentage, paused } = progressive;
  return [
    String(revision),
    ...(named.length === 0 ? [] : [` with ${named.join(', ')}`]),
    ...(percentage === null ? [] : [` for ${String(percentage)} %${paused === true ? ', paused' : ''}`]),
    ...(lifeDays !== undefined ? [`, ends after ${String(lifeDays)} days`] : []),
    ...(lifeDays === undefined && expiresAt !== null ? [`, until ${expiresAt}`] : []),
  ].join('');
}

/** A release as the history keeps it. */
interface DescribedPast {
  /** Null if the slot was emptied. */
  revision: number | null;
  percentage: number | null;
  paused: boolean | null;
  /** Null if they were not kept. */
  resources: DescribedRelease['resources'] | null;
  expiresAt: string | null;
}

/** Describes a release of the history as it was described when it was made; null if it emptied the slot. */
export const pastReleaseText = ({
  revision,
  percentage,
  paused,
  resources,
  expiresAt,
}: DescribedPast): string | null =>
  revision === null
    ? null
    : releaseText({ revision, resources: resources ?? [], progressive: { percentage, paused }, expiresAt });
