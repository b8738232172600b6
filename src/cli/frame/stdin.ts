// Reads secrets from the standard input, so that they are in no process list and no shell history.
import type { Readable } from 'node:stream';
import { Failure } from './command.ts';

const maxSecretBytes = 4096;

/** Returns the only line of the standard input, without its line end. */
export async function readSecret(stdin: Readable, label: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk as Buffer | string);
    size += bytes.length;
    if (size > maxSecretBytes)
      throw new Failure(`the ${label} on the standard input is longer than ${String(maxSecretBytes)} bytes`);
    chunks.push(bytes);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Failure(`the ${label} on the standard input is not UTF-8 text`);
  }
  const line = text.replace(/\r?\n$/, '');
  if (line === '') throw new Failure(`there is no ${label} on the standard input`);
  if (/[\r\n]/.test(line)) throw new Failure(`the ${label} on the standard input is more than one line`);
  return line;
}
