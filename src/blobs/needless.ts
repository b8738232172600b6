// Removes content of which somebody has found that no record needs it.
import { after, hours } from '#domain/clock.ts';
import type { Blobs } from './blobs.ts';

/** Content that was taken in so lately may be on its way into the records. */
const grace = hours(1);

/** Should nobody record what is left here because it came in again, the sweep finds it. */
export async function removeNeedless(blobs: Pick<Blobs, 'remove'>, contents: string[], moment: Date): Promise<void> {
  for (const content of contents) await blobs.remove(content, { storedBefore: after(moment, -grace) });
}
