// Reads the bill of materials of an image from the lists of its package managers: the layers are read in order, and a
// file of a lower layer counts unless an upper layer replaces or deletes it.
import { BillCollector, type BillComponent, type BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import { utf8 } from '../icon.ts';
import { isFile, pathOf, visitLayer, type Budget } from '../images/layer.ts';
import type { Layer } from '../images/rock-metadata.ts';
import type { UploadBytes } from '../squashfs/source.ts';
import { readApkInstalled, readChiselManifest, readDpkgStatus, readOsRelease } from './package-lists.ts';

/** A layer of an image, from the lowest to the uppermost. */
export interface ImageLayer extends Layer {
  source: UploadBytes;
}

/** The maximum bytes of one list; the status file of dpkg in a full distribution has 3 MB. */
const maxListBytes = 16 << 20;
/** The maximum bytes of all lists of an image together. */
const maxAllBytes = 32 << 20;
const maxFiles = 10_000;
/** Added to the unpacked bytes for each entry, because an empty file takes as much time as a block of data. */
const bytesPerEntry = 2 << 10;

type ListReader = (bytes: Uint8Array) => Iterable<BillComponent | undefined>;

const ofText =
  (read: (text: string) => Iterable<BillComponent | undefined>): ListReader =>
  (bytes) => {
    const text = utf8(bytes);
    if (text === undefined) throw new Error('it is no text in UTF-8');
    return read(text);
  };

const osRelease = ['etc/os-release', 'usr/lib/os-release'];

/** The reader of a path; undefined for all other files. */
function readerOf(path: string): ListReader | undefined {
  // The first package of a distroless image or a chiselled rock is in a file of its own, beside the digests of its files.
  if (/^var\/lib\/dpkg\/status(?:\.d\/[^/]+(?<!\.md5sums))?$/.test(path)) return ofText(readDpkgStatus);
  if (/^(?:usr\/)?lib\/apk\/db\/installed$/.test(path)) return ofText(readApkInstalled);
  return path === 'var/lib/chisel/manifest.wall' ? readChiselManifest : undefined;
}

const isWanted = (path: string): boolean => osRelease.includes(path) || readerOf(path) !== undefined;

/** The files that a layer adds, with their bytes, or null if they cannot be read; and the paths that it hides below it. */
interface LayerLists {
  files: Map<string, Uint8Array | null>;
  hidden: Set<string>;
}

/** Keeps the lists of the layers that were read last, for images that share layers. */
export class LayerCache {
  readonly #layers = new Map<string, LayerLists>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(digest: string): LayerLists | undefined {
    return this.#layers.get(digest);
  }

  keep(digest: string, lists: LayerLists): void {
    this.#layers.set(digest, lists);
    this.#bytes += sizeOf(lists);
    for (const [oldest, dropped] of this.#layers) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#layers.delete(oldest);
      this.#bytes -= sizeOf(dropped);
    }
  }
}

/** Bytes for each path, with the objects around it. */
const bytesPerPath = 500;

const sizeOf = ({ files, hidden }: LayerLists): number =>
  bytesPerPath * (1 + files.size + hidden.size) +
  files.values().reduce((bytes, content) => bytes + (content?.length ?? 0), 0);

/**
 * Reads images that share layers; each layer is unpacked once, and not if `cache` has it. `budget` bounds the unpacked
 * bytes of all.
 */
export function imageBillReader(
  budget: Budget,
  cache?: LayerCache,
): (layers: readonly ImageLayer[]) => Promise<BillOfMaterials> {
  const listsByDigest = new Map<string, LayerLists | string>();
  const memory = { left: maxAllBytes };

  return async (layers) => {
    const bill = new BillCollector();
    let files = new Map<string, Uint8Array | null>();
    for (const layer of layers) {
      const present = listsByDigest.get(layer.digest) ?? cache?.get(layer.digest);
      const lists = present ?? (await readLayer(layer, budget, memory));
      listsByDigest.set(layer.digest, lists);
      if (present === undefined && typeof lists !== 'string') cache?.keep(layer.digest, lists);
      if (typeof lists === 'string') {
        bill.addGap(`A layer cannot be read: ${lists}.`);
        continue;
      }
      files = new Map([...files].filter(([path]) => !isHidden(path, lists.hidden)));
      for (const [path, bytes] of lists.files) files.set(path, bytes);
    }
    addFiles(bill, files);
    return bill.finish('The image has none of the lists of packages that the store reads: of dpkg, apk or Chisel.');
  };
}

