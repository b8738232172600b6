// The findings of the reviews of a transfer, by subject.
import type { TransferContent } from '#contract/wire.ts';
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import type { ImageReferences } from '#records/images/images.ts';
import type { TransferFinding } from '#records/transfers/transfers.ts';
import type { Findings } from '#records/uploads/uploads.ts';
import type { VulnerabilityFeed } from '#records/vulnerabilities/feeds.ts';

/** The subject of a review: a revision of a package, of a resource, or a manifest by its SHA-256. */
export const subjectOf = (packageId: string, ...parts: (string | number)[]): string =>
  [packageId, ...parts.map(String)].join('/');

/** The subject of the review of an image's contents, by the SHA-256 of its manifest. */
export const imageContentsSubject = (packageId: string, resource: string, sha256: string): string =>
  subjectOf(packageId, resource, sha256, 'contents');

/** The findings about a resource. If the resource names an image, this store made its content. */
type ResourceFindings = Extract<Findings, { kind: 'resource' }> & { content?: TransferContent };

/** The pull credentials for a repository that received resources use: the existing ones, or new ones that acceptance stores. */
export interface CredentialFindings {
  kind: 'credential';
  id: string;
  secretSha256: string;
  sealedSecret: string;
}

/** The findings of the review of a subject that is not refused. */
export type SubjectFindings =
  | Extract<Findings, { kind: 'revision' }>
  | ResourceFindings
  | CredentialFindings
  | ({ kind: 'manifest' } & ImageReferences)
  | { kind: 'image-contents'; bill: BillOfMaterials }
  | { kind: 'library'; text: string }
  | { kind: 'icon' }
  /** All files of a release of larder have the digests of its manifest. */
  | { kind: 'larder-release' }
  | ({ kind: 'feed' } & Pick<VulnerabilityFeed, 'format' | 'datedAt' | 'entries' | 'skipped' | 'releases'>);

export type FindingsOfKind<Kind extends SubjectFindings['kind']> = Extract<SubjectFindings, { kind: Kind }>;

/** Parses the findings about a subject if they have this kind. Undefined if the review refused the subject, or was not made yet. */
export function parseFindings<Kind extends SubjectFindings['kind']>(
  kind: Kind,
  finding: TransferFinding | undefined,
): FindingsOfKind<Kind> | undefined {
  const findings = JSON.parse(finding?.findings ?? 'null') as SubjectFindings | null;
  return findings?.kind === kind ? (findings as FindingsOfKind<Kind>) : undefined;
}

/** The reason for refusing a subject if its content was not received. It may still be received. */
export const contentMissing = 'Its content is neither in the transfer nor here.';
