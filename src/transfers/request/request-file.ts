// Reads and writes the file of a request: an archive with a statement, its signatures, and three files covered by digests in the statement.
import { createDigest } from '#domain/cryptography.ts';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

import { findProblems } from '#contract/schema.ts';
import type { TransferRequest } from '#contract/wire.ts';
import { InvalidTarHeader, block, padding, readHeader, tarHeader } from '#files/tar-header.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';
import { NotATransfer } from '../statement/not-a-transfer.ts';
import { maxSignaturesBytes, ofRequests, readSignatures, addSignature, findSigners } from '../statement/signatures.ts';
import { maxFormat, type SiteSigner } from '../statement/site-keys.ts';

/** Maximum size of the file in bytes. A request of a site with 10,000 packages has about four million. */
export const maxRequestBytes = 256 * 1024 * 1024;

const folder = 'larder-request';
const statementName = `${folder}/request.json`;
const signaturesName = `${folder}/signatures.json`;

type FileName = TransferRequest['files'][number]['name'];

/** The files of a request in order: a page for people, the script, and the table that the script reads. */
export type RequestFiles = Readonly<Record<FileName, Uint8Array>>;
const names: readonly FileName[] = ['request.html', 'fetch.sh', 'wishes.tsv'];

const sha256Of = (bytes: Uint8Array): string => createDigest('statement').update(bytes).digest('hex');

export interface WrittenRequest {
  bytes: Buffer;
  id: string;
  statement: TransferRequest;
}

/** Returns the archive of a request and its id, the SHA-256 of its statement. The same content gives the same bytes. */
export async function writeRequest(
  request: Omit<TransferRequest, 'files'>,
  files: RequestFiles,
  signer: SiteSigner,
): Promise<WrittenRequest> {
  const fileEntries = names.map((name) => ({ name, sha256: sha256Of(files[name]), size: files[name].length }));
  const statement: TransferRequest = { ...request, files: fileEntries };
  const text = Buffer.from(toCanonicalText(statement));
  const made = new Date(statement.created);
  const members: [string, Uint8Array][] = [
    [statementName, text],
    [signaturesName, await addSignature(text, signer, [], ofRequests)],
    ...names.map((name): [string, Uint8Array] => [`${folder}/${name}`, files[name]]),
  ];
  const bytes = Buffer.concat([...members.flatMap(([name, content]) => memberOf(name, content, made)), ending]);
  return { bytes, id: sha256Of(text), statement };
}

const ending = Buffer.alloc(2 * block);

const memberOf = (name: string, content: Uint8Array, made: Date): Uint8Array[] => [
  tarHeader(name, content.length, made),
  content,
  Buffer.alloc(padding(content.length)),
];

/** A request that was read and verified for consistency. */
export interface ParsedRequest {
  /** SHA-256 of its statement. */
  id: string;
  statement: TransferRequest;
  /** The keys named in the request that have signed it, at least one. The caller must check that they belong to the site. */
  signers: string[];
  files: Record<FileName, Buffer>;
}

/** Reads a request. Throws `NotATransfer` if it is invalid, changed or unsigned. */
export async function readRequest(path: string): Promise<ParsedRequest> {
  // Do not block on a pipe.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new NotATransfer('It is not a file.');
    if (stats.size > maxRequestBytes) throw new NotATransfer('It is not a request: it is too large.');
    return requestIn(await handle.readFile());
  } finally {
    await handle.close();
  }
}

/** Returns whether a file is a request, from its first bytes. Requests and transfers can be on the same medium. */
export async function isRequest(path: string): Promise<boolean> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const beginning = Buffer.alloc(statementName.length + 1);
    await handle.read(beginning, 0, beginning.length, 0);
    return beginning.toString('latin1') === `${statementName}\0`;
  } finally {
    await handle.close();
  }
}

/** Reads a request from its bytes. */
export function requestIn(bytes: Buffer): ParsedRequest {
  let at = 0;
  const next = (name: string, maxBytes: number): Buffer => {
    const size = sizeAt(bytes, at, name);
    if (size > maxBytes || at + block + size > bytes.length)
      throw new NotATransfer(`It is not a request: ${name} is too large.`);
    const content = bytes.subarray(at + block, at + block + size);
    at += block + size + padding(size);
    return content;
  };
  const text = next(statementName, maxRequestBytes);
  const statement = readStatement(text);
  const signatures = readSignatures(next(signaturesName, maxSignaturesBytes), ofRequests);
  const signers = findSigners(text, signatures, statement.keys, ofRequests);
  if (signers.length === 0) throw new NotATransfer('It was changed: none of the keys that it names has signed it.');
  const files = {} as Record<FileName, Buffer>;
  for (const name of names) {
    const fileEntry = statement.files.find((file) => file.name === name);
    const content = next(`${folder}/${name}`, maxRequestBytes);
    if (fileEntry === undefined || fileEntry.size !== content.length || fileEntry.sha256 !== sha256Of(content)) {
      throw new NotATransfer(`${name} in it does not match its signature.`);
    }
    files[name] = content;
  }
  if (!bytes.subarray(at).equals(ending)) throw new NotATransfer('Its end is wrong.');
  return { id: sha256Of(text), statement, signers, files };
}

function sizeAt(bytes: Buffer, at: number, name: string): number {
  if (at + block > bytes.length) throw new NotATransfer('It is truncated.');
  try {
    const header = readHeader(bytes.subarray(at, at + block));
    if (header?.name === name && header.type === '0') return header.size;
  } catch (cause) {
    if (!(cause instanceof InvalidTarHeader)) throw cause;
    throw new NotATransfer('It is not a request, or it is corrupt at its beginning.', { cause });
  }
  throw new NotATransfer(`It is not a request: ${name} is not at its place.`);
}

function readStatement(bytes: Buffer): TransferRequest {
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new NotATransfer('Its content is not JSON.', { cause });
  }
  const { format } = (value ?? {}) as { format?: unknown };
  if (typeof format === 'number' && format > maxFormat) {
    throw new NotATransfer(`It has the format ${String(format)}, which a newer release of larder reads.`);
  }
  const [problem] = findProblems('TransferRequest', value);
  if (problem !== undefined) throw new NotATransfer(`It is not a request: ${problem.message}.`);
  // Require the canonical form: a value with two encodings could be signed in one and shown in the other.
  if (toCanonicalText(value) !== text) throw new NotATransfer('It is not in canonical form.');
  return value as TransferRequest;
}
