// Inspects the snaps to import, and reports every problem before anything is changed.
import { createDigest } from '#domain/cryptography.ts';
import { verifyAssertions, type VerifiedAssertions } from '#acts/assertions/assertions.ts';
import { isAlreadyImported, findImportedSnap } from '#acts/packages/imported-packages.ts';
import { parseAssertion, type Assertion } from '#assertions/format/assertion.ts';
import { readForeignSnap, disagreement, type ForeignSnap } from '#assertions/foreign-snap.ts';
import type { Roots } from '#assertions/chain.ts';
import type { AssertionPool } from '#assertions/assertion-pool.ts';
import { defaultProvenance } from '#assertions/format/types.ts';
import { readProvenance } from '#review/snaps/provenance.ts';
import { snapFactsOf, type Reviewer } from '#review/reviewer.ts';
import { Failure } from '../../frame/command.ts';
import type { OpenStore } from '../../frame/store.ts';
import { piecesOf, withSentFile, type SentFile } from '../../uploads/sent-file.ts';

export interface SnapInspectionContext extends Pick<OpenStore, 'records' | 'now' | 'asCaller'> {
  roots: Roots;
  reviewer: Pick<Reviewer, 'ownName' | 'reviewOpen'>;
  pool: AssertionPool;
  /** The digests of the files that were read, in hexadecimal. */
  digests: Set<string>;
}

/** A snap to import, or a snap that the store already has. */
export interface InspectedSnap {
  file: string;
  snap: ForeignSnap;
  version: string;
  architectures: string[];
  sha256: string;
  /** Its snap-revision, with all prerequisites that are among the imported files. */
  assertions: Assertion[];
  isHere: boolean;
  /** Notes for the administrator. */
  notes: string[];
}

/** Inspects one file; refuses it if the file or its assertions cannot be imported. */
export const inspectSnap = (file: string, inspection: SnapInspectionContext): Promise<InspectedSnap> =>
  withSentFile(
    file,
    async (sent) => {
      const digests = await digestsOf(sent);
      inspection.digests.add(digests.sha3_384);
      const facts = await snapFactsOf(sent.handle.fd, inspection.reviewer);
      if (typeof facts === 'string') throw new Failure(facts);
      const provenance = readProvenance(facts.snapYaml) ?? defaultProvenance;
      const { assertions, believed, revision } = await assertionsOf({ ...digests, provenance }, inspection);
      const snap = readForeignSnap(revision, believed.find);
      const { name, version, architectures } = facts;
      const wrong = disagreement(snap, { ...digests, size: sent.size, name, provenance });
      if (wrong !== undefined) throw new Failure(wrong);
      const place = await findImportedSnap(inspection.records, snap);
      const notes = [
        ...(place.subject === undefined ? ['new package'] : []),
        ...(place.newest > snap.revision && place.revision === undefined
          ? [`older than revision ${String(place.newest)}, which is here`]
          : []),
        ...(place.revision?.isDeleted === true ? ['was deleted, and comes back'] : []),
        ...(typeof place.revision?.withdrawnBecause === 'string' ? ['withdrawn, and stays so'] : []),
      ];
      const { sha256 } = digests;
      return { file, snap, version, architectures, sha256, assertions, isHere: isAlreadyImported(place, snap), notes };
    },
    inspection.asCaller,
  );

interface SnapFileDigests {
  sha3_384: string;
  sha256: string;
}

async function digestsOf(sent: SentFile): Promise<SnapFileDigests> {
  const [sha3_384, sha256] = [createDigest('content sha3-384'), createDigest('content sha256')];
  for await (const piece of piecesOf(sent)) {
    sha3_384.update(piece);
    sha256.update(piece);
  }
  return { sha3_384: sha3_384.digest('hex'), sha256: sha256.digest('hex') };
}

interface SnapFileAssertions {
  /** The snap-revision of the file. */
  revision: Assertion;
  assertions: Assertion[];
  believed: Awaited<ReturnType<typeof verifyAssertions>>;
}

/** The verified assertions of a file; refuses a file without a snap-revision, in the import or in the store. */
async function assertionsOf(
  { sha3_384, provenance }: SnapFileDigests & { provenance: string },
  { pool, records, roots, now }: SnapInspectionContext,
): Promise<SnapFileAssertions> {
  const name = `snap-revision/${Buffer.from(sha3_384, 'hex').toString('base64url')}/${provenance}`;
  const stored = await records.assertions.find(name);
  const snapRevision = pool.find(name) ?? (stored && parseAssertion(stored.text));
  if (snapRevision === undefined) {
    const [other] = pool.revisionsOf(sha3_384);
    throw new Failure(
      other === undefined
        ? `No assertion speaks of this file: it needs a snap-revision of its digest (SHA3-384 ${sha3_384}). ` +
            "'snap download' writes it beside the file, as NAME.assert; name that too."
        : `Its snap.yaml says that it is of the provenance '${provenance}', but ${pool.fileOf(other)} speaks of ` +
            `'${(other.headers['provenance'] as string | undefined) ?? defaultProvenance}'.`,
    );
  }
  const assertions = pool.withPrerequisites(snapRevision);
  const believed = await verifyAssertions(assertions, { records, roots, now: now() });
  return { assertions, believed, revision: believed.find(name) ?? snapRevision };
}

/** Verifies the assertions again at the time of the import: the records may have changed since the inspection. */
export async function verifyAgain(
  { assertions, snap }: Pick<InspectedSnap, 'assertions' | 'snap'>,
  { records, roots, now }: Pick<SnapInspectionContext, 'records' | 'roots' | 'now'>,
): Promise<{ believed: VerifiedAssertions; snap: ForeignSnap }> {
  const { find, ...believed } = await verifyAssertions(assertions, { records, roots, now: now() });
  const revision = find(snap.assertion);
  if (revision === undefined) throw new Error(`cannot take in ${snap.name}: ${snap.assertion} was not looked at`);
  return { believed, snap: readForeignSnap(revision, find) };
}
