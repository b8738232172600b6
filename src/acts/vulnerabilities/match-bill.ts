// Matches bills of materials with the advisories of the feeds in force.
import type { BillComponent, BillOfMaterials, ComponentEcosystem } from '#domain/vulnerabilities/bill-of-materials.ts';
import type {
  BillMatch,
  ComponentAdvisory,
  MatchCoverage,
  MatchedComponent,
  VulnerabilitySeverity,
} from '#domain/vulnerabilities/finding.ts';
import {
  applyAdvisory,
  parsePackedAdvisories,
  type PackageAdvisory,
} from '#domain/vulnerabilities/package-advisory.ts';
import type { StoreRecords } from '#records/index.ts';
import type { FeedIndex } from '#records/vulnerabilities/feed-indexes.ts';

type MatcherRecords = Pick<StoreRecords['feedIndexes'], 'inForce' | 'packed' | 'sourcesOf' | 'severityOf'>;

/** A bill with the advisories that apply to each of its components; components without any are left out. */
export interface MatchedBill extends BillMatch {
  components: { component: MatchedComponent; advisories: ComponentAdvisory[] }[];
}

/** Many revisions have the same components, and many components the same source package. */
const maxCached = { packages: 2_000, components: 20_000 };
/** The ecosystems that advisories about releases are matched with. */
const matched: readonly ComponentEcosystem[] = ['apk', 'deb'];

export interface BillMatcher {
  /** The digests of the indexes that it uses. A change of this text means that bills must be matched again. */
  indexes: string;
  match(bill: BillOfMaterials): Promise<MatchedBill>;
}

/** Begins to match bills with the feeds that are in force now. */
export async function createBillMatcher(records: MatcherRecords): Promise<BillMatcher> {
  const indexes = (await records.inForce()).filter(({ format }) => format === 'osv');
  const covered = new Set(indexes.flatMap(({ releases }) => releases));
  const advisories = createAdvisoryLookup(records, indexes);
  const cache = new LookupCache<ComponentAdvisory[]>(maxCached.components);

  return {
    indexes: indexes.map(({ sha3_384 }) => sha3_384.slice(0, 32)).join(' '),
    async match(bill) {
      const release = releaseOf(bill);
      const coverage = coverageOf(bill, release, covered);
      const ecosystems = new Set(bill.components.map(({ ecosystem }) => ecosystem));
      const unchecked = [...ecosystems].filter((ecosystem) => coverage !== 'covered' || !matched.includes(ecosystem));
      const components: MatchedBill['components'] = [];
      if (coverage === 'covered' && release !== null) {
        for (const [key, component] of componentsOf(bill, release)) {
          const applying = cache.get(key) ?? cache.keep(key, await advisories(component));
          if (applying.length > 0) components.push({ component, advisories: applying });
        }
      }
      return { coverage, release, isIncomplete: bill.gaps.length > 0, unchecked: unchecked.sort(), components };
    },
  };
}

/** The release as advisories name it: os-release of Alpine has one number more. */
function releaseOf({ distribution }: BillOfMaterials): string | null {
  if (distribution === null) return null;
  const { id, version } = distribution;
  return `${id}:${id === 'alpine' ? version.split('.', 2).join('.') : version}`;
}

function coverageOf(
  { components, claim }: BillOfMaterials,
  release: string | null,
  covered: ReadonlySet<string>,
): MatchCoverage {
  // The claim of a publisher is not the content of an image; the image has a bill of its own.
  if (components.length === 0 || claim !== undefined) return 'no-bill';
  if (!components.some(({ ecosystem }) => matched.includes(ecosystem))) return 'ecosystem-not-covered';
  if (release === null) return 'release-unknown';
  return covered.has(release) ? 'covered' : 'release-not-covered';
}

/** The components that are matched, each once: the same package for several architectures has the same advisories. */
function componentsOf({ components }: BillOfMaterials, release: string): Map<string, MatchedComponent> {
  const byKey = new Map<string, MatchedComponent>();
  const ecosystem = release.startsWith('alpine:') ? 'apk' : 'deb';
  for (const component of components) {
    const { version } = component;
    if (component.ecosystem !== ecosystem || version === null) continue;
    const { name, source = null } = toMatched(component);
    const key = `${release} ${name} ${version} ${source?.name ?? ''} ${source?.version ?? ''}`;
    byKey.set(key, { release, ecosystem, name, version, source });
  }
  return byKey;
}

/** Advisories of Alpine name source packages, which have the version of their binary packages. */
const toMatched = ({ ecosystem, name, version, source }: BillComponent): Pick<BillComponent, 'name' | 'source'> =>
  ecosystem === 'apk'
    ? { name, source: source ?? { name, version: version ?? '' } }
    : { name, ...(source && { source }) };

/** Keeps results until there are too many, and then begins again. */
class LookupCache<Value> {
  readonly #values = new Map<string, Value>();
  readonly #maxSize: number;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  keep(key: string, value: Value): Value {
    if (this.#values.size >= this.#maxSize) this.#values.clear();
    this.#values.set(key, value);
    return value;
  }
}

function createAdvisoryLookup(
  records: MatcherRecords,
  indexes: readonly FeedIndex[],
): (component: MatchedComponent) => Promise<ComponentAdvisory[]> {
  const packages = new LookupCache<PackageAdvisory[]>(maxCached.packages);
  const sources = new LookupCache<string[]>(maxCached.components);
  const ratings = new LookupCache<VulnerabilitySeverity>(maxCached.components);

  async function findAdvisories(index: FeedIndex, release: string, name: string): Promise<PackageAdvisory[]> {
    const key = `${String(index.id)} ${release} ${name}`;
    const cached = packages.get(key);
    if (cached !== undefined) return cached;
    const texts = await records.packed(index.id, release, name);
    return packages.keep(
      key,
      texts.flatMap((text) => parsePackedAdvisories(text)),
    );
  }

  /** Without a source package in the bill, the table of the feed names it; it may also have the name of the component. */
  async function sourcesOf(index: FeedIndex, release: string, name: string): Promise<string[]> {
    const key = `${String(index.id)} ${release} ${name}`;
    return (
      sources.get(key) ?? sources.keep(key, [...new Set([name, ...(await records.sourcesOf(index.id, release, name))])])
    );
  }

  async function severityOf(index: FeedIndex, advisory: string): Promise<VulnerabilitySeverity> {
    const key = `${String(index.id)} ${advisory}`;
    return ratings.get(key) ?? ratings.keep(key, await records.severityOf(index.id, advisory));
  }

  return async (component) => {
    const { release, name, source } = component;
    const applying: ComponentAdvisory[] = [];
    for (const index of indexes) {
      if (!index.releases.includes(release)) continue;
      const applied = new Set<string>();
      const sourcePackages = source === null ? await sourcesOf(index, release, name) : [source.name];
      for (const sourcePackage of sourcePackages) {
        for (const about of await findAdvisories(index, release, sourcePackage)) {
          const applies = applyAdvisory(component, about);
          if (applies === undefined || applied.has(about.advisory)) continue;
          applied.add(about.advisory);
          const severity = about.severity ?? (await severityOf(index, about.advisory));
          applying.push({ feed: index.source, advisory: about.advisory, severity, fixed: applies.fixed });
        }
      }
    }
    return applying;
  };
}
