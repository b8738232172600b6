// The folder that is watched for transfers: what lies there is taken in, and let in where that may be without people.
import { itself } from '#acts/act.ts';
import { readTrusted } from '#assertions/trusted.ts';
import { seconds } from '#domain/clock.ts';
import type { Job } from '#jobs/runner.ts';
import { createReviewer } from '#review/reviewer.ts';
import { startWorker } from '#src/embedded.ts';
import { acceptAutomatically } from '#transfers/automatic.ts';
import type { OpenPart } from '#transfers/form/read.ts';
import { receive } from '#transfers/receive.ts';
import { siteOf } from '#transfers/site.ts';
import { watchFolder } from '#transfers/watching.ts';
import type { Current } from './settings.ts';
import type { Storage } from './storage.ts';
import { credentialsOf, reviewsOf } from './taking-in.ts';

type Watched = Pick<Storage, 'store' | 'blobs' | 'digests' | 'health'>;

export function watchingJob(storage: Watched, current: Current, signal: AbortSignal): Job {
  let problem: string | undefined;
  // With a file that is none in a folder of others, all can be well here.
  storage.health.watch('transfers', () => problem, 'notice');
  const look = watchFolder({
    folder: () => current().config.transfers.watch,
    take: (parts) => takeIn(parts, storage, current, signal),
    report: (told) => {
      problem = told;
    },
    signal,
  });
  return {
    ...{ name: 'watch-transfers', every: seconds(30), inDoubt: 'waits' },
    async run() {
      try {
        return await look();
      } catch (error) {
        // What was ended goes on after the next start.
        if (signal.aborted) return {};
        throw error;
      }
    },
  };
}

async function takeIn(
  parts: readonly OpenPart[],
  { store, blobs, digests }: Watched,
  current: Current,
  signal: AbortSignal,
): Promise<void> {
  const { records, acts, newId, directory, siteKey, now } = store;
  const { config } = current();
  const here = { site: (await siteOf(records, siteKey))?.name, labels: config.site };
  const doing = { records, acts, by: itself, blobs, now, directory, ...here };
  const reviewer = createReviewer({ startWorker: (worker) => startWorker('src/review/worker.ts', worker) });
  try {
    const { id } = await receive(parts, {
      ...doing,
      ...{ digests, newId, signal, media: undefined, largest: config.uploads.max_size },
      credentialFor: credentialsOf({ records, siteKey, newId, config }),
      findingsOf: reviewsOf({ blobs, digests, reviewer, newId }),
      progress: () => undefined,
    });
    await acceptAutomatically(id, { ...doing, roots: readTrusted(config.assertions.trusted) });
  } finally {
    await reviewer.close();
  }
}
