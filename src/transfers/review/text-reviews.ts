// Reviews the small contents of a package in a transfer: its icon and its libraries.
import { contentMissing, subjectOf, type SubjectFindings } from '#acts/transfers/findings.ts';
import type { TransferContent, TransferPackage } from '#contract/wire.ts';
import type { Blobs } from '#blobs/blobs.ts';
import type { StoreRecords } from '#records/index.ts';
import { iconName, readIcon, utf8 } from '#review/icon.ts';
import { readBlob } from '../blob-bytes.ts';

/** Finding for missing content, which may still arrive. */
export const missingContent = { refused: contentMissing };

export type TransferReviewResult = SubjectFindings | { refused: string };

/** Returns the reviews to make, each with its subject. */
export function textSubjects(
  { id, icon = null, libraries = [] }: TransferPackage,
  blobs: Pick<Blobs, 'open'>,
): { subject: string; review: () => Promise<TransferReviewResult> }[] {
  const icons = icon === null ? [] : [{ subject: subjectOf(id, 'icon'), review: () => iconIn(blobs, icon) }];
  const versions = libraries.flatMap((library) =>
    library.versions.map(({ api, patch, content }) => ({
      subject: subjectOf(id, library.id, api, patch),
      review: () => libraryIn(blobs, content),
    })),
  );
  return [...icons, ...versions];
}

/** Returns the subjects that are already in the store. */
export async function textsHeld(
  { id, icon = null, libraries = [] }: TransferPackage,
  { packages, charmLibraries }: Pick<StoreRecords, 'packages' | 'charmLibraries'>,
): Promise<string[]> {
  const held: string[] = [];
  if (icon !== null && (await packages.iconOf(id)) === `${icon.content['sha3-384']}.${icon.ending}`)
    held.push(subjectOf(id, 'icon'));
  for (const library of libraries) {
    for (const { api, patch } of await charmLibraries.versions(library.id))
      held.push(subjectOf(id, library.id, api, patch));
  }
  return held;
}

/** Maximum bytes of a text from the publishing tool. */
const maxTextBytes = 4 * 1024 * 1024;
const maxLibraryLength = 1_000_000;

async function bytesOf(blobs: Pick<Blobs, 'open'>, { size, 'sha3-384': sha3_384 }: TransferContent) {
  return size > maxTextBytes ? 'large' : readBlob(blobs, sha3_384);
}

async function iconIn(
  blobs: Pick<Blobs, 'open'>,
  { content, ending }: NonNullable<TransferPackage['icon']>,
): Promise<TransferReviewResult> {
  const bytes = await bytesOf(blobs, content);
  if (bytes === undefined) return missingContent;
  // Check an icon of another site again: that site may not have had this rule.
  const icon = bytes === 'large' ? `it has ${String(content.size)} bytes` : readIcon(bytes);
  if (typeof icon === 'string') return { refused: `The file cannot be used as the icon: ${icon}.` };
  const sha3_384 = content['sha3-384'];
  const isNamedForType = iconName(sha3_384, icon) === `${sha3_384}.${ending}`;
  return isNamedForType
    ? { kind: 'icon' }
    : {
        refused: `The file cannot be used as the icon: it is ${icon.mediaType}, and the transfer names it .${ending}.`,
      };
}

async function libraryIn(blobs: Pick<Blobs, 'open'>, content: TransferContent): Promise<TransferReviewResult> {
  const bytes = await bytesOf(blobs, content);
  if (bytes === undefined) return missingContent;
  const text = bytes === 'large' ? undefined : utf8(bytes);
  if (text !== undefined && text.length <= maxLibraryLength) return { kind: 'library', text };
  return { refused: `A library must be UTF-8 text of at most ${String(maxLibraryLength)} characters.` };
}
