// Reads the output of a file of tests as TAP: how many assertions passed, failed, or were skipped, and why.
import { drainTitle } from './marks.ts';

export interface TapResult {
  readonly passed: number;
  readonly failed: number;
  /** A line for each skipped test: its title and the reason. */
  readonly skipped: readonly SkippedTest[];
}

export interface SkippedTest {
  readonly title: string;
  readonly reason: string;
}

const resultLine = /^( *)(not )?ok\b(?: \d+)?(?: - )?(.*)$/;
const directive = /^(.*?)\s*# (skip|todo)\b\s*(.*?)(?:\s*\{)?$/i;

/**
 * The sum of a subtest does not count, only its parts. A file without results counts as a failure. An assertion outside of the subtests may
 * come after the last one, which is not the file's own.
 */
export function readTap(text: string): TapResult {
  let passed = 0;
  let failed = 0;
  let isDraining = false;
  const skipped: SkippedTest[] = [];
  // The counts at the start of each open subtest, by its indent.
  const open = new Map<number, { failed: number; total: number }>();
  for (const line of text.split('\n')) {
    const begun = /^( *)# Subtest: (.*)$/.exec(line);
    isDraining ||= begun?.[2] === drainTitle;
    if (isDraining) {
      isDraining = !/^(?:not )?ok\b/.test(line);
      continue;
    }
    if (begun) open.set(begun[1]!.length, { failed, total: passed + failed + skipped.length });
    const result = resultLine.exec(line);
    if (!result) continue;
    const [, indent = '', not, title = ''] = result;
    const before = open.get(indent.length);
    if (before !== undefined) {
      open.delete(indent.length);
      // It failed by itself, as by a plan or a timeout; or it only had to come to its end.
      if (not && before.failed === failed) failed += 1;
      else if (before.total === passed + failed + skipped.length) passed += 1;
      continue;
    }
    const [, name = '', kind = '', reason = ''] = directive.exec(title) ?? [];
    if (kind.toLowerCase() === 'skip') skipped.push({ title: name, reason });
    else if (not && kind === '') failed += 1;
    else passed += 1;
  }
  if (passed + failed + skipped.length === 0) failed = 1;
  return { passed, failed, skipped };
}
