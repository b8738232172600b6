// Divides a common amount, such as the space of one disk, between processes: each holds a share, a bit larger than it
// needs, so that it rarely has to ask.

/** The amount that a process holds of something that processes share, such as the space of a disk. */
export interface HeldShare {
  name: string;
  amount: number;
}

/** The shares as seen by one process. */
export interface Shares {
  /** The shares of the other processes, of all things. */
  others(): Promise<HeldShare[]>;
  /**
   * Sets the share of this process to the result of `decide`, which gets the total of the other processes, and returns
   * it. No other process decides until the share is durable. `decide` must be synchronous.
   */
  hold(name: string, decide: (others: number) => number): Promise<number>;
  /** Releases all shares of this process. */
  end(): Promise<void>;
}

/** The shares of a process that is the only one. */
export const soleProcessShares: Shares = {
  others: () => Promise.resolve([]),
  hold: (_, decide) => Promise.resolve(decide(0)),
  end: () => Promise.resolve(),
};

/** How much of something the other processes hold. */
export const sumHeld = (held: readonly HeldShare[], name: string): number =>
  held.reduce((sum, share) => (share.name === name ? sum + share.amount : sum), 0);
