// What says that blobs are as good in S3 as in a folder: the promises of their door, a transfer that is received, backups, and the
// operations that touch them.
//   LARDER_BLOBS=s3 node test/blobs/blobs-on-s3.ts
import { together } from '#test/fixtures/together.ts';

await together(
  'blobs/door.test.ts',
  'transfers/unpack.test.ts',
  'backup/complete.test.ts',
  'operations/registry/{blob-uploads,deletions,downloads,manifests,sha512,skopeo}.test.ts',
  'operations/revisions/{delete-revisions,push-revision}.test.ts',
  'operations/resources/oci-image-resource-blob.test.ts',
  'operations/devices/{cached,download-snap,slow-clock}.test.ts',
);
