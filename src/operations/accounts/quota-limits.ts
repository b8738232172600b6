// Reads and writes limits of quotas: 20G, 500M, 50, none, default.
import type { Limit, NewLimit } from '#contract/wire.ts';

const factors: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** The examples in the error for an invalid limit. */
export const limitExamples = { bytes: 'a size such as 20G, 500M or 1000', packages: 'a number' } as const;

/** Parses a limit; undefined if it is invalid. */
export function readLimit(of: 'bytes' | 'packages', text: string): NewLimit | undefined {
  if (text === 'default' || text === 'none') return text;
  const [, count, unit = ''] = /^(\d{1,15}) ?(?:([KMGT])(?:iB)?)?$/.exec(text) ?? [];
  const limit = Number(count ?? NaN) * factors[unit]!;
  return limit <= 2 ** 50 && (of === 'bytes' || unit === '') ? limit : undefined;
}

/** Formats a limit; bytes in the largest unit that gives a whole number. */
export function writeLimit(of: 'bytes' | 'packages', { limit, own }: Limit): string {
  if (!own) return 'default';
  if (limit === null) return 'none';
  const fits = ([, size]: [string, number]): boolean => of === 'bytes' && limit > 0 && limit % size === 0;
  const [unit, factor] = Object.entries(factors).findLast(fits) ?? ['', 1];
  return `${String(limit / factor)}${unit}`;
}
