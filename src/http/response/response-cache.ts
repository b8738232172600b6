// The response cache: responses, or parts of them, that are sent again until their records change.
//
// Key          everything except the records that the value depends on: texts, and objects by their identity. A principal is another
//              object after any change of its account or token, so a response to one account is never found for another.
// Generation   an object of `records.cacheGenerations`, read before the records of the value: a commit in between starts the next one.
// Invalidation another generation drops everything: any process changed one of its tables, the store was reloaded or unsealed, or the
//              clock is in doubt.
// Bound        bytes of keys and values; a value beyond it drops everything before it.

/** A key. All parts of it must be the same for a hit. */
export type ResponseKey = readonly (string | object)[];

export interface ResponseCacheOptions<Value> {
  maxBytes: number;
  /** The bytes of a value. */
  sizeOf: (value: Value) => number;
}

export class ResponseCache<Value> {
  readonly #options: ResponseCacheOptions<Value>;
  #generation: object | undefined;
  #responses: CachedResponses<Value>;

  constructor(options: ResponseCacheOptions<Value>) {
    this.#options = options;
    this.#responses = new CachedResponses(options);
  }

  /** The responses of a generation; drops those of any other. A value that is set in dropped responses is lost. */
  in(generation: object): CachedResponses<Value> {
    if (generation !== this.#generation) {
      this.#generation = generation;
      this.#responses = new CachedResponses(this.#options);
    }
    return this.#responses;
  }
}

/** The values below one part of a key. */
class Branch<Value> {
  value: Value | undefined = undefined;
  /** The promise of the value while it is computed. */
  making: Promise<Value> | undefined = undefined;
  branches: Map<string | object, Branch<Value>> | undefined = undefined;
}

/** Bytes of a branch, in addition to the text of its part of the key. */
const branchBytes = 200;

/** The responses of one generation. */
export class CachedResponses<Value> {
  readonly #options: ResponseCacheOptions<Value>;
  #size = 0;
  #root = new Branch<Value>();

  constructor(options: ResponseCacheOptions<Value>) {
    this.#options = options;
  }

  get(key: ResponseKey): Value | undefined {
    let branch: Branch<Value> | undefined = this.#root;
    for (const part of key) {
      branch = branch.branches?.get(part);
      if (branch === undefined) return undefined;
    }
    return branch.value;
  }

  set(key: ResponseKey, value: Value): Value {
    const { maxBytes, sizeOf } = this.#options;
    for (let attempt = 0; attempt < 2; attempt++) {
      this.#branch(key).value = value;
      this.#size += sizeOf(value);
      if (this.#size <= maxBytes) return value;
      [this.#root, this.#size] = [new Branch(), 0];
    }
    return value;
  }

  /** Returns the cached value, or makes it once for all callers that ask for it now. */
  async share(key: ResponseKey, make: () => Promise<Value>): Promise<Value> {
    const branch = this.#branch(key);
    if (branch.value !== undefined) return branch.value;
    try {
      return this.set(key, await (branch.making ??= make()));
    } finally {
      branch.making = undefined;
    }
  }

  /** The branch of a key; created on first use. */
  #branch(key: ResponseKey): Branch<Value> {
    let branch = this.#root;
    for (const part of key) {
      branch.branches ??= new Map();
      let next = branch.branches.get(part);
      if (next === undefined) {
        branch.branches.set(part, (next = new Branch()));
        this.#size += branchBytes + (typeof part === 'string' ? part.length : 0);
      }
      branch = next;
    }
    return branch;
  }
}
