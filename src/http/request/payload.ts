// The body of a request, and the members of forms and queries.
import type { IncomingMessage } from 'node:http';

import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import { Refusal } from '#domain/refusal.ts';
import { readJson } from '#contract/json.ts';
import type { Operation } from '../operation.ts';
import { decode, readBytes, receivedBody } from './body.ts';

/** Returns a function that reads and parses the body of a request, once, when it is first needed. */
export function createContentReader(op: Operation, request: IncomingMessage): () => MaybePromise<unknown> {
  let content: MaybePromise<unknown>;
  let isRead = false;
  return () => {
    if (!isRead) content = readContent(op, request);
    isRead = true;
    return content;
  };
}

/** Maximum bytes of the body of an operation. */
export const bodyLimit = (op: Operation): number => op.bodyLimit ?? 1024 * 1024;

function readContent(op: Operation, request: IncomingMessage): MaybePromise<unknown> {
  refuseEncoding(request);
  const bytes = receivedBody(request, bodyLimit(op)) ?? readBytes(request, bodyLimit(op));
  return whenReady(bytes, (all) => parse(op, request, all));
}

export function refuseEncoding({ headers }: IncomingMessage): void {
  if ((headers['content-encoding'] ?? 'identity') === 'identity') return;
  throw new Refusal('unsupported-media-type', 'This operation takes its body without a content encoding.');
}

const form = 'application/x-www-form-urlencoded';

/** Parses a body; undefined if it is empty and may be empty. */
function parse(op: Operation, request: IncomingMessage, bytes: Buffer): unknown {
  if (bytes.length === 0) {
    if (op.bodyOptional === true || op.body === undefined) return undefined;
    const taken = op.consumes === form ? 'form' : 'JSON document';
    throw new Refusal('api-error', `The request has no body; this operation takes a ${taken}.`);
  }
  const text = decode(bytes);
  refuseType(op, request, bytes);
  return op.consumes === form ? parseMembers(text, 'The form') : readJson(text);
}

/** Refuses a body if the operation does not accept its Content-Type. */
export function refuseType({ consumes }: Operation, { headers }: IncomingMessage, { length }: Buffer): void {
  const taken = consumes === form ? form : 'application/json';
  const { 'content-type': type = taken } = headers;
  if (length === 0 || type === taken || type.split(';', 1)[0]?.trim().toLowerCase() === taken) return;
  throw new Refusal('unsupported-media-type', `This operation takes ${taken}, not '${type.slice(0, 100)}'.`);
}

const noMembers = Object.freeze(Object.create(null) as Record<string, string>);

/**
 * The members of a query or a form. A member that is given twice is refused, because two readers could pick different values. The values of
 * a member that may be repeated are joined with spaces.
 */
export function parseMembers(text: string, sourceName: string, repeated: string[] = []): Record<string, string> {
  if (text === '') return noMembers;
  const parsed: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in parsed && repeated.includes(name)) {
      parsed[name] = `${parsed[name] ?? ''} ${value}`;
      continue;
    }
    if (name in parsed) throw new Refusal('api-error', `${sourceName} names '${name.slice(0, 100)}' twice.`);
    parsed[name] = value;
  }
  return parsed;
}
