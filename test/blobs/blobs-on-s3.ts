// What says that blobs are as good in S3 as in a folder: the promises of their door, and a transfer that is received.
//   LARDER_BLOBS=s3 node test/blobs/blobs-on-s3.ts
import { together } from '#test/fixtures/together.ts';

await together('blobs/door.test.ts', 'transfers/unpack.test.ts');
