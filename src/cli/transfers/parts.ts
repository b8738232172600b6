// Opens the parts of transfers on a medium or in a folder, with the rights of the user who typed the command.
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { isDesktopFile } from '#files/desktop-files.ts';
import { formatNames, isUnpacked, openUnpacked } from '#transfers/parts/unpacked-folder.ts';
import { NotATransfer } from '#transfers/statement/not-a-transfer.ts';
import { openPart, type OpenPart } from '#transfers/parts/open-part.ts';
import { keepHeapSmall } from '#platform/small-heap.ts';
import { isRequest } from '#transfers/request/request-file.ts';
import { extendAnswer, Failure, UsageError, type CommandResult } from '../frame/command.ts';
import { toReadFailure } from '../frame/outside-files.ts';
import type { AsCaller } from '../frame/owner.ts';
import { visible } from '../frame/terminal.ts';

/**
 * Opens the named parts, and all parts in named folders; closes them after `work`. If the parts are complete, the answer lists
 * other `.tar` files of the folders; if they are not, such a file is an error.
 */
export async function withParts(
  names: readonly string[],
  work: (parts: OpenPart[]) => Promise<CommandResult>,
  asCaller: AsCaller = async (opening) => opening(),
): Promise<CommandResult> {
  if (names.length === 0)
    throw new UsageError('nothing was read: name the parts of a transfer, or the folder that they are in');
  keepHeapSmall();
  const open: OpenPart[] = [];
  const others: OtherArchive[] = [];
  try {
    for (const name of names) open.push(...(await partsAt(resolve(name), { asCaller, sibling: open.at(-1), others })));
    const [other] = others;
    if (other !== undefined && !areComplete(open)) throw noTransfer(other.file, other.cause);
    return withOthers(await work(open), others);
  } catch (error) {
    if (error instanceof NotATransfer) throw new Failure(error.message, { code: 'no-transfer', cause: error });
    const { syscall, path } = error as NodeJS.ErrnoException;
    throw syscall === 'read' && path !== undefined ? toReadFailure(path, error) : error;
  } finally {
    await Promise.all(open.map((part) => part.close()));
  }
}

/** An archive in a folder that is not a part of a transfer. */
interface OtherArchive {
  file: string;
  cause: NotATransfer;
}

/** Whether there are parts, and every transfer among them is complete. */
const areComplete = (parts: readonly OpenPart[]): boolean =>
  parts.length > 0 &&
  [...Map.groupBy(parts, ({ id }) => id).values()].every(
    (some) => new Set(some.map(({ part }) => part)).size === some[0]!.statement.parts.length,
  );

function withOthers(answer: CommandResult, others: readonly OtherArchive[]): CommandResult {
  if (others.length === 0) return answer;
  const files = others.map(({ file }) => file);
  const note = `Not read, because it is not part of a transfer: ${formatNames(files.map(visible))}.`;
  return extendAnswer(answer, note, { 'not-read': files });
}

interface PartOpenOptions {
  asCaller: AsCaller;
  sibling: OpenPart | undefined;
  /** Collects the archives that are not parts. */
  others: OtherArchive[];
}

async function partsAt(path: string, opening: PartOpenOptions): Promise<OpenPart[]> {
  const { asCaller } = opening;
  try {
    if (await asCaller(() => isUnpacked(path))) return (await openUnpacked(path, asCaller)).parts;
    return await asCaller(() => archivesAt(path, opening));
  } catch (error) {
    throw error instanceof NotATransfer ? noTransfer(path, error) : toReadFailure(path, error);
  }
}

/** A disc without long names shows the ending in capitals, followed by a version. */
const ending = /\.tar(?:;\d+)?$/i;

async function archivesAt(path: string, { sibling, others }: PartOpenOptions): Promise<OpenPart[]> {
  if (!statSync(path).isDirectory()) return [await opened(path, sibling)];
  const files = readdirSync(path)
    .filter((name) => ending.test(name) && !isDesktopFile(join(path, name)))
    .sort();
  const parts: OpenPart[] = [];
  let isOther = false;
  for (const name of files) {
    const file = join(path, name);
    if (await isRequest(file)) continue;
    try {
      parts.push(await openPart(file, parts.at(-1) ?? sibling));
    } catch (cause) {
      if (!(cause instanceof NotATransfer)) throw cause;
      others.push({ file, cause });
      isOther = true;
    }
  }
  if (parts.length === 0 && !isOther)
    throw new Failure(`${path} holds no part of a transfer: no file in it ends in .tar`);
  return parts;
}

/** Shares the statement with `sibling`, if both are parts of one transfer. */
async function opened(file: string, sibling: OpenPart | undefined): Promise<OpenPart> {
  try {
    return await openPart(file, sibling);
  } catch (error) {
    throw error instanceof NotATransfer ? noTransfer(file, error) : error;
  }
}

const noTransfer = (path: string, cause: NotATransfer): Failure =>
  new Failure(`${path} cannot be read as a transfer. ${cause.message}`, { code: 'no-transfer', cause });

/** The name of a medium, such as the label on a disc. */
export const media = {
  type: 'string',
  value: 'ID',
  summary: 'The label of the disc or stick, for the receipt and the list of exports.',
} as const;

export function parseMedium(text: string | undefined): string | undefined {
  if (text === undefined || /^[\p{L}\p{N}\p{P}\p{S} ]{1,100}$/u.test(text)) return text;
  throw new UsageError('--media is the label of the disc or stick: one line of at most 100 characters');
}
