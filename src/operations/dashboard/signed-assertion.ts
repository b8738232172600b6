// Reads the assertions that publishers sign, and finds the next revision of a draft.
import type { IncomingMessage } from 'node:http';

import { parseSignedAssertion, type PublisherAssertionType } from '#acts/assertions/publisher-assertions.ts';
import { mediaType, type Assertion } from '#assertions/format/assertion.ts';
import { nameOf } from '#assertions/format/types.ts';
import { Refusal } from '#domain/refusal.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { readBody } from '#http/request/body.ts';

/** Maximum bytes of an assertion; a validation set of a thousand snaps has a tenth of that. */
const maxAssertionBytes = 1024 * 1024;

/** Reads the body of a request: one assertion of a type. Its signature is verified when it is stored. */
export async function readSignedAssertion(request: IncomingMessage, type: PublisherAssertionType): Promise<Assertion> {
  const [contentType] = (request.headers['content-type'] ?? '').split(';');
  if (contentType?.trim().toLowerCase() !== mediaType) {
    throw new Refusal('unsupported-media-type', `Assertions are sent as ${mediaType}.`);
  }
  return parseSignedAssertion(await readBody(request, maxAssertionBytes), type);
}

/** Returns the revision of an assertion that is built again: at least `minimum`, and higher than the stored one. */
export async function nextRevision(
  unsigned: Pick<Assertion, 'type' | 'headers'>,
  minimum: number,
  { assertions }: Pick<HandlerRecords, 'assertions'>,
): Promise<number> {
  const [before] = await assertions.listOf([nameOf(unsigned)]);
  return Math.max(minimum, (before?.revision ?? -1) + 1);
}
