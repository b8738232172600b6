// Memory for parts on their way, reused for the next part. Allocating each part would take time, and the uncollected
// memory would be a fifth of the process's memory while it sends large content.

export class PartMemory {
  /** Holds as many pieces as were ever lent at the same time. */
  #free: Buffer[] = [];
  /** The number of running uploads in parts. */
  #sendings = 0;

  /** Keeps pieces for the next part while `sending` runs; frees them when no upload in parts is running. */
  async during<Result>(sending: () => Promise<Result>): Promise<Result> {
    this.#sendings++;
    try {
      return await sending();
    } finally {
      if (--this.#sendings === 0) this.#free = [];
    }
  }

  /**
   * Lends a piece of `size` bytes with undefined content. After an error a connection may still use it, so it is not
   * lent again.
   */
  async lend<Result>(size: number, work: (memory: Buffer) => Promise<Result>): Promise<Result> {
    const fits = this.#free.findIndex(({ length }) => length === size);
    // A piece of another size is dropped.
    const [free] = this.#free.splice(fits, 1);
    const memory = fits >= 0 && free !== undefined ? free : Buffer.allocUnsafeSlow(size);
    const result = await work(memory);
    if (this.#sendings > 0) this.#free.push(memory);
    return result;
  }
}
