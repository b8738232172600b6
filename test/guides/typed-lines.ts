// Whether lines of a guide can be typed: each names a command of larder, with arguments that it reads.
import { Readable } from 'node:stream';

import type t from 'tap';

import { readArguments } from '#cli/frame/arguments.ts';
import { groups } from '#cli/index.ts';
import { words } from '#test/cli/world.ts';

type Test = Pick<typeof t, 'ok' | 'doesNotThrow'>;

/** Each line begins with `larder`. */
export async function canBeTyped(t: Test, lines: readonly string[]): Promise<void> {
  const entries = groups.flatMap(({ commands }) => commands);
  const world = { stdout: { write: () => true }, stderr: { write: () => true }, stdin: Readable.from([]), env: {} };
  for (const line of lines) {
    const [, ...typed] = words(line);
    const name = [typed.slice(0, 2).join(' '), typed[0] ?? ''].find((each) =>
      entries.some((entry) => entry.name === each),
    );
    const command = await entries.find((entry) => entry.name === name)?.load();
    t.ok(command, line);
    if (command) t.doesNotThrow(() => readArguments(command, typed.slice(name!.split(' ').length), world), line);
  }
}
