// Packages published in another store: imported revisions, and the content that may be pushed to them here.
import { parseAssertion } from '#assertions/format/assertion.ts';
import { delegates, type ForeignSnap } from '#assertions/foreign-snap.ts';
import { defaultProvenance, series } from '#assertions/format/types.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { readProvenance } from '#review/snaps/provenance.ts';
import type { RevisionFindings } from '../revisions/new-revision.ts';
import { packageObject } from './package.ts';

type ImportedPackageRecords =
  | Pick<StoreRecords, 'packages' | 'revisions' | 'accounts'>
  | Pick<ChangeRecords, 'packages' | 'revisions' | 'accounts'>;

/** The existing records that an imported snap relates to. */
export interface ImportedSnapMatch {
  /** Its package; undefined if the import adds it. */
  subject: PublishedPackage | undefined;
  /** The newest revision number of its package here; 0 if there is none. */
  newest: number;
  /** The record of its revision, which has the same content; undefined if there is none. */
  revision: { isDeleted: boolean; withdrawnBecause: string | null; assertion: string | null } | undefined;
}

/**
 * Finds the records that an imported snap relates to. Refuses it if its name, id or number belongs to something else
 * here, or if an account of this store publishes its package.
 */
export async function findImportedSnap(records: ImportedPackageRecords, snap: ForeignSnap): Promise<ImportedSnapMatch> {
  const subject = await packageOf(records, snap);
  if (subject === undefined) return { subject, newest: 0, revision: undefined };
  const { revisions } = records;
  const numbered = await revisions.numbered(snap.id, snap.revision);
  const called = `'${snap.name}'`;
  if (numbered !== undefined && numbered.sha3_384 !== snap.sha3_384) {
    throw new Refusal(
      'conflict',
      `Revision ${snap.revision} of ${called} is stored here with other content (SHA3-384 ${numbered.sha3_384}), so it cannot be imported.`,
    );
  }
  const twin = numbered === undefined ? await revisions.withContent(snap.id, snap.sha3_384) : undefined;
  if (twin !== undefined) {
    throw new Refusal(
      'conflict',
      `The same content is stored here as revision ${twin.revision} of ${called}, and cannot be revision ${snap.revision} as well.`,
    );
  }
  const revision = numbered && {
    isDeleted: numbered.deletedAt !== null,
    withdrawnBecause: numbered.withdrawnBecause,
    assertion: numbered.assertion,
  };
  return { subject, newest: await revisions.newest(snap.id), revision };
}

/** Whether an import would change nothing. */
export const isAlreadyImported = ({ revision }: ImportedSnapMatch, { assertion }: ForeignSnap): boolean =>
  revision !== undefined && !revision.isDeleted && revision.assertion === assertion;

async function packageOf(
  { packages, accounts }: ImportedPackageRecords,
  { id, name, publisher }: ForeignSnap,
): Promise<PublishedPackage | undefined> {
  const called = await packages.find('snap', name);
  if (called !== undefined && called.id !== id) {
    throw new Refusal(
      'conflict',
      `The name '${name}' is registered here for ${called.publisher.username}, with the id '${called.id}' and not '${id}'; ` +
        `Before its first revision, 'larder package set-id snap/${name} ${id}' changes the id.`,
    );
  }
  const subject = called ?? (await packages.byId(id));
  if (subject === undefined) return undefined;
  if (subject.namespace !== 'snap' || subject.name !== name) {
    throw new Refusal('conflict', `The id '${id}' belongs to ${packageObject(subject)} here, not to snap/${name}.`);
  }
  if (subject.publisherId !== publisher.id && !(await accounts.isForeign(subject.publisherId))) {
    throw new Refusal(
      'conflict',
      `The package snap/${name} is published here by ${subject.publisher.username}, but its declaration names '${publisher.id}'. ` +
        `Create an account for that publisher with 'larder account create --id ${publisher.id}', then run ` +
        `'larder package hand-over snap/${name} ${publisher.id}'.`,
    );
  }
  return subject;
}

/**
 * Explains why pushed content cannot become a revision of a package that another store publishes. Returns undefined if it can: the
 * package belongs to this store, or its snap-declaration lets a brand of this store sign revisions with the provenance of the snap.
 */
export async function describeForeignPublisher(
  { accounts, assertions }: Pick<ChangeRecords, 'accounts' | 'assertions'>,
  { id, namespace, name, publisher }: PublishedPackage,
  { packageYaml }: RevisionFindings,
): Promise<string | undefined> {
  if (!(await accounts.isForeign(publisher.id))) return undefined;
  if (namespace !== 'snap') {
    return (
      `'${name}' is published in another store by ${publisher.username}, so no revisions can be pushed here. Receive them with ` +
      "'larder transfer receive', or push under another name."
    );
  }
  const provenance = readProvenance(packageYaml ?? '');
  const declaration = await assertions.find(`snap-declaration/${series}/${id}`);
  if (
    provenance !== undefined &&
    declaration !== undefined &&
    delegates(parseAssertion(declaration.text), provenance)
  ) {
    return undefined;
  }
  return (
    `'${name}' is published in another store by ${publisher.username}, and devices refuse revisions that are made here. Import its revisions ` +
    "with their assertions ('larder package import'). For a snap that is made here, use another name, or name in snap.yaml a provenance " +
    'that the declaration of the package lets a brand of this store sign.'
  );
}

/**
 * Explains why a pushed snap must be imported instead: an imported assertion already gives these bytes a revision number in this package,
 * and devices refuse them under any other number. Returns undefined if no assertion does.
 */
export async function describeForeignNumber(
  { assertions }: Pick<ChangeRecords, 'assertions'>,
  { id, namespace, name }: PublishedPackage,
  sha3_384: string,
  { packageYaml }: RevisionFindings,
): Promise<string | undefined> {
  if (namespace !== 'snap') return undefined;
  const digest = Buffer.from(sha3_384, 'hex').toString('base64url');
  const assertion = await assertions.find(
    `snap-revision/${digest}/${readProvenance(packageYaml ?? '') ?? defaultProvenance}`,
  );
  if (assertion?.snapId !== id || assertion.snapRevision === null) return undefined;
  return (
    `These bytes are revision ${assertion.snapRevision} of '${name}' by an imported assertion, and devices refuse them under another number. ` +
    "Import the file with its assertions: 'larder package import' gives it that number."
  );
}

/** The next revision number, above all numbers known from here and from other stores. */
export async function nextRevisionNumber(
  { revisions, assertions }: Pick<ChangeRecords, 'revisions' | 'assertions'>,
  { id, namespace }: PublishedPackage,
): Promise<number> {
  const elsewhere = namespace === 'snap' ? await assertions.highestRevision(id) : 0;
  return Math.max(await revisions.newest(id), elsewhere) + 1;
}
