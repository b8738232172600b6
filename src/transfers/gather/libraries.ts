// Gathers libraries of charms. A file states its own library id and version; the saved response of the charm store gives the charm and the
// name. The response may also contain the text itself.
import { computeDigest } from '#domain/cryptography.ts';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { createDurableFile } from '#files/durable-streams.ts';
import type { ReportedLibrary } from './saved-responses.ts';
import { readAt, type GatheredFile } from './folder.ts';
import type { GatherState } from './gather-state.ts';
import { createdBy, packageOf } from './store-files.ts';

/** Maximum size in bytes of a library text, for any characters. */
const maxLibraryBytes = 4_000_000;
const mediaType = 'text/x-python';

export interface FileOfLibrary {
  id: string;
  api: number;
  patch: number;
}

/** Returns the library version that a file claims to be; undefined if it claims none. */
export async function libraryIn({ path, size, kind }: GatheredFile): Promise<FileOfLibrary | undefined> {
  if (kind !== 'other' || size > maxLibraryBytes) return undefined;
  const text = (await readAt(path, 0, size)).toString();
  const [, id] = /^LIBID = ["']([A-Za-z0-9_-]{1,64})["'][ \t]*$/m.exec(text) ?? [];
  const [, api] = /^LIBAPI = (\d{1,6})[ \t]*$/m.exec(text) ?? [];
  const [, patch] = /^LIBPATCH = (\d{1,6})[ \t]*$/m.exec(text) ?? [];
  if (id === undefined || api === undefined || patch === undefined) return undefined;
  return { id, api: Number(api), patch: Number(patch) };
}

/** Adds a library file. Returns a reason if it cannot be included. */
export async function takeLibrary(
  file: GatheredFile,
  is: FileOfLibrary,
  sorting: GatherState,
): Promise<'taken' | { reason: string }> {
  const version = `${String(is.api)}.${String(is.patch)}`;
  const reported = sorting.answers.library(is);
  if (reported === undefined) {
    return {
      reason:
        `It is version ${version} of the library ${is.id}, but no response in the folder names its charm. ` +
        'Save the response of the charm store to libraries beside it.',
    };
  }
  await sorting.digest([file]);
  const { sha256 } = sorting.digestsOf(file);
  if (reported.content !== undefined && computeDigest('content sha256', reported.content) !== sha256)
    return {
      reason: `It differs from the text that the charm store has as version ${version} of the library ${reported.name}.`,
    };
  const reason = add(reported, sorting, () => sorting.contentOf(file, mediaType));
  return reason === undefined ? 'taken' : { reason };
}

/** Adds the libraries that responses contain as text. Writes each text to a file, to be read from there. */
export async function addReportedLibraries(sorting: GatherState): Promise<void> {
  const folder = join(sorting.gathering.scratch, 'libraries');
  for (const reported of sorting.answers.libraries) {
    const { content, id, name, charm, api, patch } = reported;
    if (content === undefined) continue;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const version = `${String(api)}.${String(patch)}`;
    const file = join(folder, `${id}-${version}`);
    await createDurableFile(file, content, 0o600);
    const size = Buffer.byteLength(content);
    const digests = {
      sha256: computeDigest('content sha256', content),
      'sha3-384': computeDigest('content sha3-384', content),
      size,
    };
    const reason = add(reported, sorting, () =>
      sorting.gathered.content(digests, mediaType, [{ file, offset: 0, size }]),
    );
    if (reason !== undefined) sorting.gathered.leave(`charm/${charm} ${name} ${version}`, reason);
  }
}

type LibraryContent = ReturnType<GatherState['contentOf']>;

/** Adds a version to its charm. Returns a reason if the charm is unknown. */
function add(
  { id, name, charm, api, patch, hash: libraryHash }: ReportedLibrary,
  sorting: GatherState,
  contentOf: () => LibraryContent,
): string | undefined {
  const of = sorting.answers.all.find((candidate) => candidate.name === charm && candidate.type === 'charm');
  if (of === undefined)
    return `It is a library of charm/${charm}, but no response to info in the folder names the publisher of that charm.`;
  const entry = packageOf(of, sorting);
  if (typeof entry === 'string') return entry;
  const version = { api, patch, hash: libraryHash, content: contentOf(), ...createdBy(of, undefined, sorting) };
  return entry.addLibrary({ id, name, versions: [version] })
    ? undefined
    : `Another library of charm/${charm} has this name, or this version has another text.`;
}
