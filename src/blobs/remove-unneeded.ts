// Removes content that no record needs.
import { after, hours } from '#domain/clock.ts';
import type { Blobs } from './blobs.ts';

/** Content received this recently may not be recorded yet. */
const grace = hours(1);

/** Removes contents, except those received again in the hour before `moment`: a record may follow. If none does, the sweep removes them. */
export async function removeUnneeded(blobs: Pick<Blobs, 'remove'>, contents: string[], moment: Date): Promise<void> {
  for (const content of contents) await blobs.remove(content, { storedBefore: after(moment, -grace) });
}
