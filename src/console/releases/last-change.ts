// The last change of a package's channels, and the releases that undo it.
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, joined, nothing, type Html } from '#http/pages/html.ts';
import type { PushReleasesRequest } from '#contract/wire.ts';
import { after, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { time } from '../parts/values.ts';
import { readActorNames } from '../packages/actor-names.ts';
import { releaseAddress } from './release-matrix.ts';

/** The maximum number of slots of one change that can be undone. */
const maxSlots = 400;

type PastReleases = Awaited<ReturnType<HandlerRecords['pastReleases']['newest']>>;

/** The slots of the last change, in the order of the request; empty if there was none, or if it is too large. */
async function readLastChange(
  { pastReleases }: Pick<HandlerRecords, 'pastReleases'>,
  { id }: Pick<PublishedPackage, 'id'>,
): Promise<PastReleases> {
  const rows = await pastReleases.newest(id, Number.MAX_SAFE_INTEGER, maxSlots + 1);
  const [last] = rows;
  const change = rows.filter((row) => row.releasedAt === last?.releasedAt && row.releasedBy === last.releasedBy);
  return change.length > maxSlots ? [] : change.reverse();
}

/** The last change in a sentence, with a link to the preview that undoes it. */
export async function renderLastChange(
  records: Pick<HandlerRecords, 'pastReleases' | 'accounts'>,
  subject: PublishedPackage,
): Promise<Html> {
  const change = await readLastChange(records, subject);
  const last = change.at(-1);
  if (last === undefined) return nothing;
  const names = await readActorNames(records, [last.releasedBy]);
  const channels = [...new Set(change.map(({ channel }) => channel))];
  const revisions = [...new Set(change.flatMap(({ revision }) => revision ?? []))].sort((a, b) => a - b);
  const shown = joined(
    channels.slice(0, 3).map((name) => html`<span class="channel">${name}</span>`),
    ', ',
  );
  const places = html`${shown}${channels.length > 3 ? ` and ${String(channels.length - 3)} more` : nothing}`;
  return html`<p class="last-change">
    <span
      >Last change: ${names(last.releasedBy)}
      ${revisions.length === 0 ? html`closed ${places}` : html`released ${revisions.slice(0, 3).join(', ')} to ${places}`},
      ${time(last.releasedAt)}.</span
    >
    <a class="button second" href="${releaseAddress(subject, { undo: String(last.seq) })}">Undo it</a>
  </p>`;
}

/**
 * The releases that give the channels of the last change the revisions from before, at once and with their resources. Refuses if the last
 * change has another number, because the reader has seen another state.
 */
export async function readUndo(
  records: Pick<HandlerRecords, 'pastReleases'>,
  subject: PublishedPackage,
  seq: string,
): Promise<PushReleasesRequest> {
  const change = await readLastChange(records, subject);
  const last = change.at(-1);
  if (last === undefined || String(last.seq) !== seq) {
    throw new Refusal('conflict', 'The channels have changed since then. Open the page of the package again.');
  }
  const former = await records.pastReleases.heldAt(subject.id, timestamp(after(new Date(last.releasedAt), -1)));
  return [...new Set(change.map(({ channel }) => channel))].flatMap((channel) => {
    const touched = new Set(change.filter((row) => row.channel === channel).map(({ slot }) => slot));
    const held = former.filter((state) => state.channel === channel);
    const restored = held.filter(({ slot }) => touched.has(slot));
    // Only a closed channel has empty slots, so the other slots are released again.
    if (restored.length === touched.size) return toRequests(channel, restored);
    return [{ channel, revision: null }, ...toRequests(channel, held)];
  });
}

/** Releases for all devices at once, because a release with steps would not undo anything today. */
function toRequests(channel: string, held: Awaited<ReturnType<HandlerRecords['pastReleases']['heldAt']>>) {
  const byRevision = new Map(held.map((state) => [state.revision, state]));
  return [...byRevision.values()]
    .sort((a, b) => a.revision - b.revision)
    .map(({ revision, resources }) => ({
      channel,
      revision,
      progressive: { percentage: 100, paused: false },
      resources: (resources ?? []).map(({ name, revision: number }) => ({ name, revision: number })),
    }));
}
