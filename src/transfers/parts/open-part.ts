// Reads and verifies a part of a transfer. Compares every header, document, padding and the end with their expected bytes, so that no other
// program can read anything else from the archive.
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import { findProblems } from '#contract/schema.ts';
import type { TransferBlob, TransferPart, TransferPiece, TransferSignatures } from '#contract/wire.ts';
import type { FileRanges } from '#blobs/file-ranges.ts';
import { TarArchive, type ArchiveErrors } from '#files/tar-archive.ts';
import { openCutFile } from '#files/cut-file.ts';
import { InvalidTarHeader, block, padding, tarHeader, type TarHeader } from '#files/tar-header.ts';
import { StatementFileIndex } from './artifacts.ts';
import {
  membersOf,
  partName,
  signaturesName,
  statementName,
  type Member,
  type PartMembers,
  type Transfer,
} from './members.ts';
import { NotATransfer } from '../statement/not-a-transfer.ts';
import { verifyBytes } from './verify-bytes.ts';
import { maxSignaturesBytes, readSignatures } from '../statement/signatures.ts';
import { idOf, maxStatementBytes, readStatement } from '../statement/statement.ts';

/** An open part: its statement, signatures and part number have been read. */
export interface OpenPart extends Transfer {
  file: string;
  /** SHA-256 of the statement. */
  id: string;
  /** Part number, from 1. */
  part: number;
  signatureList: TransferSignatures['signatures'];
  /** Unpacked transfers only: paths of blobs in this part that are missing in the folder. The reader does not expect them. */
  takenOut?: readonly string[];
  /** Total size of its pieces in bytes. */
  size: number;
  pieces(): AsyncGenerator<OpenPiece>;
  close(): Promise<void>;
}

export interface OpenPiece {
  piece: TransferPiece;
  of: TransferBlob;
  /** Location of its bytes. */
  at: { file: string; offset: number };
  /** Yields the bytes; the last chunk only if all of them are correct. Skipping a piece costs no reading, and leaves it unverified. */
  bytes(): AsyncGenerator<Buffer>;
  /** File ranges that contain the bytes, if they are local files. The caller computes the digest. */
  ranges?: () => FileRanges;
  /** Yields the bytes without verification, for callers that compute the digest themselves. */
  unproven(): AsyncGenerator<Buffer>;
  /** Returns the error for wrong bytes. */
  wrong(): NotATransfer;
}

/**
 * Opens a part and reads everything except its content. Throws `NotATransfer`.
 *
 * @param sibling another open part; if both belong to one transfer, they share the statement in memory
 */
export function openPart(file: string, sibling?: OpenPart): Promise<OpenPart> {
  return TarArchive.open(file, faults, (archive) => opened(archive, sibling));
}

/**
 * Opens a part that is cut into files, such as the pieces of an upload. Throws `NotATransfer`.
 *
 * @param name names the part in errors
 */
export async function openCutPart(name: string, files: readonly string[]): Promise<OpenPart> {
  const source = await openCutFile(files);
  try {
    return await opened(new TarArchive(source, name, source.size, faults), undefined);
  } catch (error) {
    await source.close();
    throw error;
  }
}

const faults: ArchiveErrors = {
  cutOff: () => new NotATransfer('It is truncated.'),
  noFile: () => new NotATransfer('It is not a file.'),
};

async function opened(archive: TarArchive, sibling: OpenPart | undefined): Promise<OpenPart> {
  const { file } = archive;
  const source = new PartReader(archive);
  const { bytes, statement, id } = readOrShareStatement(await source.member(statementName, maxStatementBytes), sibling);
  const signatures = await source.member(signaturesName, maxSignaturesBytes);
  const signatureList = readSignatures(signatures);
  const part = partOf(await source.member(partName, block), statement);
  const transfer = { bytes, statement, signatures };
  const members = membersOf(transfer, part, new StatementFileIndex(statement));
  if (archive.size !== members.size) {
    throw new NotATransfer(
      archive.size < members.size
        ? `It is truncated: it has ${String(archive.size)} bytes of ${String(members.size)}.`
        : 'It has data after its end.',
    );
  }
  const begins = await source.verifyMembers(members, new Date(statement.created));
  const pieces = statement.parts[part - 1]!;
  return {
    ...transfer,
    file,
    id,
    part,
    signatureList,
    size: pieces.values().reduce((sum, { size }) => sum + size, 0),
    async *pieces() {
      let at = 0;
      for (const piece of pieces) {
        const begin = begins[at++]!;
        const of = statement.blobs.at(piece.blob)!;
        const unproven = () => archive.chunks(begin, piece.size);
        const wrong = () => new NotATransfer(`The content ${piece.sha256} in it is corrupt.`);
        yield {
          piece,
          of,
          at: { file, offset: begin },
          unproven,
          wrong,
          ranges: () => archive.ranges(begin, piece.size),
          bytes: () => verifyBytes(unproven(), piece, wrong),
        };
      }
    },
    close: () => archive.close(),
  };
}

