// Media types and assertion streams, shared by all kinds of transfers.
import { streamCount, streamLimit } from '#assertions/format/assertion.ts';

export const anyBytes = 'application/octet-stream';

/** Media types by package type. */
export const mediaTypes: Readonly<Record<string, string>> = {
  snap: 'application/vnd.snap',
  charm: 'application/zip',
  bundle: 'application/zip',
  rock: 'application/x-tar',
};

/** Joins assertion texts into streams within the size limit of a stream that is read at once. */
export function inStreams(texts: readonly string[]): string[] {
  const streams = new Streams();
  const whole = texts.flatMap((text) => streams.add(text) ?? []);
  const last = streams.end();
  return last === undefined ? whole : [...whole, last];
}

/** Like `inStreams`, for texts that arrive one by one. Returns a stream when the next text does not fit into it. */
export class Streams {
  #texts: string[] = [];
  #length = 0;

  add(text: string): string | undefined {
    const size = Buffer.byteLength(text) + 1;
    const isFull = this.#length + size > streamLimit || this.#texts.length === streamCount;
    const whole = isFull ? this.end() : undefined;
    this.#texts.push(text);
    this.#length += size;
    return whole;
  }

  /** Returns the last, unfinished stream; undefined if it is empty. */
  end(): string | undefined {
    const texts = this.#texts;
    [this.#texts, this.#length] = [[], 0];
    return texts.length === 0 ? undefined : texts.join('\n');
  }
}
