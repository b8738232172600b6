// Applies snapd's rules for meta/snapshots.yaml, which excludes data from the snapshots of a snap (snap/snapshots.go).
import { utf8 } from '../icon.ts';
import { maxMetaFileBytes } from '../snaps/meta-file.ts';
import type { Image } from '../squashfs/image.ts';
import type { Inode } from '../squashfs/inode.ts';
import { Unacceptable, quoted } from '../unacceptable.ts';
import { readTypedDocument, type TypedYaml } from '../yaml.ts';
import { YamlFields, type Faults } from './fields.ts';
import { cleanPath } from './paths.ts';

const file = 'meta/snapshots.yaml';
const folders = ['$SNAP_DATA', '$SNAP_COMMON', '$SNAP_USER_DATA', '$SNAP_USER_COMMON'];

/** Adds the faults that make a device refuse the file. A device does not follow a link here; its target is checked elsewhere. */
export function checkSnapshotManifest(image: Image, inode: Inode | undefined, faults: Faults): void {
  if (inode === undefined || inode.kind === 'symlink') return;
  if (inode.kind !== 'file') {
    faults.add(`${file} must be a file: replace it.`);
    return;
  }
  if (inode.size > maxMetaFileBytes) {
    faults.add(`${file} has more than ${String(maxMetaFileBytes)} bytes: shorten it.`);
    return;
  }
  const document = readManifest(image.read(inode, maxMetaFileBytes), faults);
  for (const path of new YamlFields(document, file, faults).texts('exclude')) {
    const problem = pathProblem(path);
    if (problem !== undefined) faults.add(`'exclude' in ${file} has the path ${quoted(path)}, which ${problem}.`);
  }
}

/** The document; null, with a fault, if a device cannot read it. */
function readManifest(bytes: Uint8Array, faults: Faults): TypedYaml {
  try {
    const text = utf8(bytes);
    const document = text === undefined ? undefined : readTypedDocument(text, file);
    if (document !== undefined) return document;
    faults.add(`${file} has no text in UTF-8 that a device can read: write a list 'exclude', or remove the file.`);
  } catch (error) {
    if (!(error instanceof Unacceptable)) throw error;
    for (const sentence of error.sentences) faults.add(sentence);
  }
  return null;
}

function pathProblem(path: string): string | undefined {
  if (!folders.includes(path.split('/', 1)[0]!)) return `must begin with ${folders.join(', ')}`;
  if (cleanPath(path) !== path) return `must be written as ${quoted(cleanPath(path))}`;
  return /[[\]{}?]|\*\*/.test(path) ? 'has a character that a device refuses: use * alone as a wildcard' : undefined;
}
