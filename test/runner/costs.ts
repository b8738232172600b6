// The cost of each test file in its last run here, in seconds of processor time.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './lanes.ts';

const folder = join(root, 'node_modules/.cache');
const file = join(folder, 'larder-test-costs.json');

export function readCosts(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  } catch {
    return {}; // nothing ran yet
  }
}

export function keepCosts(results: readonly { file: string; cpuSeconds: number }[]): void {
  const costs = { ...readCosts(), ...Object.fromEntries(results.map(({ file, cpuSeconds }) => [file, cpuSeconds])) };
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(costs));
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // Costs only help to choose: a folder that cannot be written takes nothing from the results.
  }
}
