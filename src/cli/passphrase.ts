// Passphrases come from a file: on a command line everybody on the host could read them.
import { readFileSync } from 'node:fs';
import { Failure } from './command.ts';

const shortest = 15;

/** The first line of a file; refuses one that is too short to protect anything. */
export function passphraseIn(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Failure(`cannot read the passphrase in ${file}`, { cause });
  }
  const [line = ''] = text.split(/\r?\n/);
  if (line.length < shortest)
    throw new Failure(
      `the first line of ${file} is too short for a passphrase; take ${String(shortest)} characters or more`,
    );
  return line;
}
