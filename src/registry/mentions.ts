// Finds which images the resources name: reads each content that was pushed as a resource once.
import type { Readable } from 'node:stream';

import { itself, type Acts } from '#acts/act.ts';
import { readImageResources } from '#acts/images/unneeded-images.ts';
import type { StoreRecords } from '#records/index.ts';

/** A resource that a deployment reads has some hundred bytes. */
const maxContentBytes = 64 * 1024;
const batchSize = 500;

/** Reads contents. */
export interface RegistryContentReader {
  open(sha3_384: string): Promise<{ stream: Readable } | undefined>;
}

/** Reads a content as text; undefined if it is missing or corrupt, which the scrub reports. */
export async function readContentText(contents: RegistryContentReader, sha3_384: string): Promise<string | undefined> {
  const content = await contents.open(sha3_384);
  if (content === undefined) return undefined;
  try {
    return Buffer.concat(await Array.fromAsync(content.stream as AsyncIterable<Buffer>)).toString();
  } catch {
    return undefined;
  }
}

/** Records which images the contents of resources name; returns how many of the unknown contents could not be read. */
export async function readMentions(
  records: Pick<StoreRecords, 'images'>,
  acts: Acts,
  contents: RegistryContentReader,
): Promise<number> {
  const unread = await records.images.unreadContents(batchSize);
  const read: { content: string; manifest: string | null }[] = [];
  for (const { sha3_384, size } of unread) {
    const text = size > maxContentBytes ? '' : await readContentText(contents, sha3_384);
    if (text !== undefined) read.push({ content: sha3_384, manifest: mentioned(text) });
  }
  if (read.length > 0) await acts.do(readImageResources, itself, { read });
  return unread.length - read.length;
}

/** The image that a text names as `…@sha256:…`, regardless of the rest of the text. */
const mentioned = (text: string): string | null => /@sha256:([0-9a-f]{64})(?![0-9a-f])/.exec(text)?.[1] ?? null;
