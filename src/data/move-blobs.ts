// All blobs of a store from one place to another. What is at the new place already, whole, is not sent again, so what was
// interrupted goes on; and nothing is taken away from the old one.
import { oneByOne, type Blobs } from '#blobs/blobs.ts';
import { bucketAddress, placeOf } from '#blobs/s3/address.ts';
import type { Config } from '#src/config.ts';
import { withBlobs } from './blobs.ts';
import type { Store } from './store.ts';

export interface BlobsMoving {
  from: Pick<Blobs, 'list' | 'open'>;
  to: Pick<Blobs, 'stat' | 'prove' | 'receive'>;
  newId: () => string;
  /** Told how many bytes are there; what it throws ends it. */
  progress: (done: number, total: number) => void;
}

export interface BlobsMoved {
  blobs: number;
  bytes: number;
  /** How many of them were there already. */
  known: number;
}

/** A blob that cannot be moved as it is; the message is for a person. */
export class DamagedBlob extends Error {}

/** Where blobs are, in words for a person. */
export const nameOfBlobs = ({ s3 }: Config['blobs']): string =>
  s3 === undefined ? 'blobs/' : placeOf(bucketAddress(s3));

/** Copies those of a stopped store to where another configuration says that they are. */
export const moveBlobs = (
  store: Store,
  blobs: Config['blobs'],
  progress: BlobsMoving['progress'],
): Promise<BlobsMoved> =>
  withBlobs(store, ({ blobs: from }) =>
    withBlobs(
      { ...store, config: { ...store.config, blobs } },
      ({ blobs: to }) => copyBlobs({ from, to, newId: () => store.newId.uuid(), progress }),
      { movesIn: true },
    ),
  );

/** Copies them, each held against its digest as it comes in, and looks that all are there in the end. */
export async function copyBlobs({ from, to, newId, progress }: BlobsMoving): Promise<BlobsMoved> {
  const all = new Map<string, number>();
  for await (const { sha3_384, size } of from.list()) all.set(sha3_384, size);
  const bytes = [...all.values()].reduce((sum, size) => sum + size, 0);
  let [done, known] = [0, 0];
  for (const [sha3_384, size] of all) {
    if ((await to.stat(sha3_384))?.size === size && (await to.prove(sha3_384))) known++;
    else await copyBlob({ from, to, newId }, sha3_384, size);
    progress((done += size), bytes);
  }
  for (const [sha3_384, size] of all) {
    if ((await to.stat(sha3_384))?.size !== size) throw new Error(`the blob ${sha3_384} did not arrive`);
  }
  return { blobs: all.size, bytes, known };
}

async function copyBlob(
  { from, to, newId }: Pick<BlobsMoving, 'from' | 'to' | 'newId'>,
  sha3_384: string,
  size: number,
): Promise<void> {
  const damaged = (cause?: unknown): DamagedBlob =>
    new DamagedBlob(`the blob ${sha3_384} is not as it was written; 'larder verify' tells whose it is`, { cause });
  const opened = await from.open(sha3_384);
  if (opened === undefined) throw damaged();
  let failed: unknown;
  opened.stream.once('error', (error) => (failed = error));
  const accept = (taken: { sha3_384: string }): void => {
    if (taken.sha3_384 !== sha3_384) throw damaged();
  };
  try {
    await to.receive(oneByOne(opened.stream), { id: newId(), limit: size, expected: size, accept });
  } catch (error) {
    throw failed === undefined ? error : damaged(failed);
  } finally {
    opened.stream.destroy();
  }
}
