// Runs larder within the test's own process.
import { join } from 'node:path';
import { Readable } from 'node:stream';

import type { CommandGroup } from '#cli/frame/command.ts';
import { run } from '#cli/frame/run.ts';
import { groups as everyGroup } from '#cli/index.ts';

export interface Outcome {
  code: number;
  out: string;
  err: string;
}

/** Runs a command line; the arguments are given as a person would type them. */
export async function larder(
  line: string,
  {
    env = {},
    terminal = false,
    groups = everyGroup,
    stdin = [],
    typed,
  }: {
    env?: Record<string, string>;
    terminal?: boolean;
    groups?: readonly CommandGroup[];
    stdin?: readonly string[];
    /** The input of a person at the terminal, after the question. */
    typed?: AsyncIterable<string>;
  } = {},
): Promise<Outcome> {
  const outcome = { out: '', err: '' };
  const output = (name: 'out' | 'err') => ({ isTTY: terminal, write: (text: string) => (outcome[name] += text) });
  const input = typed === undefined ? Readable.from(stdin) : Object.assign(Readable.from(typed), { isTTY: true });
  const world = { stdout: output('out'), stderr: output('err'), stdin: input, env };
  const code = await run(words(line), world, groups);
  return { code, ...outcome };
}

/** The path of the checkout, which may contain spaces; tests write it into command lines as it is. */
const checkout = join(import.meta.dirname, '../..');
const inItsPlace = '\0';

/** Splits a line like a shell: at spaces, except within single or double quotes, and within the path of the checkout. */
export function words(line: string): string[] {
  const matches = line.replaceAll(checkout, inItsPlace).matchAll(/(?:'([^']*)'|"([^"]*)"|([^\s'"]+))+/g);
  return Array.from(matches, ([word]) => word.replace(/(['"])(.*?)\1/g, '$2').replaceAll(inItsPlace, checkout));
}
