// Rounds over all that waits for something: one at a time, and one more where something came while it was under way.

export interface Rounds<Result> {
  /** Goes over all that waits; with a round that is under way, its end. */
  run(): Promise<Result>;
  /** The same for whoever does not wait for it. */
  soon(): void;
  /** Resolves when none is under way. */
  idle(): Promise<void>;
}

/** `failed` is told why a round failed that nobody waits for. */
export function rounds<Result>(round: () => Promise<Result>, failed: (error: unknown) => void): Rounds<Result> {
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

/** Goes over all pages, each of which begins behind the last one of the page before. */
export async function overPages<One>(
  page: (after: One | undefined) => Promise<readonly One[]>,
  size: number,
  work: (one: One) => Promise<void>,
): Promise<void> {
  for (let after: One | undefined; ;) {
    const found = await page(after);
    for (const one of found) await work(one);
    after = found.at(-1);
    if (after === undefined || found.length < size) return;
  }
}
