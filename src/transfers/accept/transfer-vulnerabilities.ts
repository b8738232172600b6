// Compares the known vulnerabilities of a transfer with the channels that it changes, by the feeds of this moment: new
// ones, fixed ones, and revisions with incomplete findings.
import {
  createFindingReader,
  describeCoverage,
  type EffectiveFinding,
  type EffectiveFindings,
  type FindingRecords,
} from '#acts/vulnerabilities/effective-findings.ts';
import type { PackagePlan, TransferPlan } from '#acts/transfers/plan-types.ts';
import type { TransferRelease } from '#contract/wire.ts';
import { billOf, releasedImages, transferredSubject } from '#acts/transfers/released-subjects.ts';
import { compareRisks } from '#domain/vulnerabilities/component-vulnerability.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Release } from '#records/releases/releases.ts';

export interface TransferVulnerability extends EffectiveFinding {
  /** `namespace/name`. */
  package: string;
  /** The resource, for the image of a resource revision; null for a revision of the package. */
  resource: string | null;
  revision: number;
  /** The channels that get the revision, or that had it; empty for a revision without a release. */
  channels: string[];
}

export interface TransferVulnerabilities {
  /** Undefined if no feed is in force. */
  feeds: number | undefined;
  /** Open findings of the transfer that its channels do not have now, the severest first. */
  added: TransferVulnerability[];
  /** Open findings of the channels that the transfer ends. */
  fixed: TransferVulnerability[];
  /** Revisions of the transfer whose findings are incomplete, with a sentence. */
  incomplete: { package: string; resource: string | null; revision: number; why: string }[];
}

type ComparisonRecords = FindingRecords &
  Pick<StoreRecords, 'billsOfMaterials' | 'images' | 'releases' | 'resourceImages' | 'revisions'>;

/** Compares the planned packages. */
export async function compareVulnerabilities(
  records: ComparisonRecords,
  { packages, finding }: Pick<TransferPlan, 'packages' | 'finding'>,
  at: string,
): Promise<TransferVulnerabilities> {
  const feeds = (await records.feedIndexes.inForce()).filter(({ format }) => format === 'osv').length;
  const result: TransferVulnerabilities = { feeds, added: [], fixed: [], incomplete: [] };
  if (feeds === 0) return { ...result, feeds: undefined };
  const reader = createFindingReader(records, at);
  for (const plan of packages) await new PackageComparison(records, reader, { plan, finding, at }, result).compare();
  result.added.sort(compareRisks);
  result.fixed.sort(compareRisks);
  return result;
}

class PackageComparison {
  readonly #records: ComparisonRecords;
  readonly #plan: PackagePlan;
  readonly #finding: TransferPlan['finding'];
  readonly #at: string;
  readonly #result: TransferVulnerabilities;
  readonly #reader: ReturnType<typeof createFindingReader>;
  readonly #read = new Map<string, Promise<EffectiveFindings | undefined>>();

  constructor(
    records: ComparisonRecords,
    reader: ReturnType<typeof createFindingReader>,
    { plan, finding, at }: { plan: PackagePlan; finding: TransferPlan['finding']; at: string },
    result: TransferVulnerabilities,
  ) {
    this.#records = records;
    this.#plan = plan;
    this.#finding = finding;
    this.#at = at;
    this.#result = result;
    this.#reader = reader;
  }

