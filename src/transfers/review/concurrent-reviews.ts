// Reviews revisions while more of a transfer is received. Reviews wait for the disk and copying needs the processors, so both together take
// little longer than one of them (`npm run bench -- transfers`).
import { subjectOf } from '#acts/transfers/findings.ts';
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import { FindingsKeeper, type TransferReviewContext } from './reviews.ts';

/** One message to the reviewer can have most of them, while the findings of the others are stored. */
const reviewConcurrency = 32;

export class ConcurrentReviews {
  readonly #statement: LazyTransferStatement;
  readonly #reviewing: TransferReviewContext;
  readonly #keeper: FindingsKeeper;
  /** The positions of the packages with a revision of a content. The key is the start of its digest as a number, to save memory. */
  readonly #packages = new Map<number, number[]>();
  /** Queue of revisions to review: position of the package, and content. */
  #waiting: { position: number; sha3_384: string }[] = [];
  /** Number of queue entries that have started. */
  #begun = 0;
  readonly #underWay = new Set<Promise<void>>();
  #ended = false;

  constructor(statement: LazyTransferStatement, id: string, reviewing: TransferReviewContext) {
    this.#statement = statement;
    this.#reviewing = reviewing;
    this.#keeper = new FindingsKeeper(statement, id, reviewing.records);
    let position = 0;
    for (const { revisions } of statement.packages) {
      for (const { content } of revisions) {
        const key = keyOf(content['sha3-384']);
        this.#packages.set(key, [...(this.#packages.get(key) ?? []), position]);
      }
      position += 1;
    }
  }

  /** Queues the revisions of a newly received content for review. */
  came(sha3_384: string): void {
    for (const position of this.#packages.get(keyOf(sha3_384)) ?? []) this.#waiting.push({ position, sha3_384 });
    while (this.#underWay.size < reviewConcurrency && this.#begun < this.#waiting.length) {
      const working = this.#work().finally(() => this.#underWay.delete(working));
      this.#underWay.add(working);
    }
  }

  async #work(): Promise<void> {
    while (this.#begun < this.#waiting.length) {
      const { position, sha3_384 } = this.#waiting[this.#begun++]!;
      // The final review of all remaining revisions tries again and reports the error.
      await this.#review(position, sha3_384).catch(() => undefined);
    }
    [this.#waiting, this.#begun] = [[], 0];
  }

  /** Starts no further reviews and stores the findings. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#underWay);
    await this.#keeper.flush();
  }

  async #review(position: number, sha3_384: string): Promise<void> {
    if (this.#ended || this.#reviewing.signal.aborted) return;
    const entry = this.#statement.packages.at(position)!;
    const own = entry.revisions.filter(({ content }) => content['sha3-384'] === sha3_384);
    for (const { revision } of own) {
      // The content was verified on receipt, so it is not hashed again.
      await this.#keeper.keep(subjectOf(entry.id, revision), await this.#reviewing.findingsOf(entry, sha3_384));
    }
  }
}

const keyOf = (sha3_384: string): number => Number.parseInt(sha3_384.slice(0, 12), 16);
