// Reviewing revisions while more of a transfer comes in: a review waits for the disk, and the threads that copy need the
// processors, so that both together take little longer than one of them (`npm run bench -- transfers`).
import { subjectOf } from '#acts/transfer-planning.ts';
import type { Statement } from '#acts/transfer-statement.ts';
import { FindingsKeeper, type Reviewing } from './reviews.ts';

/** While one is reviewed, the content of another is looked for. */
const atOnce = 2;

export class ReviewsMeanwhile {
  readonly #statement: Statement;
  readonly #reviewing: Reviewing;
  readonly #keeper: FindingsKeeper;
  /** Which packages have a revision of a content, by the beginning of its digest: a number takes little memory. */
  readonly #packages = new Map<number, number[]>();
  /** Revisions that are reviewed when those before them are: their package, and their content. */
  #waiting: { position: number; sha3_384: string }[] = [];
  /** How many of those are begun. */
  #begun = 0;
  readonly #underWay = new Set<Promise<void>>();
  #ended = false;

  constructor(statement: Statement, id: string, reviewing: Reviewing) {
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

  /** Says that a content has come that was not here before: whichever revisions it has are reviewed soon. */
  came(sha3_384: string): void {
    for (const position of this.#packages.get(keyOf(sha3_384)) ?? []) this.#waiting.push({ position, sha3_384 });
    while (this.#underWay.size < atOnce && this.#begun < this.#waiting.length) {
      const working = this.#work().finally(() => this.#underWay.delete(working));
      this.#underWay.add(working);
    }
  }

  async #work(): Promise<void> {
    while (this.#begun < this.#waiting.length) {
      const { position, sha3_384 } = this.#waiting[this.#begun++]!;
      // Whoever reviews all that is left tries it again, and says why it cannot be done.
      await this.#review(position, sha3_384).catch(() => undefined);
    }
    [this.#waiting, this.#begun] = [[], 0];
  }

  /** Begins no more, and keeps what was found. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#underWay);
    await this.#keeper.flush();
  }

  async #review(position: number, sha3_384: string): Promise<void> {
    if (this.#ended || this.#reviewing.signal.aborted) return;
    const one = this.#statement.packages.at(position)!;
    const own = one.revisions.filter(({ content }) => content['sha3-384'] === sha3_384);
    for (const { revision } of own) {
      // Its digests were computed a moment ago.
      await this.#keeper.keep(subjectOf(one.id, revision), await this.#reviewing.findingsOf(one, sha3_384));
    }
  }
}

const keyOf = (sha3_384: string): number => Number.parseInt(sha3_384.slice(0, 12), 16);
