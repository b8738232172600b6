// Reads the file /.rock/metadata.yaml, which rockcraft leaves in a layer of every rock.
import { findInLayer, type Budget, type LayerFinding } from './layer.ts';
import type { UploadBytes } from '../squashfs/source.ts';
import type { TarFile } from './tar.ts';
import { Unacceptable } from '../unacceptable.ts';
import { readYaml } from '../yaml.ts';

/** The maximum bytes unpacked of all layers together: rockcraft adds the file last, in a small layer. */
const maxUnpackedBytes = 32 << 20;
const file = { folder: '.rock', name: 'metadata.yaml', maxBytes: 64 << 10 };
const called = '.rock/metadata.yaml';

export interface RockMetadata {
  name?: string;
  version?: string;
}

export interface Layer extends TarFile {
  digest: string;
}

/** Reads the metadata of images that share layers; `layers` are in order from the lowest to the uppermost. */
export function rockMetadataReader(source: UploadBytes): (layers: readonly Layer[]) => Promise<RockMetadata> {
  const budget: Budget = { left: maxUnpackedBytes };
  const findings = new Map<string, LayerFinding>();

  return async (layers) => {
    for (const layer of layers.toReversed()) {
      const finding = findings.has(layer.digest)
        ? findings.get(layer.digest)
        : await findInLayer(source, layer, file, budget);
      findings.set(layer.digest, finding);
      if (finding === 'hidden') return {};
      if (finding !== undefined) return read(finding);
    }
    return {};
  };
}

function read(bytes: Uint8Array): RockMetadata {
  if (bytes.length > file.maxBytes) {
    throw new Unacceptable(`'${called}' in the rock has more than ${file.maxBytes} bytes: shorten it.`);
  }
  const document = readYaml(new TextDecoder().decode(bytes), called);
  if (!(document instanceof Map)) return {};
  const [name, version] = [document.get('name'), document.get('version')];
  return { ...(typeof name === 'string' && { name }), ...(typeof version === 'string' && { version }) };
}
