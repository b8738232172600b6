// Parts of transfers on a stick or in a folder, opened with the rights of whoever typed the command.
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { isUnpacked, openUnpacked } from '#transfers/form/folder.ts';
import { NotATransfer } from '#transfers/form/not-a-transfer.ts';
import { openPart, type OpenPart } from '#transfers/form/read.ts';
import { keepHeapSmall } from '#src/small-heap.ts';
import { isRequest } from '#transfers/request/form.ts';
import { Failure, UsageError } from '../frame/command.ts';
import { cannotRead } from '../frame/outside.ts';
import type { AsCaller } from '../frame/owner.ts';

/** Opens the parts that are named; of a folder those of its files that are some. They are closed when `work` is done. */
export async function withParts<Result>(
  names: readonly string[],
  work: (parts: OpenPart[]) => Promise<Result>,
  asCaller: AsCaller = async (opening) => opening(),
): Promise<Result> {
  if (names.length === 0)
    throw new UsageError('nothing was read: name the parts of a transfer, or the folder that they are in');
  keepHeapSmall();
  const open: OpenPart[] = [];
  try {
    for (const name of names) open.push(...(await partsAt(resolve(name), asCaller, open.at(-1))));
    return await work(open);
  } catch (error) {
    if (error instanceof NotATransfer) throw new Failure(error.message, { code: 'no-transfer', cause: error });
    const { syscall, path } = error as NodeJS.ErrnoException;
    throw syscall === 'read' && path !== undefined ? cannotRead(path, error) : error;
  } finally {
    await Promise.all(open.map((part) => part.close()));
  }
}

async function partsAt(path: string, asCaller: AsCaller, beside: OpenPart | undefined): Promise<OpenPart[]> {
  try {
    if (await asCaller(() => isUnpacked(path))) return (await openUnpacked(path, asCaller)).parts;
    return await asCaller(() => archivesAt(path, beside));
  } catch (error) {
    throw error instanceof NotATransfer ? noTransfer(path, error) : cannotRead(path, error);
  }
}

/** A disc without long names shows it in capitals, and with a version behind it. */
const ending = /\.tar(?:;\d+)?$/i;

async function archivesAt(path: string, beside: OpenPart | undefined): Promise<OpenPart[]> {
  if (!statSync(path).isDirectory()) return [await opened(path, beside)];
  const files = readdirSync(path)
    .filter((name) => ending.test(name))
    .sort();
  const parts: OpenPart[] = [];
  for (const name of files) {
    const file = join(path, name);
    if (!(await isRequest(file))) parts.push(await opened(file, parts.at(-1) ?? beside));
  }
  if (parts.length === 0) throw new Failure(`${path} holds no part of a transfer: no file in it ends in .tar`);
  return parts;
}

/** Of parts of one transfer the statement is in memory once. */
async function opened(file: string, beside: OpenPart | undefined): Promise<OpenPart> {
  try {
    return await openPart(file, beside);
  } catch (error) {
    throw error instanceof NotATransfer ? noTransfer(file, error) : error;
  }
}

const noTransfer = (path: string, cause: NotATransfer): Failure =>
  new Failure(`${path} cannot be read as a transfer. ${cause.message}`, { code: 'no-transfer', cause });

/** What a medium is called, such as what stands on the disc. */
export const media = {
  type: 'string',
  value: 'ID',
  summary: 'What the disc or the stick is called, which stands in the receipt and in the list of what left.',
} as const;

export function mediumNamed(text: string | undefined): string | undefined {
  if (text === undefined || /^[\p{L}\p{N}\p{P}\p{S} ]{1,100}$/u.test(text)) return text;
  throw new UsageError('--media is what stands on the disc: one line of at most 100 characters');
}
