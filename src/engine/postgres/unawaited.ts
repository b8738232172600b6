// Statements that a transaction sends without waiting for their results. The server runs the statements of a connection in the order of
// their arrival. After a failed one it refuses the rest of the transaction, so a commit behind them confirms all of them. Together with
// reads that are sent together, this leaves one wait of eleven to a release in a batch (`LARDER_ONLY=engines npm run bench -- scale`).
import { isAborted } from './errors.ts';

/** Maximum of statements without a result: more of them would only take memory. */
const maxUnawaited = 64;

export class UnawaitedStatements {
  #failure: { error: unknown } | undefined;
  #last: Promise<void> | undefined;
  #count = 0;

  /** Takes a statement that was sent. Waits only if there are too many. */
  async add(sent: Promise<unknown>): Promise<void> {
    this.#count++;
    const settled = (): void => {
      this.#count--;
    };
    this.#last = sent.then(settled, (error: unknown) => {
      this.#failure ??= { error };
      settled();
    });
    if (this.#count >= maxUnawaited) await this.settle();
  }

  /** Waits for all results. Throws the error of the first statement that failed. */
  async settle(): Promise<void> {
    // Results arrive in order, so the last one is enough.
    await this.#last;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Returns the error that made the server refuse a later statement, or the error itself. */
  causeOf(error: unknown): unknown {
    return isAborted(error) && this.#failure !== undefined ? this.#failure.error : error;
  }
}
