// A collection of very many assertions, by name and in order of arrival. Their texts are in a spill file and are read on demand.
import { computeDigest } from '#domain/cryptography.ts';
import { BoundedMap } from '#domain/bounded-map.ts';
import { NameIndex } from '#domain/name-index.ts';
import type { Sequence } from '#domain/sequence.ts';
import type { SpillFile } from '#files/spill-file.ts';
import { joined, parseAssertion, type Assertion } from './format/assertion.ts';
import { nameOf } from './format/types.ts';

/** Lookup of assertions by name. */
export interface AssertionsByName {
  get(name: string): Assertion | undefined;
  ofType(type: string): Iterable<Assertion>;
}

/** A selection of assertions with its own order. */
export interface AssertionSelection extends Sequence<Assertion> {
  readonly of: SpilledAssertions;
  readonly numbers: readonly number[];
}

/** Size of the cache of recently read assertions, for accounts and keys that many others depend on. */
const remembered = 64;
/** Layout of an index row: SHA-256 of the text, offset and length of the text, revision, and type number. */
const row = { digest: 0, begin: 32, revision: 40, length: 48, type: 52, size: 56 };

export class SpilledAssertions implements AssertionsByName, Sequence<Assertion> {
  readonly #spool: SpillFile;
  readonly #names = new NameIndex();
  #rows: Buffer = Buffer.alloc(16 * row.size);
  readonly #types: string[] = [];
  readonly #recent = new BoundedMap<number, Assertion>(remembered);

  constructor(spool: SpillFile) {
    this.#spool = spool;
  }

  get length(): number {
    return this.#names.size;
  }

  /** Adds an assertion; ignores it if the same or a newer revision is present. */
  add(assertion: Assertion): void {
    const before = this.length;
    const number = this.#names.add(nameOf(assertion));
    if (number < before && this.revisionAt(number) >= assertion.revision) return;
    if ((number + 1) * row.size > this.#rows.length)
      this.#rows = Buffer.concat([this.#rows, Buffer.alloc(this.#rows.length)]);
    const text = joined(assertion);
    const at = number * row.size;
    this.#rows.write(computeDigest('row', text, 'binary'), at + row.digest, 'latin1');
    const { begin, length } = this.#spool.add(text);
    this.#rows.writeDoubleLE(begin, at + row.begin);
    this.#rows.writeDoubleLE(assertion.revision, at + row.revision);
    this.#rows.writeUInt32LE(length, at + row.length);
    this.#rows.writeUInt32LE(this.#typeOf(assertion.type), at + row.type);
    this.#recent.delete(number);
  }

  get(name: string): Assertion | undefined {
    const number = this.numberOf(name);
    if (number < 0) return undefined;
    const assertion = this.at(number)!;
    if (nameOf(assertion) !== name) throw new Error(`cannot find ${name}: another assertion is in its place`);
    return assertion;
  }

  /** Returns the number of an assertion for `at`; -1 if the name is unknown. */
  numberOf(name: string): number {
    return this.#names.numberOf(name);
  }

  /** Returns the assertion of a number. Verifies the text in the spill file against its digest. */
  at(number: number): Assertion | undefined {
    if (number < 0 || number >= this.length) return undefined;
    const recent = this.#recent.get(number);
    if (recent !== undefined) {
      this.#recent.set(number, recent);
      return recent;
    }
    const at = number * row.size;
    const text = this.#spool.read(this.#rows.readDoubleLE(at + row.begin), this.#rows.readUInt32LE(at + row.length));
    if (computeDigest('row', text, 'binary') !== this.#rows.toString('latin1', at, at + row.begin))
      throw new Error('cannot read an assertion in the spill file: its digest has changed');
    const assertion = parseAssertion(text);
    this.#recent.set(number, assertion);
    return assertion;
  }

  /** Returns the revision of an assertion without reading its text. */
  revisionAt(number: number): number {
    return this.#rows.readDoubleLE(number * row.size + row.revision);
  }

  *ofType(type: string): Generator<Assertion, undefined> {
    const typeNumber = this.#types.indexOf(type);
    for (let number = 0; typeNumber >= 0 && number < this.length; number++) {
      if (this.#rows.readUInt32LE(number * row.size + row.type) === typeNumber) yield this.at(number)!;
    }
    return undefined;
  }

  *values(): Generator<Assertion, undefined> {
    for (let number = 0; number < this.length; number++) yield this.at(number)!;
    return undefined;
  }

  [Symbol.iterator](): Generator<Assertion, undefined> {
    return this.values();
  }

  /** Selects assertions by their positions in this collection. If the caller adds positions to the array later, the selection has them too. */
  pick(numbers: readonly number[]): AssertionSelection {
    const at = (index: number): Assertion | undefined => (index in numbers ? this.at(numbers[index]!) : undefined);
    const values = () => numbers.values().map((number) => this.at(number)!);
    return {
      get length() {
        return numbers.length;
      },
      of: this,
      numbers,
      at,
      values,
      [Symbol.iterator]: values,
    };
  }

  /** Creates another collection in the same spill file. */
  createSibling(): SpilledAssertions {
    return new SpilledAssertions(this.#spool);
  }

  #typeOf(type: string): number {
    const existing = this.#types.indexOf(type);
    return existing < 0 ? this.#types.push(type) - 1 : existing;
  }
}
