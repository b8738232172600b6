// Runs the first example of every command, one after the other within this process, in a store with a problem; prints a
// line of JSON for each. It is a process of its own, because the problem lasts: the directory is full, descriptors are
// out, the user is another.
//
// every-command.ts STATE DATA PLACE: the data directory, and the folder of the files that commands name.
import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import SQLite from 'better-sqlite3';

import { run } from '#cli/frame/run.ts';
import { groups } from '#cli/index.ts';
import { words } from '#test/cli/world.ts';

const [state = '', data = '', place = ''] = process.argv.slice(2);

/** The condition of the machine while commands run, and a function that ends it. */
type State = () => () => void;

/** Writes until there is no room for another byte. */
function fill(): () => void {
  const file = openSync(join(place, 'filler'), 'w');
  for (let size = 65536; size >= 1;) {
    try {
      if (writeSync(file, Buffer.alloc(size)) < size) size = Math.floor(size / 2);
    } catch {
      size = Math.floor(size / 2);
    }
  }
  closeSync(file);
  return () => undefined;
}

/** Takes every descriptor but so many. */
const leave =
  (few: number): State =>
  () => {
    const taken: number[] = [];
    try {
      for (;;) taken.push(openSync('/dev/null', 'r'));
    } catch {
      for (let left = 0; left < few; left++) closeSync(taken.pop()!);
    }
    return () => {
      for (const descriptor of taken) closeSync(descriptor);
    };
  };

/** Makes this process one of a user who owns the data directory, and no file in it. */
const become = (): (() => void) => {
  if (process.getuid?.() !== 0) return () => undefined;
  process.setgroups?.([]);
  process.setgid?.(1234);
  process.setuid?.(1234);
  return () => undefined;
};

const states: Readonly<Record<string, State>> = {
  'as it is': () => () => undefined,
  full: fill,
  'not allowed': become,
  'no descriptor': leave(0),
  'two descriptors': leave(2),
  'seven descriptors': leave(7),
};

/** An example as it would be typed on this host. */
const typed = (example: string): string[] =>
  words(example.replace(/^larder /, ''))
    .map((word) =>
      word
        .replace(/^(?:\.\/data|\/var\/lib\/larder)$/, data)
        .replace(/^(?:\.|\/media\/\w+|\/run|\/srv\/registry)\//, `${place}/`),
    )
    .map((word) => word.replace('xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI', 'larder-admin').replace(/^acme$/, 'larder-admin'));

async function outcomeOf(name: string, example: string): Promise<object> {
  const argv =
    name === 'restore'
      ? typed(example).map((word) => (word === data ? join(place, 'restored') : word))
      : typed(example);
  if (name === 'serve') argv.push('--listen', '127.0.0.1:0');
  const captured = { out: '', err: '' };
  const output = (of: 'out' | 'err') => ({ isTTY: false, write: (text: string) => (captured[of] += text) });
  const world = { stdout: output('out'), stderr: output('err'), stdin: Readable.from([]), env: { LARDER_DATA: data } };
  // A store that is served after all is asked to stop, as a service manager does; so is a proof, which takes minutes.
  const stop = setInterval(() => {
    if (name === 'prove' || (name === 'serve' && existsSync(join(data, 'serving.json')))) process.emit('SIGTERM');
  }, 50);
  const end = states[state]!();
  try {
    return { name, line: argv.join(' '), code: await run(argv, world, groups), ...captured };
  } finally {
    end();
    clearInterval(stop);
  }
}

// Everything that is loaded late is loaded while it can be.
const commands = await Promise.all(groups.flatMap((group) => group.commands).map(({ load }) => load()));
new SQLite(':memory:').close();
const print = (outcome: object): void => {
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
};
for (const { name, examples } of commands) print(await outcomeOf(name, examples[0]!));
process.exit(0);
