// Runs the tests that show that blobs are as safe in S3 as in a folder: their interface, a received transfer,
// backups, the operations that touch them, kills and full disks. LARDER_LONG=1 adds expensive ones.
//   LARDER_BLOBS=s3 node test/blobs/blobs-on-s3.ts
import { findTestFiles, runFiles } from '../runner/run-files.ts';

const isLong = process.env['LARDER_LONG'] === '1';

const patterns = [
  'blobs/door.test.ts',
  'transfers/parts/unpack.test.ts',
  'backup/complete.test.ts',
  'operations/registry/{blob-uploads,deletions,downloads,manifests,sha512,skopeo.tools}.test.ts',
  'operations/revisions/{delete-revisions,push-revision}.test.ts',
  'operations/resources/oci-image-resource-blob.test.ts',
  'operations/devices/{cached.servers,download-snap,slow-clock.tools}.test.ts',
  'jobs/images/forget-images.test.ts',
  'journeys/{full-disk,image-crash}.long.test.ts',
  // The tests on PostgreSQL and those above cover most of these: kills between two requests, and temporary local
  // copies.
  ...(isLong
    ? [
        'operations/devices/deltas/deltas.test.ts',
        'jobs/devices/make-deltas.test.ts',
        'journeys/{carry-in.long,crash.long,twice-and-killed.long,two-processes.servers}.test.ts',
      ]
    : []),
];
process.exitCode = runFiles(findTestFiles(patterns));
