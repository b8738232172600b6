// Random choices that a seed decides, so that a run can be repeated.
import { createSeededNumbers } from '#domain/seeded-numbers.ts';

export interface Choices {
  /** From 0 up to `end`, exclusive. */
  below(end: number): number;
  /** From `first` to `last`, inclusive. */
  between(first: number, last: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
}

/** `part` gives each client choices of its own. */
export function seededChoices(seed: number, part = 0): Choices {
  const next = createSeededNumbers(seed + Math.imul(part, 0x9e3779b9));
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    between: (first, last) => first + below(last - first + 1),
    pick: (items) => items[below(items.length)]!,
    weighted(weights) {
      const entries = Object.entries<number>(weights);
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) if ((left -= weight) < 0) return name as never;
      return entries.at(-1)![0] as never;
    },
  };
}

/** The seed of this run: LARDER_SEED, or a new one. */
export const chooseSeed = (): number => Number(process.env['LARDER_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
