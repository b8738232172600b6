// Collects assertions from many files and keeps the newest revision of each, with its prerequisites.
import { joined, type Assertion } from './format/assertion.ts';
import { inOrder } from './prerequisites.ts';
import { nameOf } from './format/types.ts';

interface PooledAssertion {
  assertion: Assertion;
  file: string;
}

export class AssertionPool {
  readonly #entries = new Map<string, PooledAssertion>();
  readonly #revisionsOf = new Map<string, Assertion[]>();

  /**
   * Adds an assertion of a file; ignores it if the same or a newer revision is present. If another file has a different text of the same
   * revision, keeps the first and returns the name of that file.
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
      const others = this.#revisionsOf.get(digest)?.filter((existing) => nameOf(existing) !== name) ?? [];
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

  /** Returns the snap-revisions about a file, one per provenance. `sha3_384` is in hexadecimal. */
  revisionsOf(sha3_384: string): readonly Assertion[] {
    return this.#revisionsOf.get(Buffer.from(sha3_384, 'hex').toString('base64url')) ?? [];
  }

  /** Returns the file that contains an assertion of the pool. */
  fileOf(assertion: Assertion): string {
    const entry = this.#entries.get(nameOf(assertion));
    if (entry === undefined) throw new Error(`cannot find ${nameOf(assertion)} in the pool`);
    return entry.file;
  }

  /** Returns an assertion after its prerequisites in the pool. Each prerequisite comes before the assertions that need it. */
  withPrerequisites(assertion: Assertion): Assertion[] {
    return inOrder(assertion, (name) => this.find(name));
  }
}
