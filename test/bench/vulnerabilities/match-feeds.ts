// Advisories against revisions: importing a large feed, matching all revisions with it, and matching again after a newer
// one, each as a command of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { BillComponent } from '#domain/vulnerabilities/bill-of-materials.ts';
import { createBillMatcher } from '#acts/vulnerabilities/match-bill.ts';
import { osvZip, type AdvisorySketch } from '#test/fixtures/vulnerabilities/feeds.ts';
import { peakMemory, watchMachine } from '../harness/measure.ts';
import { fillStore } from '../harness/store.ts';

const size = {
  packages: Number(process.env['LARDER_PACKAGES'] ?? 1000),
  revisionsEach: 10,
  advisories: Number(process.env['LARDER_ADVISORIES'] ?? 50_000),
  sourcePackages: 5_000,
  componentsEach: 120,
};
const releases = ['16.04', '18.04', '20.04', '22.04', '24.04'];

/** Prints the figures of importing and matching. */
export async function vulnerabilities(): Promise<void> {
  const machine = watchMachine();
  const { directory, store, packageIds } = await fillStore(size.packages, size.revisionsEach);
  try {
    const revisions = packageIds.length * size.revisionsEach;
    console.log(
      `vulnerabilities: ${String(revisions)} revisions of ${String(size.componentsEach)} components, ` +
        `${String(size.advisories)} advisories for ${String(releases.length)} releases`,
    );
    const at = new Date().toISOString();
    for (const [number, packageId] of packageIds.entries()) {
      await store.records.change(
        { at, actor: 'bench', action: 'bench', object: 'bench' },
        async ({ billsOfMaterials }) => {
          for (let revision = 1; revision <= size.revisionsEach; revision++) {
            await billsOfMaterials.addToRevision(packageId, revision, {
              distribution: { id: 'ubuntu', version: releases[number % releases.length]! },
              files: ['snap/manifest.yaml'],
              gaps: [],
              components: componentsOf(number, revision),
            });
          }
        },
      );
    }
    const file = join(directory, 'feed.zip');
    writeFileSync(file, osvZip(Array.from({ length: size.advisories }, (_, at) => advisory(at, '2026-04-01'))));
    await measured('import', ['feed', 'import', file], directory);
    await measured('match', ['feed', 'match'], directory);
    writeFileSync(file, osvZip(Array.from({ length: size.advisories }, (_, at) => advisory(at, '2026-04-02'))));
    await measured('import of a newer one', ['feed', 'import', file], directory);
    await measured('match with it', ['feed', 'match'], directory);
    const began = performance.now();
    const matcher = await createBillMatcher(store.records.feedIndexes);
    const bill = (await store.records.billsOfMaterials.ofRevision(packageIds[0]!, 1))!;
    const { components } = await matcher.match(bill);
    print(
      'one bill',
      `${(performance.now() - began).toFixed(1)} ms, ${String(components.length)} components with advisories`,
    );
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
    console.log(machine());
  }
}

const print = (name: string, figure: string): void => console.log(`  ${name.padEnd(24)} ${figure}`);

/** Numbers that are the same in each run. */
const scattered = (number: number, below: number): number => (Math.imul(number + 1, 2_654_435_761) >>> 0) % below;

/** Packages share most of their components, and each revision updates some. */
const componentsOf = (number: number, revision: number): BillComponent[] =>
  Array.from({ length: size.componentsEach }, (_, at) => {
    const source = scattered(at + (number % 40) * 3, size.sourcePackages);
    return {
      ecosystem: 'deb',
      name: `libpkg${String(source)}-${String(at % 6)}`,
      version: `1.${String((at + revision * 7) % 90)}-1ubuntu${String(number % 3)}`,
    };
  });

function advisory(at: number, day: string): AdvisorySketch {
  const source = scattered(at, size.sourcePackages);
  const fixed = `1.${String(at % 90)}-1ubuntu${String(at % 7)}`;
  return {
    id: `UBUNTU-CVE-2026-${String(10_000 + at)}`,
    modified: `${day}T00:00:00Z`,
    upstream: [`CVE-2026-${String(10_000 + at)}`],
    severity: [{ type: 'Ubuntu', score: ['low', 'medium', 'high'][at % 3]! }],
    fixes: Object.fromEntries(
      releases.map((release) => [`Ubuntu:${release}:LTS pkg${String(source)}`, at % 4 === 0 ? null : fixed]),
    ),
    binaries: Object.fromEntries(
      Array.from({ length: 6 }, (_, binary) => [`libpkg${String(source)}-${String(binary)}`, fixed]),
    ),
    more: { details: 'A vulnerability was found. '.repeat(30) },
  };
}

/** Runs a command as a process, and prints its time, its processor time and its memory. */
async function measured(name: string, args: readonly string[], directory: string): Promise<void> {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '../../../src/main.ts'), ...args, '--data', directory, '--json', '--quiet'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let [memory, processor, out] = [0, 0, ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  const timer = setInterval(() => {
    try {
      memory = Math.max(memory, peakMemory(child.pid) || 0);
      const [, fields = ''] = /\) (.*)/.exec(readFileSync(`/proc/${String(child.pid)}/stat`, 'utf8')) ?? [];
      const [user, system] = fields.split(' ').slice(11, 13).map(Number) as [number, number];
      processor = (user + system) / 100;
    } catch {
      // It has ended.
    }
  }, 50);
  const [code] = (await once(child, 'close')) as [number];
  clearInterval(timer);
  if (code !== 0) throw new Error(`cannot measure: ${args.join(' ')} ended with ${String(code)}: ${out}`);
  const seconds = (performance.now() - began) / 1000;
  print(name, `${seconds.toFixed(1)} s, ${processor.toFixed(1)} s of processor time, ${memory.toFixed(0)} MiB`);
}
