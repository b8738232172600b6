// Reads a bill of materials that a publisher attached to an image: CycloneDX or SPDX in JSON. It is a claim, and is
// never treated as read from the image.
import {
  BillCollector,
  unknownBill,
  type BillComponent,
  type BillOfMaterials,
  type DistributionRelease,
} from '#domain/vulnerabilities/bill-of-materials.ts';
import { formatCount } from '#domain/quantities.ts';
import { utf8 } from '../icon.ts';

/** The maximum bytes of a document; larger ones are not read. */
export const maxClaimBytes = 8 << 20;
const maxSigns = 1_000_000;

export interface ClaimedDocument {
  bytes: Uint8Array;
  /** The digest of the manifest that it is attached to, in the form sha256:HEX. */
  subject: string;
  /** Its name in the repository. */
  name: string;
}

type Members = Record<string, unknown>;

/** The claimed bill; undefined if the document is of another kind. A broken document is a claim with a gap. */
export function readClaimedBill({ bytes, subject, name }: ClaimedDocument): BillOfMaterials | undefined {
  const document = parseDocument(bytes);
  const format = document && formatOf(document);
  if (document === undefined || format === undefined) return undefined;
  const described = format === 'CycloneDX' ? membersOf(membersOf(document['metadata'])['component']) : document;
  if (describesAnother(described, format, subject))
    return { ...unknownBill(`${name} describes another image.`), files: [], claim: format };
  const claim = new BillCollector();
  const listed = format === 'CycloneDX' ? listOf(document['components']) : listOf(document['packages']);
  const releases = new Map<string, DistributionRelease>();
  const components = listed.map((entry) => {
    const component = parsePurl(purlIn(membersOf(entry), format));
    if (component?.release !== undefined)
      releases.set(`${component.release.id} ${component.release.version}`, component.release);
    return component?.component;
  });
  claim.addFile(
    name,
    components.filter((component) => component !== undefined),
  );
  const others = components.filter((component) => component === undefined).length;
  if (others > 0)
    claim.addGap(
      `${name} lists ${formatCount(others, 'entry', 'entries')} without a package of dpkg, apk, npm or PyPI.`,
    );
  const [release = null] = releases.values();
  if (releases.size === 1) claim.distribution = release;
  return { ...claim.finish('It lists nothing.'), claim: format };
}

/**
 * The sha256 of the image that an in-toto statement (spec/v1/statement.md) is about; undefined if the document is no
 * statement about one image.
 */
export function attestedImage(bytes: Uint8Array): string | undefined {
  const statement = parseMembers(bytes);
  if (typeof statement?.['predicateType'] !== 'string') return undefined;
  const digests = listOf(statement['subject']).map((subject) => membersOf(membersOf(subject)['digest'])['sha256']);
  const [digest, other] = new Set(digests);
  return other === undefined && typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest) ? digest : undefined;
}

function parseDocument(bytes: Uint8Array): Members | undefined {
  const value = parseMembers(bytes);
  // An in-toto statement has the document as its predicate.
  return typeof value?.['predicateType'] === 'string' ? membersOf(value['predicate']) : value;
}

function parseMembers(bytes: Uint8Array): Members | undefined {
  if (bytes.length > maxClaimBytes) return undefined;
  let signs = 0;
  // A text of brackets and commas would take much more memory than its bytes.
  for (const byte of bytes) if (byte === 0x5b || byte === 0x7b || byte === 0x2c) signs++;
  const text = signs > maxSigns ? undefined : utf8(bytes);
  if (text === undefined) return undefined;
  try {
    return membersOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function formatOf(document: Members): 'CycloneDX' | 'SPDX' | undefined {
  if (document['bomFormat'] === 'CycloneDX') return 'CycloneDX';
  return typeof document['spdxVersion'] === 'string' && document['spdxVersion'].startsWith('SPDX-2.')
    ? 'SPDX'
    : undefined;
}

/** Whether the document names digests of its subject, and none is that of the image. */
function describesAnother(described: Members, format: 'CycloneDX' | 'SPDX', subject: string): boolean {
  const texts =
    format === 'CycloneDX'
      ? ['name', 'version', 'purl', 'bom-ref'].map((member) => described[member])
      : describedPackages(described).flatMap((entry) => [
          entry['name'],
          entry['versionInfo'],
          ...listOf(entry['externalRefs']).map((reference) => membersOf(reference)['referenceLocator']),
        ]);
  const digests = texts
    .filter((text) => typeof text === 'string')
    .flatMap((text) => text.replaceAll('%3A', ':').match(/sha256:[0-9a-f]{64}/g) ?? []);
  return digests.length > 0 && !digests.includes(subject);
}

/** The packages that an SPDX document is about. */
function describedPackages(document: Members): Members[] {
  const ids = new Set([
    ...listOf(document['documentDescribes']),
    ...listOf(document['relationships'])
      .map(membersOf)
      .filter((relation) => relation['relationshipType'] === 'DESCRIBES')
      .map((relation) => relation['relatedSpdxElement']),
  ]);
  return listOf(document['packages'])
    .map(membersOf)
    .filter((entry) => ids.has(entry['SPDXID']));
}

function purlIn(entry: Members, format: 'CycloneDX' | 'SPDX'): unknown {
  if (format === 'CycloneDX') return entry['purl'];
  return listOf(entry['externalRefs'])
    .map(membersOf)
    .find((reference) => reference['referenceType'] === 'purl')?.['referenceLocator'];
}

interface ParsedPurl {
  component: BillComponent;
  release: DistributionRelease | undefined;
}

/** Parses a package URL of an ecosystem that the store knows. */
function parsePurl(purl: unknown): ParsedPurl | undefined {
  const [, type, path = '', query = ''] =
    (typeof purl === 'string' && purl.length <= 1000 && /^pkg:(apk|deb|npm|pypi)\/([^?#]+)(?:\?([^#]*))?/.exec(purl)) ||
    [];
  const at = path.lastIndexOf('@');
  if (type === undefined || at < 1) return undefined;
  const ecosystem = type as BillComponent['ecosystem'];
  const parts = path.slice(0, at).split('/').map(decode);
  const name = ecosystem === 'npm' ? parts.join('/') : (parts.at(-1) ?? '');
  const qualifiers = new URLSearchParams(query.replaceAll('+', '%2B'));
  const architecture = qualifiers.get('arch');
  const [, source, sourceVersion] = /^([^@]+)(?:@(.+))?$/.exec(qualifiers.get('upstream') ?? '') ?? [];
  const version = decode(path.slice(at + 1));
  const [, id, release] = /^([a-z]+)-([0-9.]+)$/.exec(qualifiers.get('distro') ?? '') ?? [];
  return {
    component: {
      ecosystem,
      name,
      version,
      ...(architecture !== null && { architecture }),
      ...(source !== undefined && { source: { name: source, version: sourceVersion ?? version } }),
    },
    release: id === undefined || release === undefined ? undefined : { id, version: release },
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
