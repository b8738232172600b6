// Reads records of the OSV format (OSV Schema 1.7) about source packages of Ubuntu, Debian and Alpine.
import { parseCvss3, rateScore } from './cvss.ts';
import { dateOf, InvalidEntry, listOf, membersOf, type InvalidEntryReport, type JsonMembers } from './feed-entry.ts';
import { severities, type VulnerabilitySeverity } from './finding.ts';
import { versionOrderOf, type VersionOrder, type VersionRange } from './package-version.ts';

export interface Advisory {
  id: string;
  modifiedAt: string;
  publishedAt: string | null;
  summary: string;
  /** The id, the aliases, the upstream vulnerabilities, and the CVE numbers in them. */
  names: string[];
  /** `unknown` if the record has no rating. */
  severity: VulnerabilitySeverity;
  score: string | null;
  affected: AffectedPackage[];
}

/** A source package that an advisory is about, in one release. */
export interface AffectedPackage {
  /** `ubuntu:22.04` */
  release: string;
  name: string;
  /** The rating for this package, if it differs from that of the advisory. */
  severity: VulnerabilitySeverity | null;
  ranges: VersionRange[];
  /** The affected versions, if there are no ranges. */
  versions: string[];
  /** The binary packages, each with the version that the source package was built with; empty if the record lists none. */
  binaries: ReadonlyMap<string, string>;
}

const limits = { names: 5_000, affected: 20_000, ranges: 200, events: 2_000, versions: 20_000, binaries: 5_000 };
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._:+-]{0,99}$/;
const packagePattern = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/;
const maxSummary = 300;

/** The release in the store's form; undefined for ecosystems that are not matched, such as FIPS builds, which have other versions. */
export function parseEcosystem(ecosystem: string): { release: string; isPro: boolean } | undefined {
  const [, pro, ubuntu] = /^Ubuntu:(Pro:)?(\d{2}\.\d{2})(?::LTS)?$/.exec(ecosystem) ?? [];
  if (ubuntu !== undefined) return { release: `ubuntu:${ubuntu}`, isPro: pro !== undefined };
  const [, debian] = /^Debian:(\d{1,3})$/.exec(ecosystem) ?? [];
  if (debian !== undefined) return { release: `debian:${debian}`, isPro: false };
  const [, alpine] = /^Alpine:v(\d{1,3}\.\d{1,3})$/.exec(ecosystem) ?? [];
  return alpine === undefined ? undefined : { release: `alpine:${alpine}`, isPro: false };
}

/**
 * Reads a record; undefined if it is withdrawn, or a notice about live patches, which are no packages. Throws
 * `InvalidEntry`.
 */
export function parseOsvRecord(value: unknown): Advisory | undefined {
  const record = membersOf(value);
  const id = record['id'];
  if (typeof id !== 'string' || !namePattern.test(id)) throw new InvalidEntry('a record has no valid id');
  const invalid = (problem: string): never => {
    throw new InvalidEntry(`${id} ${problem}`);
  };
  const modifiedAt = dateOf(record['modified']) ?? invalid('has no valid time of its last change');
  if (record['withdrawn'] !== undefined || id.startsWith('LSN-')) return undefined;
  const references = ['aliases', 'upstream'].flatMap((key) => listOf(record[key], limits.names, invalid));
  const names = new Set([id]);
  for (const reference of references) {
    if (typeof reference !== 'string' || !namePattern.test(reference)) return invalid('has an invalid alias');
    names.add(reference);
  }
  // Distributions put a prefix before the number, such as UBUNTU-CVE-2024-6387.
  for (const name of [...names]) names.add(/CVE-\d{4}-\d{4,}$/.exec(name)?.[0] ?? name);
  const { severity, score } = ratingIn(record['severity']);
  return {
    id,
    modifiedAt,
    publishedAt: dateOf(record['published']) ?? null,
    summary: summaryOf(record),
    names: [...names],
    severity: severity ?? ratingOf(membersOf(record['database_specific'])['severity']) ?? 'unknown',
    score,
    affected: affectedIn(record, invalid),
  };
}

function summaryOf({ summary, details }: JsonMembers): string {
  const text = [summary, details].find((candidate) => typeof candidate === 'string' && candidate.trim() !== '');
  const line = (typeof text === 'string' ? text : '').slice(0, 4 * maxSummary).replace(/[\p{C}\p{Z}]+/gu, ' ');
  return line.length > maxSummary ? `${line.slice(0, maxSummary - 1)}…` : line.trim();
}

/** The packages of releases that the store knows. A fix for all users of a release counts before one for subscribers. */
function affectedIn(record: JsonMembers, invalid: InvalidEntryReport): AffectedPackage[] {
  const packages = new Map<string, AffectedPackage & { isPro: boolean }>();
  for (const entry of listOf(record['affected'], limits.affected, invalid).map(membersOf)) {
    const { ecosystem, name } = membersOf(entry['package']);
    const release = typeof ecosystem === 'string' ? parseEcosystem(ecosystem) : undefined;
    if (release === undefined) continue;
    if (typeof name !== 'string' || !packagePattern.test(name))
      return invalid('is about a package without a valid name');
    const key = `${release.release} ${name}`;
    const before = packages.get(key);
    if (before !== undefined && !(before.isPro && !release.isPro)) {
      if (before.isPro === release.isPro) before.ranges.push(...rangesIn(entry, release.release, invalid));
      continue;
    }
    const ranges = rangesIn(entry, release.release, invalid);
    const versions = ranges.length > 0 ? [] : versionsIn(entry, release.release, invalid);
    if (ranges.length === 0 && versions.length === 0) continue;
    const specific = membersOf(entry['ecosystem_specific']);
    packages.set(key, {
      ...release,
      name,
      severity:
        ratingIn(entry['severity']).severity ?? ratingOf(specific['ubuntu_priority']) ?? ratingOf(specific['urgency']),
      ranges,
      versions,
      binaries: binariesIn(specific, release.release, invalid),
    });
  }
  return [...packages.values()];
}

