// Reads passphrases from a file or from a hidden prompt: on a command line, every user of the host could read them.
import { readFileSync } from 'node:fs';
import { Failure, type World } from './command.ts';
import { converse, newSecret } from './questions.ts';

const minPassphraseLength = 15;

/** Returns the first line of a file; refuses a line that is too short. */
export function passphraseIn(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Failure(`cannot read the passphrase in ${file}`, { cause });
  }
  const [line = ''] = text.split(/\r?\n/);
  return requireLength(line, `the first line of ${file}`);
}

/** Reads a new passphrase, typed twice at the terminal. */
export const newPassphrase = async (world: World): Promise<string> =>
  requireLength(await newSecret(world, 'passphrase'), 'the typed passphrase');

/** Reads the passphrase of an existing object at the terminal. */
export const askPassphrase = (world: World, subject: string): Promise<string> =>
  converse(world, ({ askHidden }) => askHidden(`Passphrase of ${subject}`));

function requireLength(passphrase: string, subject: string): string {
  if (passphrase.length >= minPassphraseLength) return passphrase;
  throw new Failure(`${subject} is too short for a passphrase; take ${String(minPassphraseLength)} characters or more`);
}
