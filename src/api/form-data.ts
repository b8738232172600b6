// A small form (multipart/form-data, RFC 7578), read whole: texts, and files such as icons. Large files are for multipart.ts.
import type { IncomingMessage } from 'node:http';
import { Refusal } from '#domain/refusal.ts';
import { readBytes } from './body.ts';
import { cutOff, FormParser } from './form-parser.ts';
import { boundaryOf } from './multipart.ts';

const most = 16;

/**
 * The parts of a form by their names, as bytes. Whether a part has a file name says nothing of what it is: some clients
 * give one, of no letters, to a text.
 *
 * @param limit how many bytes the whole form may have
 * @throws Refusal when the body is larger, or no form that is in order
 */
export async function readForm(request: IncomingMessage, limit: number): Promise<Map<string, Buffer>> {
  const boundary = boundaryOf(request);
  return parseForm(await readBytes(request, limit), boundary);
}

function parseForm(body: Buffer, boundary: string): Map<string, Buffer> {
  const parts = new Map<string, Buffer>();
  let count = 0;
  let under: { name: string | undefined; chunks: Buffer[] } = { name: undefined, chunks: [] };
  const parser = new FormParser(boundary, {
    part(name) {
      count += 1;
      if (count > most) throw new Refusal('api-error', `The form has more than ${most} parts.`);
      under = { name, chunks: [] };
    },
    content(bytes) {
      under.chunks.push(bytes);
    },
    end() {
      const { name, chunks } = under;
      if (name === undefined) return;
      if (parts.has(name)) throw new Refusal('api-error', `The form has two parts named '${name.slice(0, 64)}'.`);
      parts.set(name, Buffer.concat(chunks));
    },
  });
  parser.push(body);
  if (!parser.isWhole) throw new Refusal('api-error', cutOff);
  return parts;
}