function versionsIn(entry: JsonMembers, release: string, invalid: InvalidEntryReport): string[] {
  return listOf(entry['versions'], limits.versions, invalid).map((version) => {
    requireVersion(version, versionOrderOf(release), invalid);
    return version;
  });
}

function rangesIn(entry: JsonMembers, release: string, invalid: InvalidEntryReport): VersionRange[] {
  const order = versionOrderOf(release);
  return listOf(entry['ranges'], limits.ranges, invalid)
    .map(membersOf)
    .filter(({ type }) => type === 'ECOSYSTEM')
    .flatMap(({ events }) => toRanges(listOf(events, limits.events, invalid).map(membersOf), order, invalid));
}

const eventKinds = ['introduced', 'fixed', 'last_affected'] as const;

/** Turns events into ranges. Events may be in any order; those of one version begin a range before they end it. */
function toRanges(events: readonly JsonMembers[], order: VersionOrder, invalid: InvalidEntryReport): VersionRange[] {
  const steps = events.flatMap((event) => {
    const kind = eventKinds.find((candidate) => event[candidate] !== undefined);
    if (kind === undefined) return [];
    const version = event[kind];
    if (version === '0') return { kind, version: null };
    requireVersion(version, order, invalid);
    return { kind, version };
  });
  const compare = (version: string | null, other: string | null): number =>
    version === null || other === null
      ? Number(version !== null) - Number(other !== null)
      : (order.compare(version, other) ?? 0);
  steps.sort((a, b) => compare(a.version, b.version) || eventKinds.indexOf(a.kind) - eventKinds.indexOf(b.kind));
  const ranges: VersionRange[] = [];
  let begin: { introduced: string | null } | undefined;
  for (const { kind, version } of steps) {
    if (kind === 'introduced') {
      begin ??= { introduced: version };
      continue;
    }
    if (begin === undefined) return invalid(`has a range that ends (at ${version ?? '0'}) before it begins`);
    // Fixed in its first version: never affected.
    if (compare(version, begin.introduced) !== 0 || kind === 'last_affected') {
      ranges.push({ ...begin, fixed: kind === 'fixed' ? version : null, last: kind === 'fixed' ? null : version });
    }
    begin = undefined;
  }
  if (begin !== undefined) ranges.push({ ...begin, fixed: null, last: null });
  return ranges;
}

/** The table of binary packages that Ubuntu adds: objects with name and version, in older records `{NAME: VERSION}`. */
function binariesIn(specific: JsonMembers, release: string, invalid: InvalidEntryReport): Map<string, string> {
  const binaries = new Map<string, string>();
  for (const entry of listOf(specific['binaries'], limits.binaries, invalid).map(membersOf)) {
    const { binary_name: name, binary_version: version } = entry;
    const pairs = name === undefined ? Object.entries(entry) : [[name, version] as const];
    if (pairs.length > limits.binaries) return invalid('lists too many binary packages');
    for (const [binary, built] of pairs) {
      if (typeof binary !== 'string' || !packagePattern.test(binary))
        return invalid('lists a binary package without a valid name');
      requireVersion(built, versionOrderOf(release), invalid);
      binaries.set(binary, built);
    }
  }
  return binaries;
}

function requireVersion(version: unknown, order: VersionOrder, invalid: InvalidEntryReport): asserts version is string {
  if (typeof version === 'string' && order.isValid(version)) return;
  const text = typeof version === 'string' ? `'${version.slice(0, 60)}'` : 'a value that is no text';
  invalid(`has the invalid version ${text}`);
}

/** The rating of Ubuntu if there is one, else that of the score of CVSS 3. */
function ratingIn(list: unknown): { severity: VulnerabilitySeverity | null; score: string | null } {
  const ratings = (Array.isArray(list) ? list : []).slice(0, 20).map(membersOf);
  const ofUbuntu = ratings.find(({ type }) => type === 'Ubuntu')?.['score'];
  const vector = ratings.find(({ type }) => type === 'CVSS_V3')?.['score'];
  const score = typeof vector === 'string' ? parseCvss3(vector) : undefined;
  const severity = ratingOf(ofUbuntu) ?? (score === undefined ? null : rateScore(score));
  return { severity, score: score === undefined ? null : score.toFixed(1) };
}

const synonyms: Readonly<Record<string, VulnerabilitySeverity>> = { moderate: 'medium', unimportant: 'negligible' };

/** A rating in words: of Ubuntu, of Debian, or of GitHub. */
function ratingOf(word: unknown): VulnerabilitySeverity | null {
  if (typeof word !== 'string') return null;
  const plain = word.toLowerCase().replace(/\*+$/, '');
  if (Object.hasOwn(synonyms, plain)) return synonyms[plain]!;
  return severities.find((severity) => severity === plain && severity !== 'unknown') ?? null;
}
