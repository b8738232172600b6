// Stores the received bytes of an upload between two of its requests, in pieces `arriving/<id>/<from>`, so that another
// host can continue it: the temporary file is on the disk of one host.
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

import { Refusal } from '#domain/refusal.ts';
import type { UnfinishedUploadStore } from '../disk/receiver.ts';
import { readBody } from './read-body.ts';
import type { S3Bucket } from './bucket.ts';
import { runForCaller } from './requests.ts';

const folder = 'arriving/';

/** Keys sort in the order of their bytes. */
const keyOf = (id: string, from: number): string => `${folder}${id}/${String(from).padStart(16, '0')}`;

export const createUnfinishedUploads = (
  bucket: S3Bucket,
): UnfinishedUploadStore & { sweep(before: Date): Promise<number> } => ({
  async leave(id, file, from) {
    await runForCaller(() => bucket.putFile(keyOf(id, from), file, {}, { from }));
  },

  async fetch(id, file, size) {
    let fetchedBytes = 0;
    await rm(file, { force: true });
    while (fetchedBytes < size) {
      const piece = await runForCaller(() => bucket.read(keyOf(id, fetchedBytes)));
      if (piece === undefined || piece.object.size === 0) {
        piece?.body.destroy();
        throw new Refusal(
          'blob-upload-unknown',
          'The received bytes of this upload are not there any more. Start a new upload.',
        );
      }
      const to = createWriteStream(file, { flags: fetchedBytes === 0 ? 'wx' : 'a', mode: 0o600 });
      await pipeline(readBody(bucket.requests, piece.body, piece.object.size), to);
      fetchedBytes += piece.object.size;
    }
  },

  forget: (id) => runForCaller(() => removeAll(bucket, `${folder}${id}/`)),
  sweep: (before) => runForCaller(() => removeAll(bucket, folder, before)),
});

/** Removes objects below a key that were sent before the given time; returns how many. */
async function removeAll(bucket: S3Bucket, begin: string, before?: Date): Promise<number> {
  let removed = 0;
  for await (const { key, modified } of bucket.list(begin)) {
    if (before !== undefined && modified >= before) continue;
    const object = await bucket.inspect(key);
    if (object === undefined) continue;
    await bucket.remove(key, object);
    removed++;
  }
  return removed;
}
