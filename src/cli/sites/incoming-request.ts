// Reads the request of another site: its signers, and the receipts in it.
import { resolve } from 'node:path';

import { noteReceipts } from '#acts/sites/requests.ts';
import { NotATransfer } from '#transfers/statement/not-a-transfer.ts';
import { readRequest, type ParsedRequest } from '#transfers/request/request-file.ts';
import { refuseStranger } from '#transfers/request/requested-packages.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { Failure, type CommandResult } from '../frame/command.ts';
import { toReadFailure } from '../frame/outside-files.ts';
import type { AsCaller } from '../frame/owner.ts';
import type { OpenStore } from '../frame/store.ts';

export interface IncomingSiteRequest {
  request: ParsedRequest;
  /** Whether this site knows the keys that signed the request. */
  isKnown: boolean;
  /** The number of receipts that were new. */
  noted: number;
}

/** Reads a request, and records its receipts of accepted transfers. */
export async function readIncomingRequest(
  file: string,
  { records, acts, person, asCaller }: OpenStore,
): Promise<IncomingSiteRequest> {
  const request = await readRequestFile(file, asCaller);
  const { isKnown } = await refuseStranger(records, request);
  const { site, receipts } = request.statement;
  const noted =
    receipts.length === 0 ? 0 : await acts.do(noteReceipts, person, { site, receipts, request: request.id });
  return { request, isKnown, noted };
}

/** Reads the request in a file, with the rights of the caller. Fails if the file cannot be read or is not a request. */
export async function readRequestFile(
  file: string,
  asCaller: AsCaller = async (work) => work(),
): Promise<ParsedRequest> {
  try {
    return await asCaller(() => readRequest(resolve(file)));
  } catch (error) {
    if (!(error instanceof NotATransfer)) throw toReadFailure(file, error);
    throw new Failure(`${file} cannot be read as a request. ${error.message}`, { code: 'no-request', cause: error });
  }
}

/** Adds the request of another site, for which a transfer was made, to the output of the command that made the transfer. */
export function withRequest(
  { text, json, ...more }: CommandResult,
  incoming: IncomingSiteRequest | undefined,
): CommandResult {
  if (incoming === undefined) return { text, json, ...more };
  const { id, statement, signers } = incoming.request;
  const keys = fingerprintOf(signers);
  const { site, number, receipts } = statement;
  const settled = receipts.map(({ source, sequence, status }) => `${source} ${String(sequence)} (${status})`);
  return {
    ...more,
    text: [
      text,
      `The transfer is for request ${String(number)} of ${site}. The request is signed with ${keys.join(', ')}.`,
      ...(incoming.isKnown ? [] : ['Ask the administrators of that site if the key is theirs.']),
      ...(settled.length === 0 ? [] : [`Accepted or withdrawn there: ${settled.join(', ')}.`]),
    ].join('\n'),
    json: {
      ...(json as object),
      request: { id, site, number, 'signed-with': keys, 'is-known': incoming.isKnown, receipts: incoming.noted },
    },
  };
}