/** The lists in a layer, or why it cannot be read. */
async function readLayer(layer: ImageLayer, budget: Budget, memory: { left: number }): Promise<LayerLists | string> {
  const lists: LayerLists = { files: new Map(), hidden: new Set() };
  const fault = await visitLayer(layer.source, layer, budget, async ({ type, size, name }, take) => {
    const path = pathOf(name);
    budget.left -= bytesPerEntry;
    if (isWanted(path)) {
      const isTaken = isFile(type) && size <= maxListBytes && size <= memory.left;
      if (isTaken) memory.left -= size;
      // A link to the list of the release is common, and its target is read as well.
      if (type !== '2' || !osRelease.includes(path)) lists.files.set(path, isTaken ? await take(size) : null);
    }
    // A list hides the one below it by its own entry.
    const hidden = lists.files.has(path) ? undefined : hiddenBy(path, type);
    if (hidden !== undefined) lists.hidden.add(hidden);
    return isTooLong(lists) ? 'end' : undefined;
  });
  return isTooLong(lists) ? `it has more than ${String(maxFiles)} lists of packages` : (fault ?? lists);
}

const isTooLong = ({ files, hidden }: LayerLists): boolean => files.size + hidden.size > maxFiles;

/** The folders that hold lists, at every depth, and the lists: only these paths are worth hiding. */
const above =
  /^(?:|var|var\/lib|var\/lib\/(?:dpkg|chisel)|(?:usr\/)?lib(?:\/apk(?:\/db)?)?|etc|usr|var\/lib\/dpkg\/status\.d)$/;

/**
 * The path that an entry hides in lower layers, with everything in it: `D/.wh.NAME` hides `D/NAME`, `D/.wh..wh..opq`
 * hides the content of `D`, given as `D/`, and an entry that is no folder hides a folder (OCI image-spec, layer.md).
 */
function hiddenBy(path: string, type: string): string | undefined {
  const slash = path.lastIndexOf('/') + 1;
  const [folder, name] = [path.slice(0, slash), path.slice(slash)];
  const isNear = (some: string): boolean => above.test(some) || isWanted(some);
  if (name === '.wh..wh..opq') return above.test(folder.slice(0, -1)) ? folder : undefined;
  if (name.startsWith('.wh.')) return isNear(folder + name.slice(4)) ? folder + name.slice(4) : undefined;
  return type !== '5' && isNear(path) ? path : undefined;
}

/** Whether a path, or a folder above it, is hidden. */
function isHidden(path: string, hidden: ReadonlySet<string>): boolean {
  if (hidden.size === 0) return false;
  if (hidden.has(path) || hidden.has('')) return true;
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
    if (hidden.has(path.slice(0, at)) || hidden.has(path.slice(0, at + 1))) return true;
  return false;
}

function addFiles(bill: BillCollector, files: ReadonlyMap<string, Uint8Array | null>): void {
  for (const [path, bytes] of files) {
    try {
      if (bytes === null) throw new Error('it is no file, or too long');
      const read = readerOf(path);
      if (read !== undefined) bill.addFile(path, read(bytes));
    } catch {
      bill.addGap(`${path} cannot be read.`);
    }
  }
  const release = osRelease.map((path) => files.get(path)).find((bytes) => bytes instanceof Uint8Array);
  bill.distribution = (release && readOsRelease(Buffer.from(release).toString())) ?? null;
}
