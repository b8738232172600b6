// What says that blobs are as good in S3 as in a folder: the promises of their door, a transfer that is received, backups, the
// operations that touch them, and what is killed or finds no room. What is dear for what it tells goes with LARDER_LONG=1.
//   LARDER_BLOBS=s3 node test/blobs/blobs-on-s3.ts
import { together } from '#test/fixtures/together.ts';

const long = process.env['LARDER_LONG'] === '1';

await together(
  // It starts its store while it is loaded, when no test has ended yet; several hosts on S3 take turns in test/hosts/ anyway.
  ...(long ? ['journeys/two-processes.test.ts'] : []),
  'blobs/door.test.ts',
  'transfers/unpack.test.ts',
  'backup/complete.test.ts',
  'operations/registry/{blob-uploads,deletions,downloads,manifests,sha512,skopeo}.test.ts',
  'operations/revisions/{delete-revisions,push-revision}.test.ts',
  'operations/resources/oci-image-resource-blob.test.ts',
  'operations/devices/{cached,download-snap,slow-clock}.test.ts',
  'jobs/forget-images.test.ts',
  'journeys/{full-disk,image-crash}.test.ts',
  // Of these PostgreSQL's steps and those above tell most: kills between two requests, and files that are lent.
  ...(long
    ? [
        'operations/devices/deltas.test.ts',
        'jobs/make-deltas.test.ts',
        'journeys/{carry-in,crash,twice-and-killed}.test.ts',
      ]
    : []),
);