  async compare(): Promise<void> {
    const { releases, revisions, existing } = this.#plan;
    const subjects = new Map<string, { resource: string | null; revision: number }>();
    const name = `${this.#plan.carried.namespace}/${this.#plan.carried.name}`;
    const [added, fixed] = [new ChannelFindings(name), new ChannelFindings(name)];
    for (const { release, before } of releases) {
      const { channel } = release;
      const pairs = [
        { resource: null, after: release.revision, before: before?.revision },
        ...changedResources(release, before),
      ];
      for (const { resource, ...pair } of pairs) {
        const after = await this.#findingsOf(resource, pair.after);
        const present = pair.before === undefined ? undefined : await this.#findingsOf(resource, pair.before);
        if (after === undefined) continue;
        subjects.set(`${resource ?? ''} ${String(pair.after)}`, { resource, revision: pair.after });
        added.add({ resource, revision: pair.after, channel }, openIn(after), openIn(present));
        // With unknown contents nothing is proven to be fixed.
        if (pair.before !== undefined && describeCoverage(after) === undefined)
          fixed.add({ resource, revision: pair.before, channel }, openIn(present), after.findings);
      }
    }
    const released = new Set(releases.map(({ release }) => release.revision));
    const unreleased = revisions
      .map(({ sentRevision }) => sentRevision.revision)
      .filter((number) => !released.has(number));
    const present: EffectiveFinding[] = [];
    if (unreleased.length > 0 && existing !== undefined)
      for (const { revision } of await this.#records.releases.current(existing.id, this.#at))
        present.push(...openIn(await this.#findingsOf(null, revision)));
    for (const revision of unreleased) {
      subjects.set(` ${String(revision)}`, { resource: null, revision });
      added.add({ resource: null, revision }, openIn(await this.#findingsOf(null, revision)), present);
    }
    this.#result.added.push(...added.list());
    this.#result.fixed.push(...fixed.list());
    for (const { resource, revision } of subjects.values()) {
      const reason = describeCoverage((await this.#findingsOf(resource, revision))!);
      if (reason !== undefined) this.#result.incomplete.push({ package: name, resource, revision, why: reason });
    }
  }

  /** The findings of a revision, or of the image of a resource revision; undefined for a resource that is a file. */
  #findingsOf(resource: string | null, revision: number): Promise<EffectiveFindings | undefined> {
    const key = `${resource ?? ''} ${String(revision)}`;
    const findings =
      this.#read.get(key) ??
      (resource === null ? this.#readFindings(revision) : this.#readImageFindings(resource, revision));
    this.#read.set(key, findings);
    return findings;
  }

  async #readImageFindings(resource: string, revision: number): Promise<EffectiveFindings | undefined> {
    const released = [{ name: resource, revision }];
    const [image] = await releasedImages(this.#records, this.#plan, released, this.#finding);
    return image && this.#reader.ofImageBills(this.#plan.carried, image);
  }

  async #readFindings(revision: number): Promise<EffectiveFindings> {
    const bill = await billOf(this.#records, this.#plan, revision, this.#finding);
    return this.#reader.ofBill(await transferredSubject(this.#records, this.#plan, revision), bill);
  }
}

/** The resources that a release gives in another revision than the channel has now. */
function changedResources(
  { resources = [] }: TransferRelease,
  before: Release | undefined,
): { resource: string; after: number; before: number | undefined }[] {
  return resources.flatMap(({ name, revision }) => {
    const present = before?.resources.find((resource) => resource.name === name)?.revision ?? undefined;
    return revision === null || revision === present ? [] : [{ resource: name, after: revision, before: present }];
  });
}

const openIn = (findings: EffectiveFindings | undefined): EffectiveFinding[] =>
  (findings?.findings ?? []).filter(({ state }) => state === 'open');

/** Collects findings with all of their channels: one per revision and vulnerability. */
class ChannelFindings {
  readonly #name: string;
  readonly #findings = new Map<string, TransferVulnerability>();

  constructor(name: string) {
    this.#name = name;
  }

  /** Adds the findings that are not among the others. */
  add(
    { resource, revision, channel }: { resource: string | null; revision: number; channel?: string },
    findings: readonly EffectiveFinding[],
    others: readonly EffectiveFinding[],
  ): void {
    const present = new Set(others.map(({ vulnerability }) => vulnerability));
    for (const entry of findings) {
      if (present.has(entry.vulnerability)) continue;
      const key = `${resource ?? ''} ${String(revision)} ${entry.vulnerability}`;
      const { channels } = this.#findings.get(key) ?? { channels: [] };
      const all = channel === undefined ? channels : [...new Set([...channels, channel])];
      const subject = { package: this.#name, resource, revision, channels: all };
      this.#findings.set(key, { ...(this.#findings.get(key) ?? entry), ...subject });
    }
  }

  list(): TransferVulnerability[] {
    return [...this.#findings.values()];
  }
}

/** The most findings of a list in a preview. Each list begins with the highest risks. */
const maxShown = 1000;

/** The comparison for programs. */
export const presentTransferVulnerabilities = ({ added, fixed, incomplete }: TransferVulnerabilities) => ({
  new: added.slice(0, maxShown).map(present),
  fixed: fixed.slice(0, maxShown).map(present),
  incomplete: incomplete.slice(0, maxShown),
  counts: {
    new: added.length,
    'known-exploited': added.filter(({ isExploited }) => isExploited).length,
    fixed: fixed.length,
    incomplete: incomplete.length,
  },
});

const present = ({ isExploited, component, ...entry }: TransferVulnerability) => ({
  package: entry.package,
  resource: entry.resource,
  revision: entry.revision,
  channels: entry.channels,
  vulnerability: entry.vulnerability,
  severity: entry.severity,
  'known-exploited': isExploited,
  component: { ecosystem: component.ecosystem, name: component.name, version: component.version },
  'fixed-in': entry.fixed,
});

/** The comparison for people: a sentence, and lists. */
export function reportVulnerabilities({ feeds, added, fixed, incomplete }: TransferVulnerabilities): {
  sentences: string[];
  lists: { heading: string; items: string[] }[];
} {
  if (feeds === undefined)
    return { sentences: ['No vulnerabilities are known here, because no feed is in force.'], lists: [] };
  const exploited = added.filter(({ isExploited }) => isExploited);
  return {
    sentences: [],
    lists: [
      { heading: 'Vulnerabilities that it adds, known to be exploited:', items: shorten(exploited) },
      {
        heading: 'Other vulnerabilities that it adds:',
        items: shorten(added.filter(({ isExploited }) => !isExploited)),
      },
      { heading: 'Vulnerabilities that it fixes:', items: shorten(fixed) },
      {
        heading: 'Not known to be free of vulnerabilities:',
        items: incomplete.map((entry) => `${labelOf(entry)}: ${entry.why}`),
      },
    ],
  };
}

function shorten(findings: readonly TransferVulnerability[]): string[] {
  const items = findings.slice(0, maxShown).map(describe);
  return findings.length <= maxShown ? items : [...items, `and ${String(findings.length - maxShown)} more`];
}

const labelOf = ({
  package: name,
  resource,
  revision,
}: Pick<TransferVulnerability, 'package' | 'resource' | 'revision'>) =>
  `${name}${resource === null ? '' : ` resource ${resource}`} revision ${String(revision)}`;

const describe = ({ channels, ...entry }: TransferVulnerability): string =>
  `${labelOf(entry)}${channels.length === 0 ? '' : ` in ${channels.join(', ')}`}: ` +
  `${entry.vulnerability}, ${entry.severity}, in ${entry.component.name} ${entry.component.version}` +
  (entry.fixed === null ? '' : `, fixed in ${entry.fixed}`);
