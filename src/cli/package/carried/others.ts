// Imports assertions that belong to no imported snap: keys and accounts, models, validation sets, serials, newer declarations.
import { believe, keepImported } from '#acts/assertions.ts';
import type { Assertion } from '#assertions/assertion.ts';
import { Refusal } from '#domain/refusal.ts';
import type { OpenStore } from '../../frame/store.ts';
import { whyNot, type Told } from './files.ts';
import type { Looking, Seen } from './look.ts';

export interface Others {
  /** Ordered: each assertion follows its prerequisites. */
  come: Assertion[];
  refused: Told[];
}

/** Assertions per act; each act has one entry in the audit log. */
const batch = 100;

/**
 * Verifies each assertion that belongs to no imported snap: a failure excludes only the assertions that depend on it. Also
 * includes newer versions of the assertions of snaps that the store already has.
 */
export async function lookAtOthers(seen: readonly Seen[], { pool, digests, ...world }: Looking): Promise<Others> {
  const refused: Told[] = [];
  const ofSnaps = new Set<Assertion>();
  for (const revision of pool.all.filter(({ type }) => type === 'snap-revision')) {
    pool.withPrerequisites(revision).forEach((one) => ofSnaps.add(one));
    if (!digests.has(Buffer.from(revision.headers['snap-sha3-384'] as string, 'base64url').toString('hex'))) {
      refused.push({ file: pool.fileOf(revision), why: ofAnotherFile(revision) });
    }
  }
  const ofThoseHere = seen.filter(({ isHere }) => isHere).flatMap(({ assertions }) => assertions);
  const come = new Set<Assertion>();
  for (const one of new Set([...ofThoseHere, ...pool.all.filter((one) => !ofSnaps.has(one))])) {
    try {
      if (one.type === 'account-key-request') throw isRequest();
      const { accepted } = await believe(pool.withPrerequisites(one), { ...world, now: world.now() });
      accepted.forEach((each) => come.add(each));
    } catch (error) {
      refused.push({ file: pool.fileOf(one), why: whyNot(error) });
    }
  }
  return { come: [...come], refused };
}

/** Verifies the assertions again and stores the valid ones; reports the others. */
export async function takeOthers(
  come: readonly Assertion[],
  { acts, person }: Pick<OpenStore, 'acts' | 'person'>,
  { pool, ...world }: Looking,
): Promise<{ kept: Assertion[]; refused: Told[] }> {
  const kept: Assertion[] = [];
  const refused: Told[] = [];
  const keep = async (some: readonly Assertion[]): Promise<void> => {
    const believed = await believe(some, { ...world, now: world.now() });
    if (believed.accepted.length === 0) return;
    await acts.do(keepImported, person, believed);
    kept.push(...believed.accepted);
  };
  for (let at = 0; at < come.length; at += batch) {
    const some = come.slice(at, at + batch);
    try {
      await keep(some);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // The batch was refused: store each assertion separately, with its prerequisites.
      for (const one of some) {
        try {
          await keep(pool.withPrerequisites(one));
        } catch (alone) {
          refused.push({ file: pool.fileOf(one), why: whyNot(alone) });
        }
      }
    }
  }
  return { kept, refused };
}

const ofAnotherFile = ({ headers }: Assertion): string =>
  `It speaks of revision ${headers['snap-revision'] as string} of the snap '${headers['snap-id'] as string}', whose file ` +
  `(SHA3-384 ${Buffer.from(headers['snap-sha3-384'] as string, 'base64url').toString('hex')}) was not named.`;

const isRequest = (): Refusal =>
  new Refusal('api-error', 'A request to register a key is carried out of a store and not into one.');
