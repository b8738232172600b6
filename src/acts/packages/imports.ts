// Imports revisions from another store, with the assertions that identify them.
import type { ForeignSnap, ForeignAccount } from '#assertions/foreign-snap.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { act, DoneAlready, type ActContext } from '../act.ts';
import { storeVerifiedAssertions, type VerifiedAssertions } from '../assertions/assertions.ts';
import { isAlreadyImported, findImportedSnap } from './imported-packages.ts';
import { foreignAccountChange, storeForeignAccount } from '../accounts/foreign-accounts.ts';
import { addRevisionTo, type RevisionFindings } from '../revisions/new-revision.ts';
import { packageObject } from './package.ts';

export interface ImportedRevision {
  snap: ForeignSnap;
  /** Its snap-revision assertion and the ones that it relies on. */
  believed: VerifiedAssertions;
  findings: RevisionFindings;
  /** The id of the unclaimed upload with its content, which this act consumes. */
  upload: string;
}

/** Returns whether the package was new. */
export const importPackage = act({
  name: 'import_package',
  summary:
    'Import a revision of another store with its assertions, under the id, name, publisher and number that it has there.',
  on: 'NAMESPACE/NAME',
  object: ({ snap }: ImportedRevision) => `snap/${snap.name}`,
  gate: { never: 'the revision reaches no channel before it is released' },

  async perform(tx, { snap, believed, findings, upload }: ImportedRevision, doing): Promise<{ isNew: boolean }> {
    const { id, revision, assertion, sha3_384, size } = snap;
    const place = await findImportedSnap(tx, snap);
    if (isAlreadyImported(place, snap)) throw new DoneAlready({ isNew: false });
    doing.note({ id, revision, publisher: snap.publisher.id, size, 'sha3-384': sha3_384 });
    await storeVerifiedAssertions(tx, believed, doing);
    for (const account of [snap.publisher, snap.developer]) await keepForeign(tx, account, doing);
    const { name, publisher } = snap;
    const packageFields = {
      id,
      namespace: 'snap',
      name,
      type: 'snap',
      publisherId: publisher.id,
      private: false,
    } as const;
    const subject = await ensurePackage(tx, packageFields, place.subject, doing);
    const { sha256 } = await takeUpload(tx, upload, snap);
    if (place.revision === undefined) {
      const created = { createdAt: doing.at, createdBy: snap.developer.id };
      await addRevisionTo(tx, subject, { revision, sha3_384, sha256, size, ...created }, findings);
    } else if (place.revision.isDeleted) await tx.revisions.setDeleted(id, [revision], undefined);
    await tx.revisions.setAssertion(id, revision, assertion);
    return { isNew: place.subject === undefined };
  },
});

/** The received content of the revision. Consumes its upload. */
async function takeUpload(tx: ChangeRecords, id: string, { sha3_384, size }: ForeignSnap): Promise<{ sha256: string }> {
  const sent = await tx.uploads.find(id);
  if (sent?.packageId !== null || sent.sha3_384 !== sha3_384 || sent.size !== size) {
    throw new Refusal('resource-not-found', 'The content of the upload is not here any more. Send it again.');
  }
  await tx.uploads.forget(id);
  return sent;
}

/**
 * Returns the package of an import, with the publisher that it has in its own store. `subject` is the existing package.
 */
export async function ensurePackage(
  tx: ChangeRecords,
  packageFields: Pick<PublishedPackage, 'id' | 'namespace' | 'name' | 'type' | 'publisherId' | 'private'>,
  subject: PublishedPackage | undefined,
  { at }: ActContext,
): Promise<PublishedPackage> {
  const { id, publisherId } = packageFields;
  if (subject === undefined) {
    const emptyMetadata = {
      title: null,
      summary: null,
      description: null,
      license: null,
      defaultTrack: null,
      icon: null,
    };
    const rest = { status: 'registered', links: {}, createdAt: at } as const;
    if (!(await tx.packages.claim({ ...packageFields, ...emptyMetadata, ...rest, edited: [] }))) {
      throw new Error(
        `cannot register ${packageObject(packageFields)}: its name or id is taken, but its holder was not found`,
      );
    }
  } else if (subject.publisherId !== publisherId) await tx.packages.setPublisher(id, publisherId);
  const stored = await tx.packages.byId(id);
  if (stored === undefined) throw new Error(`cannot find ${packageObject(packageFields)}, which was here a moment ago`);
  return stored;
}

/** Stores or updates an account of another store. An account of this store stays as it is. */
async function keepForeign(tx: ChangeRecords, account: ForeignAccount, { at }: ActContext): Promise<void> {
  const change = await foreignAccountChange(tx, account, at);
  if (change !== undefined) await storeForeignAccount(tx, change);
}
