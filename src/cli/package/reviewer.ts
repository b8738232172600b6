// The store's own review, for commands on the host.
import { createReviewer, type Reviewer } from '#review/reviewer.ts';
import { startWorker } from '#src/embedded.ts';

/** Does work that looks into files; the worker that reads them ends with it. */
export async function withReviewer<Result>(work: (reviewer: Reviewer) => Promise<Result>): Promise<Result> {
  const reviewer = createReviewer({ startWorker: (worker) => startWorker('src/review/worker.ts', worker) });
  try {
    return await work(reviewer);
  } finally {
    await reviewer.close();
  }
}
