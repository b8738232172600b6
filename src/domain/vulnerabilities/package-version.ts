// Versions of packages in the order of their packaging system, and ranges of them.
import { compareApkVersions, parseApkVersion } from './apk-version.ts';
import { compareDpkgVersions, parseDpkgVersion } from './dpkg-version.ts';

/** Affected are the versions from `introduced` on, before `fixed`, and up to `last`. */
export interface VersionRange {
  /** Null for all versions from the first. */
  introduced: string | null;
  fixed: string | null;
  last: string | null;
}

/** The order of versions in a packaging system. Versions that it refuses are invalid. */
export interface VersionOrder {
  isValid(version: string): boolean;
  /** Below, equal to or above zero; undefined if a version is invalid. */
  compare(version: string, other: string): number | undefined;
}

const orderOf = <Version>(
  parse: (text: string) => Version | undefined,
  compare: (version: Version, other: Version) => number,
): VersionOrder => ({
  isValid: (version) => parse(version) !== undefined,
  compare(version, other) {
    const [parsed, parsedOther] = [parse(version), parse(other)];
    return parsed === undefined || parsedOther === undefined ? undefined : compare(parsed, parsedOther);
  },
});

const dpkgOrder = orderOf(parseDpkgVersion, compareDpkgVersions);
const apkOrder = orderOf(parseApkVersion, compareApkVersions);

/** The order of a release such as `ubuntu:22.04`. */
export const versionOrderOf = (release: string): VersionOrder => (release.startsWith('alpine:') ? apkOrder : dpkgOrder);

/**
 * The range of a list that has a version; undefined if none has it. An invalid version is in each range: it cannot be
 * shown to be fixed.
 */
export const findRange = (
  version: string,
  ranges: readonly VersionRange[],
  { compare }: VersionOrder,
): VersionRange | undefined =>
  ranges.find(
    ({ introduced, fixed, last }) =>
      (introduced === null || (compare(version, introduced) ?? 0) >= 0) &&
      (fixed === null || (compare(version, fixed) ?? -1) < 0) &&
      (last === null || (compare(version, last) ?? 0) <= 0),
  );
