// Reads passphrases from a file or from a hidden prompt: on a command line, every user of the host could read them.
import { readFileSync } from 'node:fs';
import { Failure, type World } from './command.ts';
import { converse, newSecret } from './questions.ts';

const shortest = 15;

/** Returns the first line of a file; refuses a line that is too short. */
export function passphraseIn(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Failure(`cannot read the passphrase in ${file}`, { cause });
  }
  const [line = ''] = text.split(/\r?\n/);
  return longEnough(line, `the first line of ${file}`);
}

/** Reads a new passphrase, typed twice at the terminal. */
export const newPassphrase = async (world: World): Promise<string> =>
  longEnough(await newSecret(world, 'passphrase'), 'what was typed');

/** Reads the passphrase of an existing object at the terminal. */
export const askPassphrase = (world: World, what: string): Promise<string> =>
  converse(world, ({ askHidden }) => askHidden(`Passphrase of ${what}`));

function longEnough(passphrase: string, what: string): string {
  if (passphrase.length >= shortest) return passphrase;
  throw new Failure(`${what} is too short for a passphrase; take ${String(shortest)} characters or more`);
}
