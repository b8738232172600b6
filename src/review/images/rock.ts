// Reads a rock: an archive in the OCI image layout. Everything that its index refers to must exist and match its
// digest, so that no device pulls an incomplete image.
import { createDigest } from '#domain/cryptography.ts';
import { mergeBills, type BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import { imageBillReader, type ImageLayer } from '../contents/image-contents.ts';
import { rockMetadataReader } from './rock-metadata.ts';
import type { UploadBytes } from '../squashfs/source.ts';
import { listTar, type TarFile } from './tar.ts';
import { Unacceptable, plain, quoted } from '../unacceptable.ts';
import type { RockFacts } from '../verdict.ts';

const maxDocumentBytes = 1 << 20;
const mostSigns = 50_000;
const maxManifests = 100;
const maxLayers = 500;
/** Beyond this total, only the sizes of layers are checked: hashing them would take longer than clients wait. */
const maxHashedBytes = 4 * 2 ** 30;
/** The maximum bytes unpacked for the bill of materials, so that the review ends in time; a job reads larger rocks. */
const maxBillBytes = 256 << 20;

const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
const indexTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];

type RockDocument = Record<string, unknown>;

/** Reads a rock; throws `Unacceptable` if it is not acceptable for the package `packageName`. */
export async function readRock(source: UploadBytes, packageName: string, billBytes = maxBillBytes): Promise<RockFacts> {
  const archive = new RockArchive(source);
  checkLayout(archive);
  const architectures = new Set<string>();
  let [manifests, layers] = [0, 0];
  let version: string | null = null;
  const metadataOf = rockMetadataReader(source);
  const budget = { left: billBytes };
  const billOf = imageBillReader(budget);
  const bills: BillOfMaterials[] = [];

  await readIndex(archive.document('index.json'), 'index.json', 0);
  if (manifests === 0) throw new Unacceptable("'index.json' leads to no image: make the archive again.");
  return { version, architectures: [...architectures], ...(budget.left >= 0 && { bill: mergeBills(bills) }) };

  async function readIndex(index: RockDocument, documentName: string, depth: number): Promise<void> {
    const list = index['manifests'];
    if (!Array.isArray(list))
      throw new Unacceptable(`'${documentName}' has no list of manifests: make the archive again.`);
    if (depth > 3) throw new Unacceptable('The indexes of the image nest too deeply: make the archive again.');
    for (const entry of list) {
      if (++manifests > maxManifests) throw new Unacceptable(`The image has more than ${maxManifests} manifests.`);
      const descriptor = descriptorIn(entry, documentName);
      const { mediaType, digest } = descriptor;
      const content = parsed(archive.bytes(descriptor), digest);
      if (indexTypes.includes(mediaType)) await readIndex(content, digest, depth + 1);
      else if (manifestTypes.includes(mediaType)) await readManifest(content, digest);
      else
        throw new Unacceptable(
          `'${documentName}' leads to something of the type ${quoted(mediaType)}, which is no image.`,
        );
    }
  }

  async function readManifest(manifest: RockDocument, documentName: string): Promise<void> {
    const configDescriptor = descriptorIn(manifest['config'], documentName);
    const config = parsed(archive.bytes(configDescriptor), configDescriptor.digest);
    const list = manifest['layers'];
    if (!Array.isArray(list))
      throw new Unacceptable(`The manifest ${documentName} has no list of layers: make the archive again.`);
    const files: ImageLayer[] = [];
    for (const layer of list) {
      if (++layers > maxLayers) throw new Unacceptable(`The image has more than ${maxLayers} layers.`);
      const descriptor = descriptorIn(layer, documentName);
      files.push({ ...archive.content(descriptor), digest: descriptor.digest, source });
    }
    const labels = { ...members(members(config['config'])['Labels']), ...members(manifest['annotations']) };
    mustBeCalled(packageName, labels['org.opencontainers.image.ref.name'], 'its labels');
    const metadata = await metadataOf(files);
    mustBeCalled(packageName, metadata.name, "its '/.rock/metadata.yaml'");
    for (const candidate of [labels['org.opencontainers.image.version'], metadata.version]) {
      if (typeof candidate === 'string' && /^[\x21-\x7e]{1,64}$/.test(candidate)) version ??= candidate;
    }
    const { architecture } = config;
    if (typeof architecture === 'string' && /^[a-z0-9]{1,32}$/.test(architecture)) architectures.add(architecture);
    if (budget.left >= 0) bills.push(await billOf(files));
  }
}

