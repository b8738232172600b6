// Receives transfers with the reviews and credentials of the store, for people and for the watched folder.
import type { Actor } from '#acts/act.ts';
import { createImageReading, createPullCredentials, createTransferReview } from '#appliance/transfer-reviews.ts';
import { readTrusted } from '#assertions/trusted-roots.ts';
import type { OpenBlobs } from '#data/blobs.ts';
import type { Reviewer } from '#review/reviewer.ts';
import { acceptAutomatically } from '#transfers/accept/automatic.ts';
import { acceptanceContextOf } from '#transfers/accept/desk.ts';
import type { StoreHandle } from '#data/store.ts';
import type { OpenStore } from '../frame/store.ts';

export interface ReceptionMeans extends Pick<OpenBlobs, 'blobs' | 'digests'> {
  reviewer: Reviewer;
  signal: AbortSignal;
}

/** The parts of a reception that follow from the store. */
export async function receptionContextOf(store: StoreHandle, { blobs, digests, reviewer, signal }: ReceptionMeans) {
  const { records, newId, now, config } = store;
  return {
    ...(await acceptanceContextOf(store)),
    records,
    newId,
    now,
    blobs,
    digests,
    signal,
    largest: config.uploads.max_size,
    credentialFor: createPullCredentials(store),
    findingsOf: createTransferReview({ blobs, digests, reviewer, newId, signal }),
    imageBillOf: createImageReading({ blobs, reviewer, signal }),
  };
}

/** Accepts a received transfer without a person, if its source and the approval policy allow that. */
export async function acceptIfAutomatic(
  id: string,
  { store, ...context }: Pick<OpenBlobs, 'blobs'> & { store: OpenStore; actor: Actor },
): ReturnType<typeof acceptAutomatically> {
  const { records, now, config } = store;
  const roots = readTrusted(config.assertions.trusted);
  return acceptAutomatically(id, { ...(await acceptanceContextOf(store)), ...context, records, now, roots });
}
