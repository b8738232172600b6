// Reads the plan of a rollout as people write it: `10%` or `1%, 10%, 50%, 100%`, and `5% of 20`.
import type { FailureBound } from './rollout.ts';

/** Reads steps; undefined if the text is no list of percentages. */
export function parseSteps(text: string): number[] | undefined {
  const pieces = text.split(',').map((piece) => /^ *(\d{1,3}(?:\.\d{1,6})?) ?%? *$/.exec(piece)?.[1]);
  return pieces.every((piece) => piece !== undefined) ? pieces.map(Number) : undefined;
}

/** Reads a bound of failures; undefined for any other text. */
export function parseBound(text: string): Partial<FailureBound> | undefined {
  const [, percentage, devices] = /^ *(\d{1,3}(?:\.\d{1,3})?) ?%?(?: of (\d{1,7}))? *$/.exec(text) ?? [];
  if (percentage === undefined) return undefined;
  return { percentage: Number(percentage), ...(devices !== undefined && { devices: Number(devices) }) };
}
