import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { snapBytes, snapNames } from '../fixtures.ts';
import { asSnapPack, grow, long, noise, packFolder, snapYaml, withoutSquashfsTools } from '../packed.ts';
import type { Outcome } from './hostile-worker.ts';

if (long) t.setTimeout(600_000);

/** Images changed at random, each reviewed under the bounds of a real review; the thread that does it must survive. */
async function tried(images: Uint8Array[], runs: number, seed: number): Promise<Outcome> {
  const worker = new Worker(join(import.meta.dirname, 'hostile-worker.ts'), {
    workerData: { images, runs, seed },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 56, maxYoungGenerationSizeMb: 8 },
  });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

function check(t: Test, outcome: Outcome, runs: number): void {
  t.same(outcome.faults, [], 'every image is taken or refused with a sentence');
  t.equal(outcome.approved + outcome.refused, runs);
  t.ok(outcome.refused > runs / 10, `${String(outcome.refused)} of ${String(runs)} are refused`);
  t.ok(outcome.slowestMs < 2000, `the slowest takes ${outcome.slowestMs.toFixed(0)} ms`);
  t.ok(outcome.mostBufferBytes < 64 << 20, `buffers have ${String(outcome.mostBufferBytes >> 20)} MB at most`);
}

t.test('small images with any change come to an end', async (t) => {
  const runs = long ? 500_000 : 5000;
  const images = snapNames.filter((name) => name !== 'app-lz4-unsupported').map(snapBytes);
  check(t, await tried(images, runs, 1), runs);
});

t.test('rich images with any change come to an end', { skip: withoutSquashfsTools }, async (t) => {
  const runs = long ? 200_000 : 1500;
  const folder = join(t.testdir({}), 'rich');
  const yaml = snapYaml('tiny-app', `description: |\n${'  A long line of text.\n'.repeat(2000)}`);
  grow(folder, {
    'meta/snap.yaml': yaml,
    'meta/gui/icon.svg': `<svg>${'x'.repeat(9000)}</svg>`,
    'snap/snapcraft.yaml': 'a: b',
  });
  for (let at = 0; at < 300; at++) grow(folder, { [`meta/file-${String(at)}`]: noise(at), [`file-${String(at)}`]: '' });
  const images = [
    asSnapPack('xz'),
    ['-comp', 'gzip', '-noI', '-noF', '-b', '4096'],
    ['-comp', 'lzo', '-b', '4096'],
    ['-comp', 'lzo', '-noI', '-always-use-fragments', '-b', '1M'],
    ['-comp', 'zstd', '-noI', '-b', '4096'],
    ['-comp', 'xz', '-b', '4096', '-noI', '-tailends'],
  ].map((options) => new Uint8Array(readFileSync(packFolder(folder, options))));
  check(t, await tried(images, runs, 2), runs);
});
