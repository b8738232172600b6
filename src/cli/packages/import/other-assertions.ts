// Imports assertions that belong to no imported snap: keys and accounts, models, validation sets, serials, newer declarations.
import { verifyAssertions, storeImportedAssertions } from '#acts/assertions/assertions.ts';
import type { Assertion } from '#assertions/format/assertion.ts';
import { Refusal } from '#domain/refusal.ts';
import type { OpenStore } from '../../frame/store.ts';
import { describeRefusal, type SkippedImportFile } from './files.ts';
import type { SnapInspectionContext, InspectedSnap } from './inspect-snap.ts';

export interface OtherImportAssertions {
  /** Ordered: each assertion follows its prerequisites. */
  valid: Assertion[];
  refused: SkippedImportFile[];
}

/** Assertions per act; each act has one entry in the audit log. */
const batch = 100;

/**
 * Verifies each assertion that belongs to no imported snap: a failure excludes only the assertions that depend on it. Also
 * includes newer versions of the assertions of snaps that the store already has.
 */
export async function inspectOthers(
  seen: readonly InspectedSnap[],
  { pool, digests, ...world }: SnapInspectionContext,
): Promise<OtherImportAssertions> {
  const refused: SkippedImportFile[] = [];
  const ofSnaps = new Set<Assertion>();
  for (const revision of pool.all.filter(({ type }) => type === 'snap-revision')) {
    pool.withPrerequisites(revision).forEach((assertion) => ofSnaps.add(assertion));
    if (!digests.has(Buffer.from(revision.headers['snap-sha3-384'] as string, 'base64url').toString('hex'))) {
      refused.push({ file: pool.fileOf(revision), why: ofAnotherFile(revision) });
    }
  }
  const ofStoredSnaps = seen.filter(({ isHere }) => isHere).flatMap(({ assertions }) => assertions);
  const valid = new Set<Assertion>();
  for (const assertion of new Set([...ofStoredSnaps, ...pool.all.filter((candidate) => !ofSnaps.has(candidate))])) {
    try {
      if (assertion.type === 'account-key-request') throw isRequest();
      const { accepted } = await verifyAssertions(pool.withPrerequisites(assertion), { ...world, now: world.now() });
      accepted.forEach((each) => valid.add(each));
    } catch (error) {
      refused.push({ file: pool.fileOf(assertion), why: describeRefusal(error) });
    }
  }
  return { valid: [...valid], refused };
}

/** Verifies the assertions again and stores the valid ones; reports the others. */
export async function importOthers(
  valid: readonly Assertion[],
  { acts, person }: Pick<OpenStore, 'acts' | 'person'>,
  { pool, ...world }: SnapInspectionContext,
): Promise<{ stored: Assertion[]; refused: SkippedImportFile[] }> {
  const stored: Assertion[] = [];
  const refused: SkippedImportFile[] = [];
  const keep = async (some: readonly Assertion[]): Promise<void> => {
    const believed = await verifyAssertions(some, { ...world, now: world.now() });
    if (believed.accepted.length === 0) return;
    await acts.do(storeImportedAssertions, person, believed);
    stored.push(...believed.accepted);
  };
  for (let at = 0; at < valid.length; at += batch) {
    const some = valid.slice(at, at + batch);
    try {
      await keep(some);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // The batch was refused: store each assertion separately, with its prerequisites.
      for (const assertion of some) {
        try {
          await keep(pool.withPrerequisites(assertion));
        } catch (alone) {
          refused.push({ file: pool.fileOf(assertion), why: describeRefusal(alone) });
        }
      }
    }
  }
  return { stored, refused };
}

const ofAnotherFile = ({ headers }: Assertion): string =>
  `It speaks of revision ${headers['snap-revision'] as string} of the snap '${headers['snap-id'] as string}', whose file ` +
  `(SHA3-384 ${Buffer.from(headers['snap-sha3-384'] as string, 'base64url').toString('hex')}) was not named.`;

const isRequest = (): Refusal =>
  new Refusal('api-error', 'A request to register a key is carried out of a store and not into one.');
