// Assertions of which there may be very many, by their names and in the order in which they came: their texts lie aside, and
// each is read whenever it is asked for.
import { hash } from 'node:crypto';

import { NameIndex } from '#domain/name-index.ts';
import type { Sequence } from '#domain/sequence.ts';
import type { Spool } from '#files/spool.ts';
import { joined, parseAssertion, type Assertion } from './assertion.ts';
import { nameOf } from './types.ts';

/** What is found by name. */
export interface AssertionsByName {
  get(name: string): Assertion | undefined;
  ofType(type: string): Iterable<Assertion>;
}

/** Some of many, in an order of their own. */
export interface Picked extends Sequence<Assertion> {
  readonly of: SpooledAssertions;
  readonly numbers: readonly number[];
}

/** So many that were asked for last are read no second time: keys and accounts, which much rests on. */
const remembered = 64;
/** What is known of each: the SHA-256 of its text, where that begins and how long it is, its revision, and the number of its type. */
const row = { digest: 0, begin: 32, revision: 40, length: 48, type: 52, size: 56 };

export class SpooledAssertions implements AssertionsByName, Sequence<Assertion> {
  readonly #spool: Spool;
  readonly #names = new NameIndex();
  #rows: Buffer = Buffer.alloc(16 * row.size);
  readonly #types: string[] = [];
  readonly #recent = new Map<number, Assertion>();

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  get length(): number {
    return this.#names.size;
  }

  /** Adds one; an older revision of one that is here already adds nothing, and of two in the same revision the first stays. */
  add(assertion: Assertion): void {
    const before = this.length;
    const number = this.#names.add(nameOf(assertion));
    if (number < before && this.revisionAt(number) >= assertion.revision) return;
    if ((number + 1) * row.size > this.#rows.length)
      this.#rows = Buffer.concat([this.#rows, Buffer.alloc(this.#rows.length)]);
    const text = joined(assertion);
    const at = number * row.size;
    this.#rows.write(hash('sha256', text, 'binary'), at + row.digest, 'latin1');
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
    const found = this.at(number)!;
    if (nameOf(found) !== name) throw new Error(`cannot find ${name}: another one lies in its place`);
    return found;
  }

  /** By which `at` gives it; -1 where there is none of the name. */
  numberOf(name: string): number {
    return this.#names.numberOf(name);
  }

  /** The same assertion as was added: what lies there is held against its digest. */
  at(number: number): Assertion | undefined {
    if (number < 0 || number >= this.length) return undefined;
    const recent = this.#recent.get(number);
    if (recent !== undefined) {
      this.#remember(number, recent);
      return recent;
    }
    const at = number * row.size;
    const text = this.#spool.read(this.#rows.readDoubleLE(at + row.begin), this.#rows.readUInt32LE(at + row.length));
    if (hash('sha256', text, 'binary') !== this.#rows.toString('latin1', at, at + row.begin))
      throw new Error('cannot read an assertion that was put aside: it is not what it was');
    const assertion = parseAssertion(text);
    this.#remember(number, assertion);
    return assertion;
  }

  /** The revision of the one of this number, without reading it. */
  revisionAt(number: number): number {
    return this.#rows.readDoubleLE(number * row.size + row.revision);
  }

  *ofType(type: string): Generator<Assertion, undefined> {
    const wanted = this.#types.indexOf(type);
    for (let number = 0; wanted >= 0 && number < this.length; number++) {
      if (this.#rows.readUInt32LE(number * row.size + row.type) === wanted) yield this.at(number)!;
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

  /** Those of these numbers, which may become more. */
  pick(numbers: readonly number[]): Picked {
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

  /** Others, whose texts lie beside these. */
  beside(): SpooledAssertions {
    return new SpooledAssertions(this.#spool);
  }

  #typeOf(type: string): number {
    const known = this.#types.indexOf(type);
    return known < 0 ? this.#types.push(type) - 1 : known;
  }

  #remember(number: number, assertion: Assertion): void {
    this.#recent.delete(number);
    this.#recent.set(number, assertion);
    if (this.#recent.size > remembered) this.#recent.delete(this.#recent.keys().next().value!);
  }
}
