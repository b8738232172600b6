// Reads the file /.rock/metadata.yaml, which rockcraft leaves in a layer of every rock.
import { findInLayer, type Budget, type Finding } from './layer.ts';
import type { Source } from './squashfs/source.ts';
import type { TarFile } from './tar.ts';
import { Unacceptable } from './unacceptable.ts';
import { readYaml } from './yaml.ts';

/** The maximum bytes unpacked of all layers together: rockcraft adds the file last, in a small layer. */
const mostUnpacked = 32 << 20;
const file = { folder: '.rock', name: 'metadata.yaml', longest: 64 << 10 };
const called = '.rock/metadata.yaml';

export interface RockMetadata {
  name?: string;
  version?: string;
}

export interface Layer extends TarFile {
  digest: string;
}

/** Reads the metadata of images that share layers; `layers` are in order from the lowest to the uppermost. */
export function rockMetadataReader(source: Source): (layers: readonly Layer[]) => Promise<RockMetadata> {
  const budget: Budget = { left: mostUnpacked };
  const known = new Map<string, Finding>();

  return async (layers) => {
    for (const layer of layers.toReversed()) {
      const found = known.has(layer.digest) ? known.get(layer.digest) : await findInLayer(source, layer, file, budget);
      known.set(layer.digest, found);
      if (found === 'hidden') return {};
      if (found !== undefined) return read(found);
    }
    return {};
  };
}

function read(bytes: Uint8Array): RockMetadata {
  if (bytes.length > file.longest) {
    throw new Unacceptable(`'${called}' in the rock has more than ${file.longest} bytes: shorten it.`);
  }
  const document = readYaml(new TextDecoder().decode(bytes), called);
  if (!(document instanceof Map)) return {};
  const [name, version] = [document.get('name'), document.get('version')];
  return { ...(typeof name === 'string' && { name }), ...(typeof version === 'string' && { version }) };
}
