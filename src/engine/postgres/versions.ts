// The number of the last commit of all, never older than the question: one query serves everybody who asked before it was
// sent. Whoever asks while one is under way waits for the next one, so under load the cost is shared by ever more.

export class Versions {
  readonly #read: () => Promise<number>;
  #next: Promise<number> | undefined;
  #sent: Promise<unknown> = Promise.resolve();

  constructor(read: () => Promise<number>) {
    this.#read = read;
  }

  current(): Promise<number> {
    this.#next ??= this.#sent.then(() => {
      const reading = this.#read();
      // From here on it may be older than a question.
      this.#next = undefined;
      this.#sent = reading.catch(() => undefined);
      return reading;
    });
    return this.#next;
  }
}
