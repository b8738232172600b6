// Reads the text files of commands: assertions, and headers to sign.
import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';

import { streamLimit } from '#assertions/format/assertion.ts';
import { Failure } from '../frame/command.ts';

/** Returns the text of a file unchanged. */
export function readTextFile(file: string): string {
  let content: Buffer;
  try {
    const { size } = statSync(file);
    if (size > streamLimit) throw new Failure(`${file} is larger than ${String(streamLimit)} bytes`);
    content = readFileSync(file);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Failure(`There is no file ${file}.`, { cause: error });
    throw new Error(`cannot read ${file}`, { cause: error });
  }
  if (!isUtf8(content)) throw new Failure(`${file} is not UTF-8 text`);
  return content.toString();
}

/** Returns the text of a file of assertions; adds a missing newline at the end. */
export function readAssertionFile(file: string): string {
  const text = readTextFile(file);
  return text.endsWith('\n') ? text : `${text}\n`;
}
