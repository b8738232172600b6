// Assertions of many files together, of which each is wanted once: in its newest revision, with all that it rests on.
import { joined, type Assertion } from './assertion.ts';
import { inOrder } from './prerequisites.ts';
import { nameOf } from './types.ts';

interface Entry {
  assertion: Assertion;
  file: string;
}

export class AssertionPool {
  readonly #entries = new Map<string, Entry>();
  readonly #revisionsOf = new Map<string, Assertion[]>();

  /**
   * Adds one of a file; an older revision of one that is here already adds nothing. Gives the file that has another text in
   * the same revision, where there is one: of the two neither can be preferred, and the first stays.
   */
  add(assertion: Assertion, file: string): string | undefined {
    const name = nameOf(assertion);
    const other = this.#entries.get(name);
    if (other !== undefined && other.assertion.revision >= assertion.revision) {
      const differs = other.assertion.revision === assertion.revision && joined(other.assertion) !== joined(assertion);
      return differs ? other.file : undefined;
    }
    this.#entries.set(name, { assertion, file });
    if (assertion.type === 'snap-revision') {
      const digest = assertion.headers['snap-sha3-384'] as string;
      const others = this.#revisionsOf.get(digest)?.filter((one) => nameOf(one) !== name) ?? [];
      this.#revisionsOf.set(digest, [...others, assertion]);
    }
    return undefined;
  }

  get all(): Assertion[] {
    return [...this.#entries.values()].map(({ assertion }) => assertion);
  }

  find(name: string): Assertion | undefined {
    return this.#entries.get(name)?.assertion;
  }

  /** The snap-revisions that speak of a file, one for each provenance. `sha3_384` is in hexadecimal. */
  revisionsOf(sha3_384: string): readonly Assertion[] {
    return this.#revisionsOf.get(Buffer.from(sha3_384, 'hex').toString('base64url')) ?? [];
  }

  /** The file from which an assertion of the pool came. */
  fileOf(assertion: Assertion): string {
    const entry = this.#entries.get(nameOf(assertion));
    if (entry === undefined) throw new Error(`cannot find ${nameOf(assertion)} in the pool`);
    return entry.file;
  }

  /** An assertion and, before it, all of the pool that it rests on; each after what it rests on itself. */
  withPrerequisites(assertion: Assertion): Assertion[] {
    return inOrder(assertion, (name) => this.find(name));
  }
}
