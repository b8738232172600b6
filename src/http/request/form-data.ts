// Reads a small form (multipart/form-data, RFC 7578) into memory: texts, and files such as icons. multipart.ts reads large files.
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import type { IncomingMessage } from 'node:http';
import { Refusal } from '#domain/refusal.ts';
import { readBytes } from './body.ts';
import { boundaryOf } from './multipart.ts';

const limits = { parts: 16, headerPairs: 32, headerSize: 16 * 1024 };

/**
 * Returns the parts of a form by name, as bytes. The file name of a part does not tell files from texts: some clients send an empty file
 * name for a text.
 *
 * @param limit maximum bytes of the whole form
 * @throws Refusal when the body is larger, or not a valid form
 */
export async function readForm(request: IncomingMessage, limit: number): Promise<Map<string, Buffer>> {
  const boundary = boundaryOf(request);
  return parseForm(await readBytes(request, limit), boundary);
}

function parseForm(body: Buffer, boundary: string): Promise<Map<string, Buffer>> {
  const { promise, resolve, reject } = Promise.withResolvers<Map<string, Buffer>>();
  const refuse = (sentence: string): void => reject(new Refusal('api-error', sentence));
  const cutOff = (): void => refuse('The form is cut off: its closing boundary is missing.');
  const parts = new Map<string, Buffer>();
  const parser = new Busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    limits,
    isPartAFile: () => true,
  });
  parser.on('file', (name: string, stream: BusboyFileStream) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', cutOff);
    stream.on('end', () => {
      if (parts.has(name)) refuse(`The form has two parts named '${name.slice(0, 64)}'.`);
      parts.set(name, Buffer.concat(chunks));
    });
  });
  parser.on('partsLimit', () => refuse(`The form has more than ${limits.parts} parts.`));
  parser.on('error', cutOff);
  parser.on('finish', () => resolve(parts));
  // Without this check a body without a boundary would be read as a form without parts.
  if (!body.includes(`--${boundary}--`)) cutOff();
  parser.end(body);
  return promise;
}
