// A map with a maximum size, for caches.

/** Holds at most a given number of entries. When it is full, a new entry replaces the least recently set one. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number;

  constructor(maxSize: number) {
    super();
    this.#most = maxSize;
  }

  /** Sets an entry and makes it the newest. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    for (const oldest of this.keys()) {
      if (this.size < this.#most) break;
      this.delete(oldest);
    }
    return super.set(key, value);
  }
}
