// Reads from a file which package it belongs to, if the caller has not named one.
import { openImage } from './squashfs/image.ts';
import type { UploadBytes } from './squashfs/source.ts';
import { Unacceptable } from './unacceptable.ts';
import type { OwnName } from './verdict.ts';
import { readYaml } from './yaml.ts';
import { openZip } from './charms/zip.ts';

/** The maximum size of the file in meta. */
const maxYamlBytes = 1 << 20;

/**
 * The name in a snap, a charm or a bundle; undefined for a file of another kind, or without a name. Throws
 * `Unacceptable` if it is corrupt. A review checks the rest of the file.
 */
export function readOwnName(source: UploadBytes): OwnName | undefined {
  const begin = source.size < 4 ? '' : Buffer.from(source.read(0, 4)).toString('latin1');
  if (begin === 'hsqs') return parseOwnName('snap', snapYaml(source), 'meta/snap.yaml');
  if (begin !== 'PK\u0003\u0004') return undefined;
  const zip = openZip(source, ['metadata.yaml', 'charmcraft.yaml', 'bundle.yaml']);
  for (const file of ['metadata.yaml', 'bundle.yaml', 'charmcraft.yaml']) {
    const ownName = parseOwnName('charm', zip.text(file), file);
    if (ownName !== undefined) return ownName;
  }
  return undefined;
}

function snapYaml(source: UploadBytes): string | undefined {
  const image = openImage(source);
  const meta = image.find(image.root, ['meta']).get('meta');
  const yaml = meta?.kind === 'directory' ? image.find(meta, ['snap.yaml']).get('snap.yaml') : undefined;
  if (yaml?.kind !== 'file' || yaml.size > maxYamlBytes) throw new Unacceptable('The snap has no meta/snap.yaml.');
  return Buffer.from(image.read(yaml, maxYamlBytes)).toString();
}

function parseOwnName(namespace: OwnName['namespace'], text: string | undefined, file: string): OwnName | undefined {
  const document = text === undefined ? undefined : readYaml(text, file);
  const name = document instanceof Map ? document.get('name') : undefined;
  return typeof name === 'string' && name !== '' ? { namespace, name } : undefined;
}
