// Reads a snap: its meta/snap.yaml, its snapcraft.yaml, its icon, and the address of its build.
import { openImage, type Image } from '../squashfs/image.ts';
import type { Inode } from '../squashfs/inode.ts';
import type { UploadBytes } from '../squashfs/source.ts';
import { maxMetaFileBytes, readMetaFile, requireMetaFolder, type MetaFile } from './meta-file.ts';
import { readSnapBill } from '../contents/snap-contents.ts';
import { checkSnapFiles } from '../snap-rules/container.ts';
import { Faults } from '../snap-rules/fields.ts';
import { readModel, type DuplicateKeys } from '../snap-rules/model.ts';
import { checkRules } from '../snap-rules/rules.ts';
import { checkSnapshotManifest } from '../snap-rules/snapshots.ts';
import { readSnapYaml } from './snap-yaml.ts';
import { Unacceptable } from '../unacceptable.ts';
import { utf8 } from '../icon.ts';
import { iconFiles, readSnapIcon } from './snap-icon.ts';
import type { SnapFacts } from '../verdict.ts';
import { readTypedYaml, readYaml, type Yaml } from '../yaml.ts';

const metaFile: MetaFile = { container: 'snap', name: 'snap.yaml' };

/**
 * Reads a snap; throws `Unacceptable` if it is not acceptable for the package `packageName`. If `signed` is true, the rules that
 * snapd applies before an installation are not checked: the store that signed the snap has checked them.
 */
export function readSnap(source: UploadBytes, packageName: string, signed = false): SnapFacts {
  const image = openImage(source);
  const top = image.find(image.root, ['meta', 'snap', 'usr', 'var', 'dpkg.yaml']);
  const meta = requireMetaFolder(top.get('meta'), metaFile);
  const inMeta = image.find(meta, ['snap.yaml', 'snapshots.yaml', 'snapcraft.yaml', 'gui', 'hooks']);
  const text = readMetaFile(image, inMeta.get('snap.yaml'), metaFile);
  const snap = entriesIn(image, top.get('snap'), ['snapcraft.yaml', 'manifest.yaml']);
  const gui = entriesIn(image, inMeta.get('gui'), iconFiles);
  const refusals = signed ? [] : refusalsOf(image, text, inMeta);
  const facts = readSnapYaml(text, packageName, { signed, refusals });
  // The path that snapcraft uses, and the one of its first versions.
  const craftYaml = textIn(image, snap.get('snapcraft.yaml')) ?? textIn(image, inMeta.get('snapcraft.yaml')) ?? null;
  const manifest = snap.has('manifest.yaml') ? manifestOf(textIn(image, snap.get('manifest.yaml'))) : undefined;
  return {
    ...facts,
    craftYaml,
    buildUrl: buildUrlIn(manifest),
    bill: readSnapBill({ image, top, manifest, recipe: craftYaml, base: facts.base, type: facts.type }),
    ...readSnapIcon(image, gui),
  };
}

/** Why devices would not install the snap. */
function refusalsOf(image: Image, text: string, inMeta: ReadonlyMap<string, Inode>): string[] {
  const faults = new Faults();
  const duplicates: DuplicateKeys = new WeakMap();
  const document = readTypedYaml(text, 'meta/snap.yaml', duplicates);
  if (!(document instanceof Map)) return [];
  const model = readModel(document, duplicates, faults);
  const hooks = inMeta.get('hooks');
  const hookFiles = hooks?.kind === 'directory' ? Array.from(image.entries(hooks), ({ name }) => name) : [];
  checkRules(model, hookFiles, faults);
  checkSnapFiles(image, model, faults);
  checkSnapshotManifest(image, inMeta.get('snapshots.yaml'), faults);
  return faults.sentences;
}

// Everything from here on is optional. Invalid files are left out: a snap works without them.

function entriesIn(image: Image, directory: Inode | undefined, names: string[]): Map<string, Inode> {
  return directory?.kind === 'directory' ? image.find(directory, names) : new Map<string, Inode>();
}

function bytesIn(image: Image, inode: Inode | undefined): Uint8Array | undefined {
  if (inode?.kind !== 'file' || inode.size === 0 || inode.size > maxMetaFileBytes) return undefined;
  return image.read(inode, maxMetaFileBytes);
}

function textIn(image: Image, inode: Inode | undefined): string | undefined {
  const bytes = bytesIn(image, inode);
  return bytes && utf8(bytes);
}

const longestUrl = 2000;

/** snapcraft's manifest; null if it cannot be read. */
function manifestOf(text: string | undefined): Yaml {
  try {
    return text === undefined ? null : readYaml(text, 'snap/manifest.yaml');
  } catch (error) {
    if (error instanceof Unacceptable) return null;
    throw error;
  }
}

/** The address that a build farm left in the manifest. */
function buildUrlIn(manifest: Yaml | undefined): string | null {
  const info = manifest instanceof Map ? manifest.get('image-info') : undefined;
  const text = info instanceof Map ? info.get('build_url') : undefined;
  if (typeof text !== 'string' || text.length > longestUrl || /[^\x21-\x7e]/.test(text)) return null;
  return ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '') ? text : null;
}
