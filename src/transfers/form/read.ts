// Reading a part of a transfer. Nothing in it is believed: each header, each document, the padding and the end are held
// against what they must be, so that no archive can say more to another program than it says here.
import type { Statement } from '#acts/transfer-statement.ts';
import { problems } from '#api/schema.ts';
import type { TransferBlob, TransferPart, TransferPiece, TransferSignatures } from '#api/wire.ts';
import type { FileRanges } from '#blobs/file-ranges.ts';
import { Archive, type ArchiveFaults } from '#files/archive.ts';
import { BadHeader, block, padding, tarHeader, type TarHeader } from '#files/tar-header.ts';
import { Contained } from './artifacts.ts';
import {
  membersOf,
  partName,
  signaturesName,
  statementName,
  type Member,
  type Members,
  type Transfer,
} from './members.ts';
import { NotATransfer } from './not-a-transfer.ts';
import { proven } from './proven.ts';
import { largestSignatures, readSignatures } from './signatures.ts';
import { idOf, largestStatement, readStatement } from './statement.ts';

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
  /** Where they lie in files that can be read here, where they do; whoever reads them there computes their digest. */
  ranges?: () => FileRanges;
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
export function openPart(file: string, beside?: OpenPart): Promise<OpenPart> {
  return Archive.open(file, faults, (archive) => opened(archive, beside));
}

const faults: ArchiveFaults = {
  cutOff: () => new NotATransfer('It is cut off.'),
  noFile: () => new NotATransfer('It is no file.'),
};

async function opened(archive: Archive, beside: OpenPart | undefined): Promise<OpenPart> {
  const { file } = archive;
  const source = new Bytes(archive);
  const { bytes, statement, id } = said(await source.member(statementName, largestStatement), beside);
  const signatures = await source.member(signaturesName, largestSignatures);
  const given = readSignatures(signatures);
  const part = partOf(await source.member(partName, block), statement);
  const transfer = { bytes, statement, signatures };
  const members = membersOf(transfer, part, new Contained(statement));
  if (archive.size !== members.size) {
    throw new NotATransfer(
      archive.size < members.size
        ? `It is cut off: it has ${String(archive.size)} bytes of ${String(members.size)}.`
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
        const unproven = () => archive.chunks(begin, piece.size);
        const wrong = () => new NotATransfer(`The content ${piece.sha256} in it is damaged.`);
        yield {
          ...{ piece, of, at: { file, offset: begin }, unproven, wrong },
          ranges: () => [{ descriptor: archive.descriptor, offset: begin, size: piece.size }],
          bytes: () => proven(unproven(), piece, wrong),
        };
      }
    },
    close: () => archive.close(),
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

/** Reads an archive whose members must be just these. */
class Bytes {
  readonly archive: Archive;
  /** Where the next of the first members begins. */
  #at = 0;

  constructor(archive: Archive) {
    this.archive = archive;
  }

  /** One of the first members, of at most so many bytes. */
  async member(name: string, most: number): Promise<Buffer> {
    const header = await this.#header();
    if (header?.name !== name || header.type !== '0')
      throw new NotATransfer(`It is no transfer: ${name} is not where it must be.`);
    if (header.size > most || header.size > this.archive.size)
      throw new NotATransfer(`It is no transfer: ${name} is too large.`);
    const bytes = await this.archive.read(this.#at + block, header.size);
    this.#at += block + header.size + padding(header.size);
    return bytes;
  }

  /** Holds everything but the content against what it must be; where the bytes of each piece begin. */
  async hold(members: Members, made: Date): Promise<number[]> {
    const { archive } = this;
    const begins: number[] = [];
    let at = 0;
    for (const some of inGroups(members)) {
      let end = at;
      for (const { size, bytes } of some) {
        end += block + size;
        // What stands between two contents is far from everything else.
        if (bytes === undefined) archive.readAhead(end, padding(size) + block);
        end += padding(size);
      }
      for (const { name, size, bytes } of some) {
        if (!(await archive.holds(at, tarHeader(name, size, made))))
          throw new NotATransfer(`The header of ${name} is not what it must be.`);
        if (bytes === undefined) begins.push(at + block);
        else if (!(await archive.holds(at + block, bytes))) throw new NotATransfer(`${name} is not what it must be.`);
        at += block + size;
        if (!(await archive.isEmpty(at, padding(size)))) throw new NotATransfer(`Something stands behind ${name}.`);
        at += padding(size);
      }
    }
    if (!(await archive.isEmpty(at, 2 * block))) throw new NotATransfer('Its end is not what it must be.');
    return begins;
  }

  async #header(): Promise<TarHeader | undefined> {
    try {
      return await this.archive.header(this.#at);
    } catch (cause) {
      if (!(cause instanceof BadHeader)) throw cause;
      throw new NotATransfer('It is no transfer, or it is damaged at its beginning.', { cause });
    }
  }
}

/** So many members are looked at together. */
const together = 64;

function* inGroups(members: Members): Generator<Member[]> {
  let some: Member[] = [];
  for (const member of members) {
    if (some.push(member) < together) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}
