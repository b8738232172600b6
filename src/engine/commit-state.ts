// The state that the changes of one commit share, as the engines keep it.
import type { CommitState, Queries } from './database.ts';

interface LeftState {
  state: unknown;
  finish(queries: Queries): Promise<void>;
}

/** The state of one commit, for an engine. */
export class SharedState {
  #left: LeftState | undefined;

  /** The state for one change. Call `keep` when the change can no longer be rolled back alone. */
  forChange(): CommitState & { keep(): void } {
    let left = this.#left;
    return {
      current: () => left?.state,
      leave: (state, finish) => {
        left = { state, finish: (queries) => finish(queries, state) };
      },
      keep: () => {
        this.#left = left;
      },
    };
  }

  /** Call before the commit, in its transaction. */
  async finish(queries: Queries): Promise<void> {
    await this.#left?.finish(queries);
  }
}
