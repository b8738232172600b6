// What has left a collector: each file of each transfer, with who let it out, its digest and its size, in a file of its folder.
import { join } from 'node:path';

import type { Leaving } from '#acts/transfers.ts';
import { timestamp } from '#domain/clock.ts';
import { prepareFile } from '#files/durable.ts';
import { readIfThere } from '#files/read.ts';

/** Who lets it out, and on what. */
export interface LetOut {
  by: string;
  media: string | undefined;
  now: Date;
}

export interface CollectorExport {
  /** RFC 3339. */
  at: string;
  by: string;
  /** Of the transfer. */
  id: string;
  sequence: number;
  /** The sites that it is for; none where it is for any. */
  for: readonly string[];
  part: number;
  of: number;
  /** Of the file. */
  sha256: string;
  bytes: number;
  /** The medium, as whoever carries it calls it. */
  media: string | null;
}

interface Left extends Pick<CollectorExport, 'id' | 'sequence' | 'for'>, Pick<Leaving, 'files' | 'of'> {}

const listFile = (folder: string): string => join(folder, 'left.json');

/** What has left it, the oldest first. */
export const collectorExports = (folder: string): CollectorExport[] =>
  JSON.parse(readIfThere(listFile(folder)) ?? '[]') as CollectorExport[];

/** Remembers, durably, what is about to leave: before it can be carried away. */
export function rememberLeft(folder: string, { files, of, ...transfer }: Left, { by, media, now }: LetOut): void {
  const at = timestamp(now);
  const left = files.map((file): CollectorExport => ({ at, by, ...transfer, ...file, of, media: media ?? null }));
  prepareFile(listFile(folder), `${JSON.stringify([...collectorExports(folder), ...left])}\n`, 0o600).place();
}
