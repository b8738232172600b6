// Provides the store's review to commands on the host.
import { createReviewer, type Reviewer } from '#review/reviewer.ts';
import { startWorker } from '#platform/embedded.ts';

/** Runs work with a reviewer; stops its worker afterwards. */
export async function withReviewer<Result>(work: (reviewer: Reviewer) => Promise<Result>): Promise<Result> {
  const reviewer = createReviewer({ startWorker: (worker) => startWorker('src/review/worker.ts', worker) });
  try {
    return await work(reviewer);
  } finally {
    await reviewer.close();
  }
}
