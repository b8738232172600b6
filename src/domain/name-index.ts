// Names of which there may be very many, numbered in the order in which they were added, in little memory.
import { hash } from 'node:crypto';

/** The SHA-256 of a name stands for it, all of it: two names that share the half of one are within reach of who wants to be taken for another. */
const length = 32;

/** Some fifty bytes for each name, however long it is. */
export class NameIndex {
  /** Of each name, by its number. */
  #digests: Buffer = Buffer.alloc(64 * length);
  /** The number of a name and one, at a place that its digest says, or behind it; as many again are empty. */
  #slots = new Uint32Array(128);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of a name, which is the next one where it is new. */
  add(name: string): number {
    const digest = digestOf(name);
    const slot = this.#slotOf(digest);
    const known = this.#slots[slot]!;
    if (known > 0) return known - 1;
    if ((this.#size + 1) * length > this.#digests.length) this.#digests = Buffer.concat([this.#digests, this.#digests]);
    this.#digests.write(digest, this.#size * length, length, 'latin1');
    this.#slots[slot] = ++this.#size;
    if (this.#size * 2 > this.#slots.length) this.#spread();
    return this.#size - 1;
  }

  /** -1 where it was not added. */
  numberOf(name: string): number {
    return this.#slots[this.#slotOf(digestOf(name))]! - 1;
  }

  has(name: string): boolean {
    return this.numberOf(name) >= 0;
  }

  #spread(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let number = 0; number < this.#size; number++) {
      this.#slots[this.#slotOf(this.#digestAt(number))] = number + 1;
    }
  }

  /** Where the digest is, or would be. */
  #slotOf(digest: string): number {
    const most = this.#slots.length - 1;
    const first = [3, 2, 1, 0].reduce((sum, at) => (sum << 8) | digest.charCodeAt(at), 0);
    for (let slot = first & most; ; slot = (slot + 1) & most) {
      const number = this.#slots[slot]! - 1;
      if (number < 0 || this.#digestAt(number) === digest) return slot;
    }
  }

  #digestAt(number: number): string {
    return this.#digests.toString('latin1', number * length, (number + 1) * length);
  }
}

/** One character for each byte: memory outside of the heap would be let go of much later than it is of no use. */
const digestOf = (name: string): string => hash('sha256', name, 'binary');