function checkLayout(archive: RockArchive): void {
  if (!archive.has('oci-layout') && archive.has('manifest.json')) {
    throw new Unacceptable(
      "The file is an archive of 'docker save', but a rock is an OCI archive: " +
        "'skopeo copy docker-archive:FILE oci-archive:NEW' makes one of it.",
    );
  }
  const layout = archive.document('oci-layout');
  if (typeof layout['imageLayoutVersion'] !== 'string' || !layout['imageLayoutVersion'].startsWith('1.')) {
    throw new Unacceptable("'oci-layout' names no version 1 of the image layout: make the archive again.");
  }
}

/** The files of the archive. */
class RockArchive {
  readonly #source: UploadBytes;
  readonly #files: ReturnType<typeof listTar>;
  readonly #checked = new Set<string>();
  #hashed = 0;

  constructor(source: UploadBytes) {
    this.#source = source;
    this.#files = listTar(source);
  }

  /** The file of a descriptor, after verifying its digest. */
  content({ digest, size }: RockDescriptor): TarFile {
    const file = this.#files.get(`blobs/${digest.replace(':', '/')}`);
    if (file === undefined)
      throw new Unacceptable(`The image needs ${digest}, which is not in the archive: make it again.`);
    if (file.size !== size)
      throw new Unacceptable(`${digest} has ${file.size} bytes, but the image says ${size}: make the archive again.`);
    if (this.#checked.has(digest)) return file;
    this.#checked.add(digest);
    this.#hashed += size;
    if (this.#hashed > maxHashedBytes && size > maxDocumentBytes) return file;
    const hash = createDigest('content sha256');
    for (let done = 0; done < size; done += maxDocumentBytes) {
      hash.update(this.#source.read(file.start + done, Math.min(maxDocumentBytes, size - done)));
    }
    if (`sha256:${hash.digest('hex')}` === digest) return file;
    throw new Unacceptable(`${digest} in the archive is not what its digest says: make it again.`);
  }

  has(name: string): boolean {
    return this.#files.has(name);
  }

  bytes(descriptor: RockDescriptor): Uint8Array {
    if (descriptor.size > maxDocumentBytes)
      throw new Unacceptable(
        `${descriptor.digest} has more than ${maxDocumentBytes} bytes, too many for a manifest or a configuration.`,
      );
    const { start, size } = this.content(descriptor);
    return this.#source.read(start, size);
  }

  document(name: string): RockDocument {
    const file = this.#files.get(name);
    if (file === undefined) throw new Unacceptable(`Missing required file: ${name}`);
    if (file.size > maxDocumentBytes)
      throw new Unacceptable(`'${name}' has more than ${maxDocumentBytes} bytes: make the archive again.`);
    return parsed(this.#source.read(file.start, file.size), name);
  }
}

function mustBeCalled(packageName: string, name: unknown, where: string): void {
  if (typeof name !== 'string' || name === packageName) return;
  throw new Unacceptable(
    `The rock is called ${quoted(name)} in ${where}, but was pushed to ${quoted(packageName)}. Push it to ${quoted(name)}, or change the name in it.`,
  );
}

interface RockDescriptor {
  mediaType: string;
  digest: string;
  size: number;
}

function descriptorIn(value: unknown, documentName: string): RockDescriptor {
  const { mediaType, digest, size } = members(value);
  if (
    typeof digest === 'string' &&
    /^sha256:[0-9a-f]{64}$/.test(digest) &&
    Number.isSafeInteger(size) &&
    (size as number) >= 0
  ) {
    return { mediaType: typeof mediaType === 'string' ? mediaType : '', digest, size: size as number };
  }
  throw new Unacceptable(
    `${quoted(documentName)} holds a reference without a sha256 digest and a size: make the archive again.`,
  );
}

const members = (value: unknown): RockDocument =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as RockDocument) : {};

/** Parses a JSON object; refuses texts that would take much memory. */
function parsed(bytes: Uint8Array, documentName: string): RockDocument {
  let signs = 0;
  for (const byte of bytes) if (byte === 0x5b || byte === 0x7b || byte === 0x2c) signs++;
  if (signs > mostSigns) throw new Unacceptable(`${quoted(documentName)} holds too many values to be read.`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new Unacceptable(`${quoted(documentName)} is not JSON: ${plain((error as Error).message)}.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RockDocument;
  throw new Unacceptable(`${quoted(documentName)} must be a JSON object.`);
}
