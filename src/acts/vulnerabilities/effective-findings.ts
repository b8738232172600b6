// Effective findings of revisions: known vulnerabilities after VEX statements and acceptances.
import { isAccepted } from '#domain/vulnerabilities/acceptance.ts';
import type { BillComponent, BillOfMaterials, DistributionRelease } from '#domain/vulnerabilities/bill-of-materials.ts';
import {
  compareRisks,
  cvesOf,
  groupFindings,
  type ComponentVulnerability,
} from '#domain/vulnerabilities/component-vulnerability.ts';
import type { BillMatch, MatchCoverage, MatchedComponent } from '#domain/vulnerabilities/finding.ts';
import { findSuppression, type ProductStatement, type VexSubject } from '#domain/vulnerabilities/vex.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { MatchedFindings } from '#records/vulnerabilities/findings.ts';
import type { AcceptedFinding } from '#records/vulnerabilities/accepted-findings.ts';
import { readInBatches } from '#records/vulnerabilities/in-batches.ts';
import { createBillReader } from './bill-findings.ts';
import type { ReleasedImage } from './released-images.ts';

type FindingNouns = 'acceptedFindings' | 'billsOfMaterials' | 'feedIndexes' | 'findings';
export type FindingRecords = Pick<StoreRecords, FindingNouns> | Pick<ChangeRecords, FindingNouns>;

/** Only `open` findings need action. */
export type FindingState = 'open' | 'accepted' | 'not_affected' | 'fixed';

export interface EffectiveFinding extends ComponentVulnerability {
  state: FindingState;
  /** The reason of the acceptance or of the VEX statement; null if the finding is open. */
  reason: string | null;
  /** The end of the acceptance, RFC 3339; null without one. */
  until: string | null;
  /** The feed with the VEX statement; null without one. */
  source: string | null;
}

/** The findings of a revision. With another coverage than `covered` they are incomplete, and an empty list proves nothing. */
export interface EffectiveFindings extends Omit<BillMatch, 'coverage'> {
  /** Undefined if the contents were not read, or not compared with the feeds yet. */
  coverage: MatchCoverage | undefined;
  /** The first gap of its bill of materials, if that was read just now. */
  gap?: string | undefined;
  findings: EffectiveFinding[];
}

/** A revision of a package. */
export interface FindingSubject {
  package: { id: string; namespace: string; name: string };
  revision: number;
  version: string;
  sha256: string;
}

/** The image of a resource revision. */
export interface ImageSubject extends Pick<FindingSubject, 'package' | 'revision'> {
  resource: string;
  /** The sha256 of the manifests. */
  manifests: readonly string[];
}

/** The effective findings of a stored revision at a time, RFC 3339, by the feeds of this moment. */
export async function effectiveFindings(
  records: FindingRecords,
  subject: FindingSubject,
  at: string,
): Promise<EffectiveFindings> {
  const bill = await records.billsOfMaterials.ofRevision(subject.package.id, subject.revision);
  return createFindingReader(records, at).ofBill(subject, bill);
}

/** Reads the findings of several revisions, with each acceptance once. */
export function createFindingReader(records: FindingRecords, at: string) {
  const acceptancesByPackage = new Map<string, Promise<AcceptedFinding[]>>();
  const acceptancesOf = (packageId: string): Promise<AcceptedFinding[]> => {
    const acceptances = acceptancesByPackage.get(packageId) ?? records.acceptedFindings.ofPackage(packageId);
    acceptancesByPackage.set(packageId, acceptances);
    return acceptances;
  };

  async function ofMatched(subject: FindingSubject, matched: MatchedFindings | undefined): Promise<EffectiveFindings> {
    if (matched === undefined) return unmatched;
    const { feedIndexes } = records;
    const severalCves = matched.findings.filter((finding) => finding.exploited && cvesOf(finding).length > 1);
    const exploited = new Set(await readInBatches(severalCves.flatMap(cvesOf), feedIndexes.exploitedAmong));
    const grouped = groupFindings(matched.findings, exploited);
    const statements = Map.groupBy(
      await readInBatches(
        grouped.flatMap(({ names }) => names),
        feedIndexes.statementsAbout,
      ),
      ({ vulnerability }) => vulnerability,
    );
    const acceptances = await acceptancesOf(subject.package.id);
    const findings = grouped.map((finding) => {
      const about = finding.names.flatMap((name) => statements.get(name) ?? []);
      return judge(subject, finding, { statements: about, acceptances, at });
    });
    return { ...matched, findings };
  }

  const readBill = createBillReader(records);
  async function ofContents(subject: FindingSubject, bill: BillOfMaterials | undefined): Promise<EffectiveFindings> {
    if (bill === undefined) return { ...unmatched, gap: notRead };
    return { ...(await ofMatched(subject, await readBill(bill))), gap: bill.gaps[0] };
  }

  return {
    /** The findings of contents, stored or not, by the feeds of this moment. */
    ofBill: ofContents,
    /** The findings of an image, of all of its architectures, by the feeds when it was last compared with them. */
    async ofImage({ manifests, ...image }: ImageSubject): Promise<EffectiveFindings> {
      const repository = { packageId: image.package.id, resource: image.resource };
      const each: EffectiveFindings[] = [];
      for (const sha256 of manifests)
        each.push(await ofMatched(toManifest(image, sha256), await records.findings.ofImage(repository, sha256)));
      return mergeArchitectures(each);
    },
    /** The findings of the contents of an image, stored or not, by the feeds of this moment. */
    async ofImageBills(
      subject: FindingSubject['package'],
      { manifests, isUnread, ...image }: ReleasedImage,
    ): Promise<EffectiveFindings> {
      const absent = { ...unmatched, gap: isUnread ? notRead : 'It is an image in another registry.' };
      const each: EffectiveFindings[] = manifests.length === 0 ? [absent] : [];
      for (const { sha256, bill } of manifests) {
        const manifest = toManifest({ package: subject, ...image }, sha256);
        each.push(bill === undefined ? absent : await ofContents(manifest, bill));
      }
      return mergeArchitectures(each);
    },
    /** The findings of a stored revision, by the feeds when it was last compared with them. */
    ofRevision: async (subject: FindingSubject): Promise<EffectiveFindings> =>
      ofMatched(subject, await records.findings.ofRevision(subject.package.id, subject.revision)),
  };
}

