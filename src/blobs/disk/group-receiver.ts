// Receives small contents in groups: a thread copies them, makes them durable and moves them to their paths (`npm run
// bench -- transfers`).
import { maxThreadCount, type DigestPool } from '../digests.ts';
import type { GroupedContent, GroupedResult } from '../receive-group.ts';
import type { Space } from '../space.ts';
import type { DurableFiles } from './durable.ts';

/** The maximum of one group: it becomes durable together, and is lost together if the process ends. */
const maxGroup = { contents: 32, bytes: 8 * 1024 * 1024 };
/** Each thread copies one group while another group is made durable. */
const groups = { few: maxThreadCount, most: 2 * maxThreadCount };

interface QueuedContent {
  content: GroupedContent;
  size: number;
  taken: PromiseWithResolvers<GroupedResult>;
}

export class GroupReceiver {
  readonly #parts: { files: DurableFiles; digests: Pick<DigestPool, 'take'>; room: Space; temporary: string };
  #waiting: QueuedContent[] = [];
  #bytes = 0;
  #underWay = 0;
  #isBeginning = false;

  constructor(parts: { files: DurableFiles; digests: Pick<DigestPool, 'take'>; room: Space; temporary: string }) {
    this.#parts = parts;
  }

  /**
   * Resolves when the bytes are durable and at their path; the path itself is not durable yet. Rejects if the whole
   * group failed.
   */
  take(content: GroupedContent, size: number): Promise<GroupedResult> {
    const taken = Promise.withResolvers<GroupedResult>();
    this.#waiting.push({ content, size, taken });
    this.#bytes += size;
    this.#startGroups();
    return taken.promise;
  }

  #startGroups(): void {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    // A caller with many contents requests them in one turn of the event loop.
    setImmediate(() => {
      this.#isBeginning = false;
      while (this.#mayBegin()) this.#begin(this.#next());
    });
  }

  /** Whether a group is full, or a thread would be idle. */
  #mayBegin(): boolean {
    const isFull = this.#waiting.length >= maxGroup.contents || this.#bytes >= maxGroup.bytes;
    return this.#waiting.length > 0 && this.#underWay < (isFull ? groups.most : groups.few);
  }

  #next(): QueuedContent[] {
    let bytes = 0;
    let count = 0;
    for (const { size } of this.#waiting) {
      if (count === maxGroup.contents || (count > 0 && bytes + size > maxGroup.bytes)) break;
      bytes += size;
      count += 1;
    }
    this.#bytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  #begin(group: readonly QueuedContent[]): void {
    this.#underWay += 1;
    this.#receive(group)
      .then(
        (results) => results.forEach((result, at) => group[at]!.taken.resolve(result)),
        (error: unknown) => group.forEach(({ taken }) => taken.reject(error)),
      )
      .finally(() => {
        this.#underWay -= 1;
        this.#startGroups();
      });
  }

  async #receive(group: readonly QueuedContent[]): Promise<GroupedResult[]> {
    const { files, digests, room, temporary } = this.#parts;
    const bytes = group.reduce((sum, { size }) => sum + size, 0);
    const claim = await room.claim(bytes);
    try {
      const direct = await files.supportsDirect(temporary);
      const contents = group.map(({ content }) => content);
      const results = await digests.take(contents, { direct, time: files.time() });
      await claim.wrote(bytes);
      return results;
    } finally {
      await claim.release();
    }
  }
}
