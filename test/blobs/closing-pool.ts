// Releases a file while the pool is being closed, like an upload that breaks off while the store stops, and continues.
import { createDigestPool } from '#blobs/digests.ts';
import { startDigestWorker } from './store.ts';

const pool = createDigestPool(startDigestWorker, 1);
const file = pool.follow(process.argv[2] ?? '', ['sha256']);
await file.grown(5);
const closing = pool.close();
file.abandon();
await closing;
console.log('closed');
