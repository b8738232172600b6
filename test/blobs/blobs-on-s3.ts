// What says that blobs are as good in S3 as in a folder: run it with LARDER_BLOBS=s3.
await import('./door.test.ts');
