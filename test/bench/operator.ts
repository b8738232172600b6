// The operator's figures: audit verify, verify, scrub, backup beside commits, restore.
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import type { StoredBlob } from '#blobs/blobs.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import { withBlobs } from '#data/blobs.ts';
import { verifyBlob } from '#integrity/verify-blob.ts';
import { fillStore } from './harness/store.ts';

const long = process.env['LARDER_LONG'] === '1';
const size = { packages: long ? 10_000 : 2000, blobs: long ? 1000 : 200, blobBytes: 1024 * 1024, audit: 100_000 };
const main = join(import.meta.dirname, '../../src/main.ts');

/** Prints what looking after a store costs; LARDER_LONG=1 takes 10,000 packages and 1 GB of blobs. */
export async function operator(): Promise<void> {
  const { directory, store } = await fillStore(size.packages, 10);
  const { records, siteKey } = store;
  const at = '2026-03-01T12:00:00.000Z';
  const commit = (number: number) =>
    records.change({ at, actor: 'bench', action: 'bench', object: `row/${number}` }, () => Promise.resolve());
  while (((await records.audit.head())?.seq ?? 0) < (long ? size.audit : 20_000)) await commit(0);
  const rows = await timed(() => verifyAudit(records, { siteKey }));
  print('audit verify', `${Math.round(rows.result.rows / rows.seconds)} rows/s (at least 50,000)`);

  await withBlobs(store, async ({ blobs, digests }) => {
    for (let number = 0; number < size.blobs; number++) {
      await blobs.receive(Readable.from([[randomBytes(size.blobBytes)]]), {
        id: `bench-${number}`,
        limit: size.blobBytes,
      });
    }
    const stored: StoredBlob[] = [];
    for await (const blob of blobs.list()) stored.push(blob);
    const cpu = process.cpuUsage();
    const scrubbed = await timed(async () => {
      for (const blob of stored) await verifyBlob(blob, blobs, digests, () => true);
    });
    const { user, system } = process.cpuUsage(cpu);
    const megabytes = stored.reduce((sum, blob) => sum + blob.size, 0) / 1e6;
    print(
      'scrub',
      `${Math.round(megabytes / ((user + system) / 1e6))} MB/s a core, ${Math.round(megabytes / scrubbed.seconds)} MB/s in all (at least 250)`,
    );
  });

  const [file, restored, keys] = ['backup.tar', 'restored', 'keys'].map((name) => `${directory}-${name}`) as [
    string,
    string,
    string,
  ];
  mkdirSync(keys);
  for (const name of ['site.key', 'master.key']) cpSync(join(directory, name), join(keys, name));
  const commits: number[] = [];
  let done = false;
  const backingUp = timed(() => larder('backup', file, '--data', directory)).finally(() => (done = true));
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- set when the backup has ended
  for (let number = 0; !done; number++) {
    commits.push((await timed(() => commit(number))).seconds * 1000);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const backup = await backingUp;
  commits.sort((first, other) => first - other);
  print(
    'backup',
    `${backup.seconds.toFixed(1)} s beside ${commits.length} commits, p99 ${commits[Math.floor(commits.length * 0.99)]?.toFixed(1)} ms (at most 20)`,
  );
  await store.close();
  print(
    'restore',
    `${(await timed(() => larder('restore', file, '--data', restored, '--keys', keys))).seconds.toFixed(1)} s`,
  );
  print(
    'verify',
    `${(await timed(() => larder('verify', '--data', restored))).seconds.toFixed(1)} s (both together at most 60)`,
  );
  for (const path of [directory, file, restored, keys]) rmSync(path, { recursive: true, force: true });
}

function larder(...words: string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  spawn(process.execPath, [main, ...words], { stdio: ['ignore', 'ignore', 'inherit'] }).on('exit', (code) => {
    // The revisions of the measured store have no content, and `verify` says so.
    if (code === 0 || (words[0] === 'verify' && code === 1)) resolve();
    else reject(new Error(`cannot measure: larder ${words[0]} ended with ${code}`));
  });
  return promise;
}

async function timed<Result>(work: () => Promise<Result>): Promise<{ result: Result; seconds: number }> {
  const started = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - started) / 1000 };
}

const print = (name: string, figure: string): void => console.log(`  ${name.padEnd(14)} ${figure}`);
