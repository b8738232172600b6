// Imports revisions from another store, with the assertions that identify them.
import type { CarriedSnap, ForeignAccount } from '#assertions/carried-snap.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Changes } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import { act, DoneAlready, type Doing } from './act.ts';
import { keepBelieved, type Believed } from './assertions.ts';
import { isHere, placeOf } from './carried-packages.ts';
import { foreignAccountChange, keepForeignAccount } from './foreign-accounts.ts';
import { addRevisionTo, type FoundRevision } from './new-revision.ts';
import { packageObject } from './package.ts';

export interface CarriedRevision {
  snap: CarriedSnap;
  /** Its snap-revision assertion and the ones that it relies on. */
  believed: Believed;
  findings: FoundRevision;
  /** The id of the unclaimed upload with its content, which this act consumes. */
  upload: string;
}

/** Returns whether the package was new. */
export const importPackage = act({
  name: 'import_package',
  summary:
    'Take in a revision from another store with its assertions, under the id, name, publisher and number that it has there.',
  on: 'NAMESPACE/NAME',
  object: ({ snap }: CarriedRevision) => `snap/${snap.name}`,
  gate: { never: 'no channel holds the revision before it is released' },

  async perform(tx, { snap, believed, findings, upload }: CarriedRevision, doing): Promise<{ isNew: boolean }> {
    const { id, revision, assertion, sha3_384, size } = snap;
    const place = await placeOf(tx, snap);
    if (isHere(place, snap)) throw new DoneAlready({ isNew: false });
    doing.note({ id, revision, publisher: snap.publisher.id, size, 'sha3-384': sha3_384 });
    await keepBelieved(tx, believed, doing);
    for (const account of [snap.publisher, snap.developer]) await keepForeign(tx, account, doing);
    const { name, publisher } = snap;
    const wanted = { id, namespace: 'snap', name, type: 'snap', publisherId: publisher.id, private: false } as const;
    const subject = await packageFor(tx, wanted, place.subject, doing);
    const { sha256 } = await takeUpload(tx, upload, snap);
    if (place.there === undefined) {
      const created = { createdAt: doing.at, createdBy: snap.developer.id };
      await addRevisionTo(tx, subject, { revision, sha3_384, sha256, size, ...created }, findings);
    } else if (place.there.isDeleted) await tx.revisions.setDeleted(id, [revision], undefined);
    await tx.revisions.setAssertion(id, revision, assertion);
    return { isNew: place.subject === undefined };
  },
});

/** The received content of the revision. Consumes its upload. */
async function takeUpload(tx: Changes, id: string, { sha3_384, size }: CarriedSnap): Promise<{ sha256: string }> {
  const sent = await tx.uploads.find(id);
  if (sent?.packageId !== null || sent.sha3_384 !== sha3_384 || sent.size !== size) {
    throw new Refusal('resource-not-found', 'Its content is not here any more; begin again.');
  }
  await tx.uploads.forget(id);
  return sent;
}

/**
 * Returns the package of an import, with the publisher that it has in its own store. `subject` is the existing package.
 */
export async function packageFor(
  tx: Changes,
  wanted: Pick<PublishedPackage, 'id' | 'namespace' | 'name' | 'type' | 'publisherId' | 'private'>,
  subject: PublishedPackage | undefined,
  { at }: Doing,
): Promise<PublishedPackage> {
  const { id, publisherId } = wanted;
  if (subject === undefined) {
    const said = { title: null, summary: null, description: null, license: null, defaultTrack: null, icon: null };
    const rest = { status: 'registered', links: {}, createdAt: at } as const;
    if (!(await tx.packages.claim({ ...wanted, ...said, ...rest, edited: [] }))) {
      throw new Error(`cannot register ${packageObject(wanted)}: what has its name or id was not found`);
    }
  } else if (subject.publisherId !== publisherId) await tx.packages.setPublisher(id, publisherId);
  const found = await tx.packages.byId(id);
  if (found === undefined) throw new Error(`cannot find ${packageObject(wanted)}, which was here a moment ago`);
  return found;
}

/** Stores or updates an account of another store. An account of this store stays as it is. */
async function keepForeign(tx: Changes, account: ForeignAccount, { at }: Doing): Promise<void> {
  const change = await foreignAccountChange(tx, account, at);
  if (change !== undefined) await keepForeignAccount(tx, change);
}
