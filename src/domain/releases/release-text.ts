// The content of a slot of a channel in words, for previews, proposals, receipts, the audit log and the release
// history. The text has every property that a release gives to devices: a property missing here could change without
// approval.
import { isProgressive, type ReleaseReach } from './channel-map.ts';
import { planText, type RolloutPlan } from './rollout.ts';

/** The properties of a release in the text. */
export interface DescribedRelease {
  revision: number;
  /** Resources of a charm or components of a snap; null means no file. */
  resources: readonly { name: string; revision: number | null }[];
  progressive: ReleaseReach;
  /** The plan of the rollout that raises the percentage. */
  plan?: RolloutPlan | undefined;
  /** RFC 3339; null if it does not end. */
  expiresAt: string | null;
  /** For a release that is not made yet: days until it ends, counted from the release. */
  lifeDays?: number | undefined;
}

/** The content of a slot in words: `7`, or `7, and 8 with words 2 for 20 %, paused`; null if it is empty. */
export function slotText(held: readonly DescribedRelease[]): string | null {
  return held.length === 0 ? null : [...held].sort(byReach).map(releaseText).join(', and ');
}

const byReach = (release: DescribedRelease, other: DescribedRelease): number =>
  Number(isProgressive(release.progressive)) - Number(isProgressive(other.progressive));

/** One release in words: `8 with words 2 for 20 %, paused, until 2026-12-01T00:00:00Z`. */
export function releaseText({ revision, resources, progressive, plan, expiresAt, lifeDays }: DescribedRelease): string {
  const resourceTexts = [...resources]
    .sort((resource, other) => (resource.name < other.name ? -1 : 1))
    .map(({ name, revision: number }) => `${name} ${number === null ? 'none' : String(number)}`);
  const { percentage, paused } = progressive;
  return [
    String(revision),
    ...(resourceTexts.length === 0 ? [] : [` with ${resourceTexts.join(', ')}`]),
    ...(percentage === null ? [] : [` for ${String(percentage)} %${paused === true ? ', paused' : ''}`]),
    ...(plan === undefined ? [] : [`, ${planText(plan)}`]),
    ...(lifeDays !== undefined ? [`, ends after ${String(lifeDays)} days`] : []),
    ...(lifeDays === undefined && expiresAt !== null ? [`, until ${expiresAt}`] : []),
  ].join('');
}

/** A release in the history. */
interface DescribedPast {
  /** Null if the slot was emptied. */
  revision: number | null;
  percentage: number | null;
  paused: boolean | null;
  /** Null if they were not recorded. */
  resources: DescribedRelease['resources'] | null;
  expiresAt: string | null;
}

/** A release of the history, in the same words as when it was made; null if it emptied the slot. */
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
