// Memory for parts on their way. One is used again for the next: as much anew for each would take time to come by, and lie about until
// it is collected, a fifth of what a process has while it sends large content.

export class PartMemory {
  /** There are as many pieces as were ever lent at a time, and no more. */
  #free: Buffer[] = [];
  /** How much is sent in parts just now. */
  #sendings = 0;

  /** While this goes on pieces are kept for the next part, and none is once nothing is sent in parts any more. */
  async during<Result>(sending: () => Promise<Result>): Promise<Result> {
    this.#sendings++;
    try {
      return await sending();
    } finally {
      if (--this.#sendings === 0) this.#free = [];
    }
  }

  /** Lends a piece of so many bytes, with whatever is in it. After an error a connection may still have it, and nobody else gets it. */
  async lend<Result>(size: number, work: (memory: Buffer) => Promise<Result>): Promise<Result> {
    const fits = this.#free.findIndex(({ length }) => length === size);
    // One of another size makes room.
    const [free] = this.#free.splice(fits, 1);
    const memory = fits >= 0 && free !== undefined ? free : Buffer.allocUnsafeSlow(size);
    const result = await work(memory);
    if (this.#sendings > 0) this.#free.push(memory);
    return result;
  }
}
