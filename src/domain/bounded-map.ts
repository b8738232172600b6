// What is remembered so that it need not be found again, in a map that cannot grow without end.

/** Holds so many entries; with one more the one that was set the longest ago is forgotten, and no other. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  /** Sets it anew, as the newest. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    for (const oldest of this.keys()) {
      if (this.size < this.#most) break;
      this.delete(oldest);
    }
    return super.set(key, value);
  }
}
