// Reading a part of a transfer. Nothing in it is believed: each header, each document, the padding and the end are held
// against what they must be, so that no archive can say more to another program than it says here.
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

import type { Statement } from '#acts/transfer-statement.ts';
import { problems } from '#api/schema.ts';
import type { TransferBlob, TransferPart, TransferPiece, TransferSignatures } from '#api/wire.ts';
import { BadHeader, block, padding, readHeader, tarHeader } from '#files/tar-header.ts';
import { Contained } from './artifacts.ts';
import { membersOf, partName, signaturesName, statementName, type Members, type Transfer } from './members.ts';
import { NotATransfer } from './not-a-transfer.ts';
import { proven } from './proven.ts';
import { largestSignatures, readSignatures } from './signatures.ts';
import { idOf, largestStatement, readStatement } from './statement.ts';

const chunk = 1024 * 1024;
const window = 16 * 1024;

/** A part that is open, of which the statement and what says which part it is have been read. */
export interface OpenPart extends Transfer {
  file: string;
  /** The SHA-256 of the statement. */
  id: string;
  /** Its number, from 1 on. */
  part: number;
  given: TransferSignatures['signatures'];
  /** Of an unpacked transfer what begins or goes on in this part and is there no more, by its path; nothing of it is waited for. */
  takenOut?: readonly string[];
  /** How many bytes its pieces have. */
  size: number;
  pieces(): AsyncGenerator<OpenPiece>;
  close(): Promise<void>;
}

export interface OpenPiece {
  piece: TransferPiece;
  of: TransferBlob;
  /** Where its bytes lie. */
  at: { file: string; offset: number };
  /** Its bytes, of which the last are given only when all of them are right; not reading them costs nothing, and proves nothing. */
  bytes(): AsyncGenerator<Buffer>;
  /** The same without a proof, for whoever computes its digest anyway. */
  unproven(): AsyncGenerator<Buffer>;
  /** What is thrown where they are not. */
  wrong(): NotATransfer;
}

/**
 * Opens a part, and reads all but its content; throws `NotATransfer`.
 *
 * @param beside another part that is open: where both are of one transfer, its statement is in memory once
 */
