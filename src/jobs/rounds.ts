// Runs rounds over pending work, one at a time, and one more if work is added during a round.

export interface RoundRunner<Result> {
  /** Processes all pending work. If a round is running, resolves at its end; another round follows. */
  run(): Promise<Result>;
  /** Like `run`, for callers that do not wait. */
  soon(): void;
  /** Resolves when no round is running. */
  idle(): Promise<void>;
}

/** `failed` receives the error of a round that no caller waits for. */
export function createRoundRunner<Result>(
  round: () => Promise<Result>,
  failed: (error: unknown) => void,
): RoundRunner<Result> {
  let running: Promise<Result> | undefined;
  let again = false;

  function run(): Promise<Result> {
    again = running !== undefined;
    running ??= round().finally(() => {
      running = undefined;
      if (again) soon();
    });
    return running;
  }

  function soon(): void {
    run().catch(failed);
  }

  return {
    run,
    soon,
    async idle() {
      while (running !== undefined) await running.catch(() => undefined);
    },
  };
}

/** Processes all pages. Each page starts after the last item of the previous page. */
export async function forEachPageItem<One>(
  page: (after: One | undefined) => Promise<readonly One[]>,
  size: number,
  work: (item: One) => Promise<void>,
): Promise<void> {
  for (let after: One | undefined; ;) {
    const items = await page(after);
    for (const item of items) await work(item);
    after = items.at(-1);
    if (after === undefined || items.length < size) return;
  }
}
