// Lists the exports of a collector in a file in its folder: each exported file with its transfer, the person who exported it, its digest
// and its size.
import { join } from 'node:path';

import { timestamp } from '#domain/clock.ts';
import { prepareFile } from '#files/durable.ts';
import { readIfPresent } from '#files/read.ts';
import type { WrittenTransfer } from './compose.ts';

/** The person who exports, the medium and the time. */
export interface CollectorExportContext {
  exporter: string;
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

const listFile = (folder: string): string => join(folder, 'left.json');

/** Returns the exports, oldest first. */
export const collectorExports = (folder: string): CollectorExport[] =>
  JSON.parse(readIfPresent(listFile(folder)) ?? '[]') as CollectorExport[];

/** Records exports durably before the files get their names. */
export function recordExports(
  folder: string,
  { id, statement, written }: WrittenTransfer,
  { exporter, media, now }: CollectorExportContext,
): void {
  const at = timestamp(now);
  const { sequence, for: sites, parts } = statement;
  const transfer = { at, by: exporter, id, sequence, for: sites };
  const left = written.map((file): CollectorExport => ({
    ...transfer,
    ...file,
    of: parts.length,
    media: media ?? null,
  }));
  prepareFile(listFile(folder), `${JSON.stringify([...collectorExports(folder), ...left])}\n`, 0o600).place();
}