export async function openPart(file: string, beside?: OpenPart): Promise<OpenPart> {
  // A pipe would wait for somebody to write to it.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new NotATransfer('It is no file.');
    return await opened(file, new Bytes(handle, file, found.size), beside);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function opened(file: string, source: Bytes, beside: OpenPart | undefined): Promise<OpenPart> {
  const { bytes, statement, id } = said(await source.member(statementName, largestStatement), beside);
  const signatures = await source.member(signaturesName, largestSignatures);
  const given = readSignatures(signatures);
  const part = partOf(await source.member(partName, block), statement);
  const transfer = { bytes, statement, signatures };
  const members = membersOf(transfer, part, new Contained(statement));
  if (source.size !== members.size) {
    throw new NotATransfer(
      source.size < members.size
        ? `It is cut off: it has ${String(source.size)} bytes of ${String(members.size)}.`
        : 'Something stands behind its end.',
    );
  }
  const begins = await source.hold(members, new Date(statement.created));
  const pieces = statement.parts[part - 1]!;
  return {
    ...transfer,
    ...{ file, id, part, given },
    size: pieces.values().reduce((sum, { size }) => sum + size, 0),
    async *pieces() {
      let at = 0;
      for (const piece of pieces) {
        const begin = begins[at++]!;
        const of = statement.blobs.at(piece.blob)!;
        const unproven = () => source.chunks(begin, piece.size);
        const wrong = () => new NotATransfer(`The content ${piece.sha256} in it is damaged.`);
        yield {
          ...{ piece, of, at: { file, offset: begin }, unproven, wrong },
          bytes: () => proven(unproven(), piece, wrong),
        };
      }
    },
    close: () => source.close(),
  };
}

function said(bytes: Buffer, beside: OpenPart | undefined): Pick<OpenPart, 'bytes' | 'statement' | 'id'> {
  if (beside !== undefined && bytes.equals(beside.bytes)) return beside;
  return { bytes, statement: readStatement(bytes), id: idOf(bytes) };
}

function partOf(bytes: Uint8Array, { parts }: Pick<Statement, 'parts'>): number {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (cause) {
    throw new NotATransfer('It does not say which part it is.', { cause });
  }
  if (problems('TransferPart', value).length > 0) throw new NotATransfer('It does not say which part it is.');
  const { part } = value as TransferPart;
  if (part > parts.length)
    throw new NotATransfer(`It says that it is part ${String(part)} of ${String(parts.length)}.`);
  return part;
}

/** The bytes of the file, which may change while it is read, or end. */
class Bytes {
  readonly #handle: FileHandle;
  readonly #file: string;
  readonly size: number;
  /** Where the next of the first members begins. */
  #at = 0;
  #window: { begin: number; bytes: Buffer } = { begin: 0, bytes: Buffer.alloc(0) };

  constructor(handle: FileHandle, file: string, size: number) {
    this.#handle = handle;
    this.#file = file;
    this.size = size;
  }

  /** One of the first members, of at most so many bytes. */
  async member(name: string, most: number): Promise<Buffer> {
    const header = readable(await this.#read(this.#at, block));
    if (header?.name !== name || header.type !== '0')
      throw new NotATransfer(`It is no transfer: ${name} is not where it must be.`);
    if (header.size > most || header.size > this.size)
      throw new NotATransfer(`It is no transfer: ${name} is too large.`);
    const bytes = await this.#read(this.#at + block, header.size);
    this.#at += block + header.size + padding(header.size);
    return bytes;
  }

  /** Holds everything but the content against what it must be; where the bytes of each piece begin. */
  async hold(members: Members, made: Date): Promise<number[]> {
    const begins: number[] = [];
    let at = 0;
    for (const { name, size, bytes } of members) {
      const header = await this.#near(at, block);
      if (!header.equals(tarHeader(name, size, made)))
        throw new NotATransfer(`The header of ${name} is not what it must be.`);
      if (bytes === undefined) begins.push(at + block);
      else if (!(await this.#holds(at + block, bytes))) throw new NotATransfer(`${name} is not what it must be.`);
      at += block + size;
      if (!isZero(await this.#near(at, padding(size)))) throw new NotATransfer(`Something stands behind ${name}.`);
      at += padding(size);
    }
    if (!isZero(await this.#near(at, 2 * block))) throw new NotATransfer('Its end is not what it must be.');
    return begins;
  }

  async #holds(begin: number, bytes: Uint8Array): Promise<boolean> {
    for (let at = 0; at < bytes.length; at += chunk) {
      const some = bytes.subarray(at, at + chunk);
      if (!(await this.#near(begin + at, some.length)).equals(some)) return false;
    }
    return true;
  }

  async *chunks(begin: number, size: number): AsyncGenerator<Buffer> {
    for (let at = 0; at < size; at += chunk) yield this.#read(begin + at, Math.min(chunk, size - at));
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** Bytes of what stands between the contents: those around them are read with them, since they are asked for next. */
  async #near(position: number, length: number): Promise<Buffer> {
    const { begin, bytes } = this.#window;
    if (position < begin || position + length > begin + bytes.length) {
      const most = Math.min(Math.max(length, window), Math.max(length, this.size - position));
      this.#window = { begin: position, bytes: await this.#read(position, most) };
    }
    const at = position - this.#window.begin;
    return this.#window.bytes.subarray(at, at + length);
  }

  async #read(position: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length;) {
      const { bytesRead } = await this.#handle.read(bytes, at, length - at, position + at).catch((error: unknown) => {
        throw readingFailed(this.#file, error);
      });
      if (bytesRead === 0) throw new NotATransfer('It is cut off.');
      at += bytesRead;
    }
    return bytes;
  }
}

/** Says of which file it was: the system names none when it does not give what it has opened. */
export const readingFailed = (file: string, cause: unknown): Error =>
  Object.assign(new Error(`cannot read ${file}`, { cause }), {
    code: (cause as NodeJS.ErrnoException).code,
    path: file,
    syscall: 'read',
  });

const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

function readable(header: Buffer): ReturnType<typeof readHeader> {
  try {
    return readHeader(header);
  } catch (cause) {
    if (cause instanceof BadHeader)
      throw new NotATransfer('It is no transfer, or it is damaged at its beginning.', { cause });
    throw cause;
  }
}
