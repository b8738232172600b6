// Runs the whole life of large content in a bucket, in a process of its own, and prints the result with its memory as JSON.
//   large-on-s3.ts DIRECTORY BYTES ADDRESS-AND-ACCESS
import { readFileSync, writeFileSync } from 'node:fs';

import { createDigestPool } from '#blobs/digests.ts';
import type { BucketAccess, BucketAddress } from '#contract/bucket-address.ts';
import { partSize, defaultSizes } from '#blobs/s3/parts.ts';
import { s3Blobs } from '#blobs/s3.ts';
import { passThrough, type Passage } from '#test/blobs/large.ts';
import { startDigestWorker } from '#test/blobs/store.ts';

export interface LargeOnS3 extends Passage {
  requests: Record<string, number>;
  /** Seconds, those of processors, and the most resident memory in MiB. */
  steps: { step: string; seconds: number; cpu: number; peak: number }[];
}

const [directory = '', bytes = '', bucket = '{}'] = process.argv.slice(2);
const { address, access } = JSON.parse(bucket) as { address: BucketAddress; access: BucketAccess };
const size = Number(bytes);

const steps: LargeOnS3['steps'] = [];
async function step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  // Starts a new peak measurement.
  writeFileSync('/proc/self/clear_refs', '5');
  const [began, used] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(used);
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const peak = Math.round(Number(kibibytes) / 1024);
  steps.push({ step: name, seconds: (performance.now() - began) / 1000, cpu: (user + system) / 1e6, peak });
  return result;
}

const digests = createDigestPool(startDigestWorker, 2);
const fatal = (error: Error): never => {
  throw error;
};
const isNew = () => Promise.resolve(true);
const common = { address, access, directory, reserve: 0, digests, fatal, store: 'store-of-ada', isNew };
const blobs = await s3Blobs(common);
const reader = await s3Blobs(common);
const passage = await passThrough({ size, part: partSize(size, defaultSizes.single), blobs, reader, digests, step });
const requests = Object.fromEntries(blobs.traffic().requests);
await blobs.close();
await reader.close();
await digests.close();
process.stdout.write(JSON.stringify({ ...passage, requests, steps } satisfies LargeOnS3));
