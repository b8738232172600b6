// Prints the sha256 of the file it is given, and ends when nothing keeps it.
import { createDigestPool } from '#blobs/digests.ts';
import { startDigestWorker } from './store.ts';

const pool = createDigestPool(startDigestWorker);
const { sha256 } = await pool.ofFile(process.argv[2] ?? '', ['sha256']);
console.log(sha256);
