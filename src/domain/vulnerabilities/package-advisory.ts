// Advisories about a source package as the index of a feed has them, and how they apply to a component.
import { severities, type MatchedComponent, type VulnerabilitySeverity } from './finding.ts';
import type { Advisory, AffectedPackage } from './osv.ts';
import { findRange, versionOrderOf, type VersionRange } from './package-version.ts';

/** An advisory about one source package of one release. */
export interface PackageAdvisory extends Pick<AffectedPackage, 'severity' | 'ranges' | 'versions'> {
  advisory: string;
  /** The names of the binary packages; empty if the feed lists none. */
  binaries: readonly string[];
  /** The fixed versions of those binary packages that have another version than their source package. */
  binaryVersions: Readonly<Record<string, string>>;
}

/** A group of advisories in the form of the index: each list of binary packages is there once. */
interface PackedAdvisories {
  binaries: string[][];
  advisories: PackedAdvisory[];
}

type PackedAdvisory = [
  advisory: string,
  /** A text is a fixed version, with all earlier ones affected; 0 stands for all versions. */
  ranges: string | 0 | [introduced: string | null, fixed: string | null, last: string | null][],
  /** The index in `binaries`; -1 for none. */
  binaries: number,
  /** The index in `severities`; -1 if neither the package nor the advisory has a rating. */
  severity: number,
  versions: string[] | 0,
  binaryVersions: Record<string, string> | 0,
];

/** Notices of Ubuntu have no rating of their own, which is no rating `unknown`. */
const ratings: readonly VulnerabilitySeverity[] = severities.filter((severity) => severity !== 'unknown');

/** Collects advisories of one source package. */
export class AdvisoryPacker {
  readonly #binaries: string[][] = [];
  /** As JSON, which takes less memory than objects. */
  readonly #advisories: string[] = [];
  readonly #lists = new Map<string, number>();
  /** About the length of the text. */
  length = 0;

  add({ id, severity: ofAdvisory }: Pick<Advisory, 'id' | 'severity'>, affected: AffectedPackage): void {
    const { ranges, versions, binaries, severity } = affected;
    const fixed = onlyFix(ranges);
    const others = [...binaries].filter(([, version]) => version !== fixed);
    const packed: PackedAdvisory = [
      id,
      packRanges(ranges),
      binaries.size === 0 ? -1 : this.#indexOf([...binaries.keys()]),
      ratings.indexOf(severity ?? ofAdvisory),
      versions.length === 0 ? 0 : versions,
      fixed === null || others.length === 0 ? 0 : Object.fromEntries(others),
    ];
    const text = JSON.stringify(packed);
    this.#advisories.push(text);
    this.length += text.length;
  }

  #indexOf(names: string[]): number {
    const key = names.sort().join(' ');
    let at = this.#lists.get(key);
    if (at === undefined) {
      at = this.#binaries.push(names) - 1;
      this.#lists.set(key, at);
      this.length += key.length;
    }
    return at;
  }

  /** The names of all binary packages. */
  names(): Set<string> {
    return new Set(this.#binaries.flat());
  }

  toText(): string {
    return `{"binaries":${JSON.stringify(this.#binaries)},"advisories":[${this.#advisories.join(',')}]}`;
  }
}

const isFix = (range: VersionRange | undefined): range is VersionRange & { fixed: string } =>
  range !== undefined && range.introduced === null && range.last === null && range.fixed !== null;

/** The fixed version, if all versions before it are affected and no others. */
const onlyFix = ([range, ...others]: readonly VersionRange[]): string | null =>
  others.length === 0 && isFix(range) ? range.fixed : null;

function packRanges(ranges: readonly VersionRange[]): PackedAdvisory[1] {
  const fixed = onlyFix(ranges);
  if (fixed !== null) return fixed;
  const [first] = ranges;
  if (ranges.length === 1 && first?.introduced === null && first.fixed === null && first.last === null) return 0;
  return ranges.map(({ introduced, fixed: end, last }) => [introduced, end, last]);
}

export function parsePackedAdvisories(text: string): PackageAdvisory[] {
  const { binaries, advisories } = JSON.parse(text) as PackedAdvisories;
  return advisories.map(([advisory, ranges, list, severity, versions, binaryVersions]) => ({
    advisory,
    ranges: unpackRanges(ranges),
    binaries: binaries[list] ?? [],
    severity: ratings[severity] ?? null,
    versions: versions === 0 ? [] : versions,
    binaryVersions: binaryVersions === 0 ? {} : binaryVersions,
  }));
}

function unpackRanges(ranges: PackedAdvisory[1]): VersionRange[] {
  if (ranges === 0) return [{ introduced: null, fixed: null, last: null }];
  if (typeof ranges === 'string') return [{ introduced: null, fixed: ranges, last: null }];
  return ranges.map(([introduced, fixed, last]) => ({ introduced, fixed, last }));
}

/** Whether an advisory about a source package applies to a component from it, and the fixed version; undefined if it does not apply. */
export function applyAdvisory(
  { name, version, source, release }: MatchedComponent,
  { ranges, versions, binaries, binaryVersions }: PackageAdvisory,
): { fixed: string | null } | undefined {
  // The bill names the source package, so its version decides.
  const compared = source?.version ?? version;
  if (source === null && binaries.length > 0) {
    if (!binaries.includes(name)) return undefined;
    const fixed = Object.hasOwn(binaryVersions, name) ? binaryVersions[name]! : undefined;
    if (fixed !== undefined)
      return findRange(version, [{ introduced: null, fixed, last: null }], versionOrderOf(release)) && { fixed };
  }
  if (versions.length > 0) return versions.includes(compared) ? { fixed: null } : undefined;
  const range = findRange(compared, ranges, versionOrderOf(release));
  return range && { fixed: range.fixed };
}
