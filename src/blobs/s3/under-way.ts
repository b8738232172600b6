// Stores the received bytes of an upload between two of its requests, in pieces `arriving/<id>/<from>`, so that another
// host can continue it: the temporary file is on the disk of one host.
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

import { Refusal } from '#domain/refusal.ts';
import type { UnderWay } from '../disk/receiving.ts';
import { arriving } from './arriving.ts';
import type { Bucket } from './bucket.ts';
import { asked } from './requests.ts';

const folder = 'arriving/';

/** Keys sort in the order of their bytes. */
const keyOf = (id: string, from: number): string => `${folder}${id}/${String(from).padStart(16, '0')}`;

export const underWayIn = (bucket: Bucket): UnderWay & { sweep(before: Date): Promise<number> } => ({
  async leave(id, file, from) {
    await asked(() => bucket.putFile(keyOf(id, from), file, {}, from));
  },

  async fetch(id, file, size) {
    let there = 0;
    await rm(file, { force: true });
    while (there < size) {
      const piece = await asked(() => bucket.read(keyOf(id, there)));
      if (piece === undefined || piece.found.size === 0) {
        piece?.body.destroy();
        throw new Refusal('blob-upload-unknown', 'What came of this upload is not there any more; begin a new one.');
      }
      const to = createWriteStream(file, { flags: there === 0 ? 'wx' : 'a', mode: 0o600 });
      await pipeline(arriving(bucket.requests, piece.body, piece.found.size), to);
      there += piece.found.size;
    }
  },

  forget: (id) => asked(() => removeAll(bucket, `${folder}${id}/`)),
  sweep: (before) => asked(() => removeAll(bucket, folder, before)),
});

/** Removes objects below a key that were sent before the given time; returns how many. */
async function removeAll(bucket: Bucket, begin: string, before?: Date): Promise<number> {
  let removed = 0;
  for await (const { key, modified } of bucket.list(begin)) {
    if (before !== undefined && modified >= before) continue;
    const found = await bucket.look(key);
    if (found === undefined) continue;
    await bucket.remove(key, found);
    removed++;
  }
  return removed;
}
