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
  const streams: string[][] = [];
  let length = Infinity;
  for (const text of texts) {
    const size = Buffer.byteLength(text) + 1;
    if (length + size > streamLimit || streams.at(-1)?.length === streamCount) {
      streams.push([]);
      length = 0;
    }
    streams.at(-1)!.push(text);
    length += size;
  }
  return streams.map((some) => some.join('\n'));
}
