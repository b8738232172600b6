// The state that the changes of one commit share, as the engines keep it.
import type { CommitState, Queries } from './database.ts';

interface LeftState {
  state: unknown;
  finish(queries: Queries): Promise<void>;
}

/** The state of one commit, for an engine. */
export class SharedState {
  #left: LeftState | undefined;
  #recalled = new Map<object, Promise<unknown>>();

  /** The state for one change. Call `keep` when the change can no longer be rolled back alone. */
  forChange(): CommitState & { keep(): void } {
    let left = this.#left;
    let recalled = this.#recalled;
    return {
      current: () => left?.state,
      recall<Result>(key: object, read: () => Promise<Result>): Promise<Result> {
        let result = recalled.get(key) as Promise<Result> | undefined;
        if (result === undefined) {
          result = read();
          recalled.set(key, result);
          result.catch(() => recalled.delete(key));
        }
        return result;
      },
      // In a copy, because the change may still be rolled back, and with it the reason to forget.
      forget(key) {
        recalled = new Map(recalled);
        recalled.delete(key);
      },
      leave: (state, finish) => {
        left = { state, finish: (queries) => finish(queries, state) };
      },
      keep: () => {
        this.#left = left;
        this.#recalled = recalled;
      },
    };
  }

  /** Call before the commit, in its transaction. */
  async finish(queries: Queries): Promise<void> {
    await this.#left?.finish(queries);
  }
}
