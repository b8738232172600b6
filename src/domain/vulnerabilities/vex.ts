// Decides by VEX statements whether a vulnerability of a component needs action (OpenVEX 0.2.0).
import type { BillComponent, DistributionRelease } from './bill-of-materials.ts';
import { purlOf } from './cyclonedx.ts';
import type { VexStatement, VexStatus } from './openvex.ts';
import { includesPackageUrl, parsePackageUrl, type PackageUrl } from './package-url.ts';

/** A package with a vulnerable component. */
export interface VexSubject {
  package: { namespace: string; name: string; version: string; revision: number };
  /** The digest of the package file, or of the manifest of an image. */
  sha256: string;
  /** Whether it is an image in the registry. Its digest alone names it. */
  isImage: boolean;
  component: BillComponent;
  distribution: DistributionRelease | null;
}

/** A statement about a vulnerability and one product, or one component of it. */
export interface ProductStatement extends Omit<VexStatement, 'vulnerabilities' | 'products'> {
  /** The name of the feed. */
  source: string;
  /** A package URL, or a digest as `sha-256:HEX`. Any other text names no content. */
  product: string;
  /** Null for a statement about the whole product. */
  component: string | null;
}

/** Why a statement suppresses a finding. */
export interface VexSuppression {
  status: Extract<VexStatus, 'not_affected' | 'fixed'>;
  /** The name of the feed. */
  source: string;
  reason: string;
}

/**
 * The suppression of a finding by the statements about its vulnerability; undefined if it needs action. The most
 * specific statement decides: one about the package before one about the component alone; then the newest. A
 * suppressing statement decides after others of the same time.
 */
export function findSuppression(
  subject: VexSubject,
  statements: Iterable<ProductStatement>,
): VexSuppression | undefined {
  const names = productNamesOf(subject);
  let deciding: RankedStatement | undefined;
  for (const statement of statements) {
    const ranked = {
      ...statement,
      specificity: specificityOf(statement, names),
    };
    if (ranked.specificity === 0) continue;
    if (deciding === undefined || comesBefore(ranked, deciding)) deciding = ranked;
  }
  return deciding && toSuppression(deciding);
}

type RankedStatement = ProductStatement & { specificity: number };

function comesBefore(statement: RankedStatement, other: RankedStatement): boolean {
  if (statement.specificity !== other.specificity) return statement.specificity > other.specificity;
  if (statement.statedAt !== other.statedAt) return statement.statedAt > other.statedAt;
  return toSuppression(statement) === undefined;
}

/** A statement `not_affected` needs a reason, by the specification. Without one it suppresses nothing. */
function toSuppression({ status, source, justification, impact }: ProductStatement): VexSuppression | undefined {
  const reason = [justification, impact].filter((text) => text !== null && text !== '').join(': ');
  if (status === 'fixed') return { status, source, reason: reason === '' ? 'fixed' : reason };
  return status === 'not_affected' && reason !== '' ? { status, source, reason } : undefined;
}

/** The names of a product: package URLs, and the digest of its file or manifest. */
interface ProductNames {
  urls: PackageUrl[];
  sha256?: string;
  /** A text that each of its package URLs contains. */
  inEach: string;
}

interface SubjectNames {
  package: ProductNames;
  component: ProductNames[];
}

/** 2 for a product that is the package, 1 for a product that is the component, 0 for any other. */
function specificityOf({ product, component }: ProductStatement, names: SubjectNames): 0 | 1 | 2 {
  const isComponent = (id: string): boolean => names.component.some((component) => isNamed(id, component));
  if (isNamed(product, names.package)) return component === null || isComponent(component) ? 2 : 0;
  return component === null && isComponent(product) ? 1 : 0;
}

/** Whether an identifier names the product. A statement can have thousands of products, so most are not parsed. */
function isNamed(id: string, { urls, sha256, inEach }: ProductNames): boolean {
  if (sha256 !== undefined && id === `sha-256:${sha256}`) return true;
  const general = id.includes(inEach) ? parsePackageUrl(id) : undefined;
  if (general === undefined) return false;
  if (sha256 !== undefined && general.type === 'oci' && general.version === `sha256:${sha256}`) return true;
  return urls.some((url) => includesPackageUrl(general, url));
}

function productNamesOf({ package: subject, sha256, isImage, component, distribution }: VexSubject): SubjectNames {
  const { ecosystem } = component;
  const { name, version } = component.source ?? component;
  const source: BillComponent = { ecosystem, name, version, architecture: 'source' };
  // Only packages of distributions have source packages. Names of PyPI have several forms.
  const components = ecosystem === 'deb' || ecosystem === 'apk' ? [component, source] : [component];
  return {
    package: {
      urls: (isImage ? [] : packageTypes(subject.namespace)).map((type) => ({
        type,
        namespace: '',
        name: subject.name,
        version: subject.version,
        qualifiers: new Map([['revision', String(subject.revision)]]),
      })),
      sha256,
      inEach: isImage ? sha256 : subject.name,
    },
    component: components.map((listed) => ({
      urls: [parsePackageUrl(purlOf(listed, distribution) ?? '')].filter((url) => url !== undefined),
      inEach: ecosystem === 'pypi' ? 'pkg:' : encodeURIComponent(listed.name),
    })),
  };
}

/** The types of the package URLs that name a package of the store: its namespace, and `oci` for images. */
const packageTypes = (namespace: string): string[] => (namespace === 'rock' ? ['rock', 'oci'] : [namespace]);