function readOrShareStatement(
  bytes: Buffer,
  sibling: OpenPart | undefined,
): Pick<OpenPart, 'bytes' | 'statement' | 'id'> {
  if (sibling !== undefined && bytes.equals(sibling.bytes)) return sibling;
  return { bytes, statement: readStatement(bytes), id: idOf(bytes) };
}

function partOf(bytes: Uint8Array, { parts }: Pick<LazyTransferStatement, 'parts'>): number {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (cause) {
    throw new NotATransfer('Its part number is missing or invalid.', { cause });
  }
  if (findProblems('TransferPart', value).length > 0) throw new NotATransfer('Its part number is missing or invalid.');
  const { part } = value as TransferPart;
  if (part > parts.length) throw new NotATransfer(`It claims to be part ${String(part)} of ${String(parts.length)}.`);
  return part;
}

/** Reads an archive that must contain exactly the expected members. */
class PartReader {
  readonly archive: TarArchive;
  /** Offset of the next leading member. */
  #at = 0;

  constructor(archive: TarArchive) {
    this.archive = archive;
  }

  /** Reads one of the leading members, of at most `maxBytes` bytes. */
  async member(name: string, maxBytes: number): Promise<Buffer> {
    const header = await this.#header();
    if (header?.name !== name || header.type !== '0')
      throw new NotATransfer(`It is not a transfer: ${name} is not at its place.`);
    if (header.size > maxBytes || header.size > this.archive.size)
      throw new NotATransfer(`It is not a transfer: ${name} is too large.`);
    const bytes = await this.archive.read(this.#at + block, header.size);
    this.#at += block + header.size + padding(header.size);
    return bytes;
  }

  /** Compares everything except the content with the expected bytes. Returns the offset of each piece. */
  async verifyMembers(members: PartMembers, made: Date): Promise<number[]> {
    const { archive } = this;
    const begins: number[] = [];
    let at = 0;
    for (const some of inGroups(members)) {
      let end = at;
      for (const { size, bytes } of some) {
        end += block + size;
        // The bytes between two contents are far from all others, so read them with one call.
        if (bytes === undefined) archive.readAhead(end, padding(size) + block);
        end += padding(size);
      }
      for (const member of some) {
        const { size, bytes } = member;
        const header = tarHeader(member.name, size, made);
        if (bytes === undefined) begins.push(at + block);
        const length = block + size + padding(size);
        // Most members are short documents: one comparison of all their bytes takes less time than three.
        const isShort = bytes !== undefined && length <= maxComparedBytes;
        if (!isShort || !(await archive.holds(at, Buffer.concat([header, bytes], length))))
          await this.#verifyMember(at, member, header);
        at += length;
      }
    }
    if (!(await archive.isEmpty(at, 2 * block))) throw new NotATransfer('Its end is wrong.');
    return begins;
  }

  /** Throws an error that names the part of a member that differs. The bytes of a piece are not read. */
  async #verifyMember(at: number, { name, size, bytes }: Member, header: Buffer): Promise<void> {
    const { archive } = this;
    if (!(await archive.holds(at, header))) throw new NotATransfer(`The header of ${name} is wrong.`);
    if (bytes !== undefined && !(await archive.holds(at + block, bytes)))
      throw new NotATransfer(`${name} does not match the statement.`);
    if (!(await archive.isEmpty(at + block + size, padding(size))))
      throw new NotATransfer(`There are unexpected data after ${name}.`);
  }

  async #header(): Promise<TarHeader | undefined> {
    try {
      return await this.archive.header(this.#at);
    } catch (cause) {
      if (!(cause instanceof InvalidTarHeader)) throw cause;
      throw new NotATransfer('It is not a transfer, or it is corrupt at its beginning.', { cause });
    }
  }
}

/** The longest member that is compared at once, in bytes; a copy of a longer one would take much memory. */
const maxComparedBytes = 4096;
/** Members processed together. */
const membersPerGroup = 64;

function* inGroups(members: PartMembers): Generator<Member[]> {
  let some: Member[] = [];
  for (const member of members) {
    if (some.push(member) < membersPerGroup) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}
