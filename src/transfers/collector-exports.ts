// Lists the exports of a collector in a file in its folder: each exported file with its transfer, the person who exported it, its digest
// and its size.
import { join } from 'node:path';

import type { Leaving } from '#acts/transfers.ts';
import { timestamp } from '#domain/clock.ts';
import { prepareFile } from '#files/durable.ts';
import { readIfThere } from '#files/read.ts';

/** The person who exports, the medium and the time. */
export interface LetOut {
  by: string;
  media: string | undefined;
  now: Date;
}

export interface CollectorExport {
  /** RFC 3339. */
  at: string;
  by: string;
  /** Id of the transfer. */
  id: string;
  sequence: number;
  /** Target sites; empty for any site. */
  for: readonly string[];
  part: number;
  of: number;
  /** Digest of the file. */
  sha256: string;
  bytes: number;
  /** Name of the medium, as given by the person who carries it. */
  media: string | null;
}

interface Left extends Pick<CollectorExport, 'id' | 'sequence' | 'for'>, Pick<Leaving, 'files' | 'of'> {}

const listFile = (folder: string): string => join(folder, 'left.json');

/** Returns the exports, oldest first. */
export const collectorExports = (folder: string): CollectorExport[] =>
  JSON.parse(readIfThere(listFile(folder)) ?? '[]') as CollectorExport[];

/** Records exports durably before the files get their names. */
export function rememberLeft(folder: string, { files, of, ...transfer }: Left, { by, media, now }: LetOut): void {
  const at = timestamp(now);
  const left = files.map((file): CollectorExport => ({ at, by, ...transfer, ...file, of, media: media ?? null }));
  prepareFile(listFile(folder), `${JSON.stringify([...collectorExports(folder), ...left])}\n`, 0o600).place();
}
