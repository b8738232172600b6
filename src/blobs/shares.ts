// What several processes have together, such as the space of one disk: each holds a share of it, which is a bit more than
// it needs, so that it asks seldom.

/** What is held of things by name. */
export interface Held {
  name: string;
  amount: number;
}

/** The shares as one of the processes sees them. */
export interface Shares {
  /** What the others hold, of all things. */
  others(): Promise<Held[]>;
  /**
   * Holds as much of something as `decide` says, told how much of it the others hold, and gives that back. Until it is
   * held durably nobody else decides; `decide` answers at once.
   */
  hold(name: string, decide: (others: number) => number): Promise<number>;
  /** Gives everything back. */
  end(): Promise<void>;
}

/** The shares of a process that is the only one. */
export const onlyOne: Shares = {
  others: () => Promise.resolve([]),
  hold: (_, decide) => Promise.resolve(decide(0)),
  end: () => Promise.resolve(),
};

/** How much of something the others hold. */
export const heldOf = (held: readonly Held[], name: string): number =>
  held.reduce((sum, share) => (share.name === name ? sum + share.amount : sum), 0);
