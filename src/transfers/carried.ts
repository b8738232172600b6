// What is said of everything that is carried, wherever it comes from.
import { streamCount, streamLimit } from '#assertions/assertion.ts';

export const anyBytes = 'application/octet-stream';

/** The media types of packages, by their types. */
export const mediaTypes: Readonly<Record<string, string>> = {
  snap: 'application/vnd.snap',
  charm: 'application/zip',
  bundle: 'application/zip',
  rock: 'application/x-tar',
};

/** Texts of assertions one behind the other, in streams that are no longer than one that is read as a whole. */
export function inStreams(texts: readonly string[]): string[] {
  const streams = new Streams();
  const whole = texts.flatMap((text) => streams.add(text) ?? []);
  const last = streams.end();
  return last === undefined ? whole : [...whole, last];
}

/** The same of texts that come one by one: a stream is given when the next text goes into another one. */
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

  /** What has not been given yet; nothing where there is none. */
  end(): string | undefined {
    const texts = this.#texts;
    [this.#texts, this.#length] = [[], 0];
    return texts.length === 0 ? undefined : texts.join('\n');
  }
}
