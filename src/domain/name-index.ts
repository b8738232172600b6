// A compact index that numbers a very large set of names in order of insertion.
import { computeDigest } from './cryptography.ts';

/** Each name is represented by its full SHA-256. With half of it, an attacker could find two names that collide. */
const length = 32;

/** Uses about fifty bytes per name, for names of any length. */
export class NameIndex {
  /** The digest of each name, by number. */
  #digests: Buffer = Buffer.alloc(64 * length);
  /**
   * A hash table with open addressing: the number of a name plus one, or 0 for an empty slot. At least half of the
   * slots are empty.
   */
  #slots = new Uint32Array(128);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the number of a name; a new name gets the next number. */
  add(name: string): number {
    const digest = digestOf(name);
    const slot = this.#slotOf(digest);
    const existing = this.#slots[slot]!;
    if (existing > 0) return existing - 1;
    if ((this.#size + 1) * length > this.#digests.length) this.#digests = Buffer.concat([this.#digests, this.#digests]);
    this.#digests.write(digest, this.#size * length, length, 'latin1');
    this.#slots[slot] = ++this.#size;
    if (this.#size * 2 > this.#slots.length) this.#spread();
    return this.#size - 1;
  }

  /** -1 if the name was not added. */
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

  /** The slot of a digest, or the empty slot where it would be inserted. */
  #slotOf(digest: string): number {
    const mask = this.#slots.length - 1;
    const first = [3, 2, 1, 0].reduce((sum, at) => (sum << 8) | digest.charCodeAt(at), 0);
    for (let slot = first & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot]! - 1;
      if (number < 0 || this.#digestAt(number) === digest) return slot;
    }
  }

  #digestAt(number: number): string {
    return this.#digests.toString('latin1', number * length, (number + 1) * length);
  }
}

/** One character per byte. A buffer outside the JavaScript heap would be freed much later. */
const digestOf = (name: string): string => computeDigest('cache', name, 'binary');