const toManifest = (
  image: Omit<ImageSubject, 'manifests'>,
  sha256: string,
): FindingSubject & Pick<ImageSubject, 'resource'> => ({ ...image, version: `sha256:${sha256}`, sha256 });

interface FindingDecisions {
  statements: readonly ProductStatement[];
  acceptances: readonly AcceptedFinding[];
  at: string;
}

/** Applies the statements about a vulnerability, then the acceptances of the package. */
function judge(
  subject: FindingSubject,
  finding: ComponentVulnerability,
  { statements, acceptances, at }: FindingDecisions,
): EffectiveFinding {
  const suppression = statements.length === 0 ? undefined : findSuppression(toVexSubject(subject, finding), statements);
  if (suppression !== undefined) {
    const { status, reason, source } = suppression;
    return { ...finding, state: status, reason, source, until: null };
  }
  const acceptance = acceptances.find(
    (accepted) => accepted.vulnerability === finding.vulnerability && isAccepted(finding, accepted, at),
  );
  return acceptance === undefined
    ? { ...finding, state: 'open', reason: null, source: null, until: null }
    : { ...finding, state: 'accepted', reason: acceptance.reason, source: null, until: acceptance.until };
}

const toVexSubject = (subject: FindingSubject, { component }: ComponentVulnerability): VexSubject => ({
  package: { ...subject, ...subject.package },
  sha256: subject.sha256,
  isImage: 'resource' in subject,
  component: toBillComponent(component),
  distribution: parseRelease(component.release),
});

/** Merges the findings of the images of several architectures: the lowest coverage, and each finding once. */
function mergeArchitectures(images: readonly EffectiveFindings[]): EffectiveFindings {
  const [first = unmatched] = images;
  const findings = new Map<string, EffectiveFinding>();
  for (const finding of images.flatMap((image) => image.findings)) {
    const key = JSON.stringify([finding.component, finding.vulnerability]);
    if (findings.get(key)?.state !== 'open') findings.set(key, finding);
  }
  return {
    ...(images.find(({ coverage }) => coverage !== 'covered') ?? images.find((image) => image.isIncomplete) ?? first),
    isIncomplete: images.length === 0 || images.some(({ isIncomplete }) => isIncomplete),
    unchecked: [...new Set(images.flatMap(({ unchecked }) => unchecked))].sort(),
    findings: [...findings.values()].sort(compareRisks),
  };
}

const notRead = 'It has not been read yet.';

const unmatched: EffectiveFindings = {
  coverage: undefined,
  release: null,
  isIncomplete: true,
  unchecked: [],
  findings: [],
};

/** A sentence why the findings of a revision may be incomplete; undefined if the feeds cover it. */
export function describeCoverage({
  coverage,
  release,
  isIncomplete,
  unchecked,
  gap,
}: Pick<EffectiveFindings, 'coverage' | 'release' | 'isIncomplete' | 'unchecked' | 'gap'>): string | undefined {
  switch (coverage) {
    case 'covered':
      if (unchecked.length > 0) return `Partly covered: no feed covers its packages of ${unchecked.join(', ')}.`;
      return isIncomplete ? `Partly covered: ${gap ?? 'its bill of materials has gaps.'}` : undefined;
    case 'release-not-covered':
      return `Not covered: no feed covers ${release ?? 'its release'}.`;
    case 'ecosystem-not-covered':
      return `Not covered: no feed covers its packages of ${unchecked.join(', ')}.`;
    case 'release-unknown':
      return 'Unknown: it names no release of a distribution.';
    case 'no-bill':
      return `Unknown: ${gap ?? 'it lists no contents.'}`;
    case undefined:
      return `Unknown: ${gap ?? 'it has not been compared with the feeds yet.'}`;
  }
}

const toBillComponent = ({ ecosystem, name, version, source }: MatchedComponent): BillComponent => ({
  ecosystem,
  name,
  version,
  ...(source !== null && { source }),
});

/** Parses `ubuntu:22.04`. */
function parseRelease(text: string | null): DistributionRelease | null {
  const [id = '', version = ''] = (text ?? '').split(':');
  return version === '' ? null : { id, version };
}
