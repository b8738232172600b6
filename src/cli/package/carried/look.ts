// Inspects the snaps to import, and reports every problem before anything is changed.
import { createHash } from 'node:crypto';

import { believe, type Believed } from '#acts/assertions.ts';
import { isHere, placeOf } from '#acts/carried-packages.ts';
import { parseAssertion, type Assertion } from '#assertions/assertion.ts';
import { carriedSnap, disagreement, type CarriedSnap } from '#assertions/carried-snap.ts';
import type { Roots } from '#assertions/chain.ts';
import type { AssertionPool } from '#assertions/pool.ts';
import { defaultProvenance } from '#assertions/types.ts';
import { provenanceIn } from '#review/provenance.ts';
import { snapFactsOf, type Reviewer } from '#review/reviewer.ts';
import { Failure } from '../../frame/command.ts';
import type { OpenStore } from '../../frame/store.ts';
import { piecesOf, withSentFile, type SentFile } from '../sent-file.ts';

export interface Looking extends Pick<OpenStore, 'records' | 'now' | 'asCaller'> {
  roots: Roots;
  reviewer: Pick<Reviewer, 'ownName' | 'reviewOpen'>;
  pool: AssertionPool;
  /** The digests of the files that were read, in hexadecimal. */
  digests: Set<string>;
}

/** A snap to import, or a snap that the store already has. */
export interface Seen {
  file: string;
  snap: CarriedSnap;
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
export const look = (file: string, looking: Looking): Promise<Seen> =>
  withSentFile(
    file,
    async (sent) => {
      const digests = await digestsOf(sent);
      looking.digests.add(digests.sha3_384);
      const facts = await snapFactsOf(sent.handle.fd, looking.reviewer);
      if (typeof facts === 'string') throw new Failure(facts);
      const provenance = provenanceIn(facts.snapYaml) ?? defaultProvenance;
      const { assertions, believed, revision } = await assertionsOf({ ...digests, provenance }, looking);
      const snap = carriedSnap(revision, believed.find);
      const { name, version, architectures } = facts;
      const wrong = disagreement(snap, { ...digests, size: sent.size, name, provenance });
      if (wrong !== undefined) throw new Failure(wrong);
      const place = await placeOf(looking.records, snap);
      const notes = [
        ...(place.subject === undefined ? ['new package'] : []),
        ...(place.newest > snap.revision && place.there === undefined
          ? [`older than revision ${String(place.newest)}, which is here`]
          : []),
        ...(place.there?.isDeleted === true ? ['was deleted, and comes back'] : []),
        ...(typeof place.there?.withdrawnBecause === 'string' ? ['withdrawn, and stays so'] : []),
      ];
      const { sha256 } = digests;
      return { file, snap, version, architectures, sha256, assertions, isHere: isHere(place, snap), notes };
    },
    looking.asCaller,
  );

interface Digests {
  sha3_384: string;
  sha256: string;
}

async function digestsOf(sent: SentFile): Promise<Digests> {
  const [sha3_384, sha256] = [createHash('sha3-384'), createHash('sha256')];
  for await (const piece of piecesOf(sent)) {
    sha3_384.update(piece);
    sha256.update(piece);
  }
  return { sha3_384: sha3_384.digest('hex'), sha256: sha256.digest('hex') };
}

interface OfFile {
  /** The snap-revision of the file. */
  revision: Assertion;
  assertions: Assertion[];
  believed: Awaited<ReturnType<typeof believe>>;
}

/** The verified assertions of a file; refuses a file without a snap-revision, in the import or in the store. */
async function assertionsOf(
  { sha3_384, provenance }: Digests & { provenance: string },
  { pool, records, roots, now }: Looking,
): Promise<OfFile> {
  const name = `snap-revision/${Buffer.from(sha3_384, 'hex').toString('base64url')}/${provenance}`;
  const kept = await records.assertions.find(name);
  const found = pool.find(name) ?? (kept && parseAssertion(kept.text));
  if (found === undefined) {
    const [other] = pool.revisionsOf(sha3_384);
    throw new Failure(
      other === undefined
        ? `No assertion speaks of this file: it needs a snap-revision of its digest (SHA3-384 ${sha3_384}). ` +
            "'snap download' writes it beside the file, as NAME.assert; name that too."
        : `Its snap.yaml says that it is of the provenance '${provenance}', but ${pool.fileOf(other)} speaks of ` +
            `'${(other.headers['provenance'] as string | undefined) ?? defaultProvenance}'.`,
    );
  }
  const assertions = pool.withPrerequisites(found);
  const believed = await believe(assertions, { records, roots, now: now() });
  return { assertions, believed, revision: believed.find(name) ?? found };
}

/** Verifies the assertions again at the time of the import: the records may have changed since the inspection. */
export async function believedNow(
  { assertions, snap }: Pick<Seen, 'assertions' | 'snap'>,
  { records, roots, now }: Pick<Looking, 'records' | 'roots' | 'now'>,
): Promise<{ believed: Believed; snap: CarriedSnap }> {
  const { find, ...believed } = await believe(assertions, { records, roots, now: now() });
  const revision = find(snap.assertion);
  if (revision === undefined) throw new Error(`cannot take in ${snap.name}: ${snap.assertion} was not looked at`);
  return { believed, snap: carriedSnap(revision, find) };
}
