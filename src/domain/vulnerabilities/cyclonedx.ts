// Formats bills of materials as CycloneDX 1.6 in JSON (ECMA-424). Equal bills give equal bytes: the serial number and
// the time follow from the content that the bill is about.
import type { BillComponent, BillOfMaterials, DistributionRelease } from './bill-of-materials.ts';

/** The content that a bill is about. */
export interface BillSubject {
  /** NAMESPACE/NAME, or the name of a repository. */
  name: string;
  version: string;
  type: 'application' | 'container' | 'firmware' | 'operating-system';
  /** Digest of the package file or of the image manifest, in hexadecimal. */
  sha256: string;
  sha3_384: string;
  /** RFC 3339; undefined for content without a time of its own. */
  createdAt: string | undefined;
  /** More members of the subject, such as its revision. */
  properties: Record<string, string>;
}

interface CycloneDxProperty {
  name: string;
  value: string;
}

/** `bills`: first the bill that the store read from the content, then the bills that were pushed with an image as claims about it. */
export function formatCycloneDx(subject: BillSubject, bills: readonly BillOfMaterials[]): string {
  const [own] = bills;
  const subjectProperties = Object.entries(subject.properties).map(([name, value]) => property(name, value));
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(subject.sha256)}`,
    version: 1,
    metadata: {
      ...(subject.createdAt !== undefined && { timestamp: subject.createdAt }),
      tools: { components: [{ type: 'application', name: 'larder' }] },
      component: {
        type: subject.type,
        'bom-ref': subjectReference,
        name: subject.name,
        version: subject.version,
        hashes: [
          { alg: 'SHA-256', content: subject.sha256 },
          { alg: 'SHA3-384', content: subject.sha3_384 },
        ],
        properties: [...subjectProperties, ...bills.flatMap(propertiesOfBill)],
      },
    },
    components: bills
      .flatMap((bill) => bill.components.map((component) => ({ bill, component })))
      .map(({ bill, component }, at) => toCycloneDxComponent(component, bill, at + 1)),
    compositions: [{ aggregate: own === undefined ? 'unknown' : aggregateOf(own), assemblies: [subjectReference] }],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

const subjectReference = 'subject';

/** The lists in a package are never proven to be all of its content. */
const aggregateOf = ({ files, gaps }: BillOfMaterials): string =>
  files.length === 0 ? 'unknown' : gaps.length > 0 ? 'incomplete' : 'not_specified';

const property = (name: string, value: string): CycloneDxProperty => ({ name: `larder:${name}`, value });

const propertiesOfBill = ({ distribution, files, gaps, claim }: BillOfMaterials): CycloneDxProperty[] => [
  ...(distribution === null ? [] : [property('distribution', `${distribution.id} ${distribution.version}`)]),
  ...files.map((file) => property(claim === undefined ? 'file' : 'claim', file)),
  ...gaps.map((gap) => property('gap', gap)),
];

function toCycloneDxComponent(component: BillComponent, { distribution, claim }: BillOfMaterials, number: number) {
  const { name, version, source, requirement } = component;
  const purl = purlOf(component, distribution);
  const properties = [
    ...(claim === undefined ? [] : [property('claim', claim)]),
    ...(source === undefined ? [] : [property('source-package', `${source.name} ${source.version}`)]),
    ...(requirement === undefined ? [] : [property('requirement', requirement)]),
  ];
  return {
    type: 'library',
    'bom-ref': `component-${String(number)}`,
    name,
    ...(version !== null && { version }),
    ...(purl !== undefined && { purl }),
    ...(properties.length > 0 && { properties }),
  };
}

/** The package URL; undefined if it would need a distribution that is unknown. */
export function purlOf(component: BillComponent, distribution: DistributionRelease | null): string | undefined {
  const { ecosystem, name, version, architecture, source } = component;
  const at = version === null ? '' : `@${encode(version)}`;
  if (ecosystem === 'pypi') return `pkg:pypi/${encode(name.toLowerCase().replaceAll('_', '-'))}${at}`;
  if (ecosystem === 'npm') return `pkg:npm/${name.split('/').map(encode).join('/')}${at}`;
  if (distribution === null) return undefined;
  const { id, version: release } = distribution;
  const qualifiers = [
    ...(architecture === undefined ? [] : [`arch=${encode(architecture)}`]),
    `distro=${encode(`${id}-${release}`)}`,
    ...(source === undefined ? [] : [`upstream=${encode(`${source.name}@${source.version}`)}`]),
  ];
  return `pkg:${ecosystem}/${encode(id)}/${encode(name)}${at}?${qualifiers.join('&')}`;
}

const encode = (text: string): string => encodeURIComponent(text).replaceAll('%3A', ':');

/** A UUID of version 8 (RFC 9562) from the digest of the content. */
const uuidOf = (sha256: string): string =>
  `${sha256.slice(0, 8)}-${sha256.slice(8, 12)}-8${sha256.slice(13, 16)}-8${sha256.slice(17, 20)}-${sha256.slice(20, 32)}`;
