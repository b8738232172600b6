// Job that makes deltas of snaps after each release. Sources are earlier revisions of the same channel and revisions that devices report;
// the target is the released revision. A delta is offered only after it was applied and gave exactly the target file.
import type { Logger } from 'pino';

import { withFile, type Blobs, type Chunks } from '#blobs/blobs.ts';
import { removeNeedless } from '#blobs/needless.ts';
import type { DeltaMaker } from '#deltas/maker.ts';
import { minutes, timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import { Refusal } from '#domain/refusal.ts';
import type { DeltaEvent, DeltaWork, TriedDelta } from '#records/deltas.ts';
import type { Passing, Records } from '#records/index.ts';
import type { Release } from '#records/releases.ts';
import type { RevisionForDevices } from '#records/revisions.ts';
import { overPages } from './rounds.ts';
import type { Job } from './runner.ts';

interface Options {
  records: Pick<Records, 'deltas' | 'note' | 'passing' | 'releases' | 'revisions' | 'seenDevices'>;
  blobs: Blobs;
  maker: DeltaMaker;
  newId: NewIds;
  now: Now;
  log: Logger;
  /** Whether to make deltas, their maximum total size in bytes, and whether the store remembers devices. */
  settings: () => { deltas: boolean; most: number; remember: boolean };
}

/** Maximum source revisions from the channel's history, and from devices. */
const mostBefore = 3;
const mostHeld = 3;

/**
 * Maximum size of a delta as a share of the whole file. Above it, unpacking and repacking on the device and storage are not worth the
 * saving.
 */
const worthwhile = 0.6;

const pageSize = 100;

/** A delta to make, with the release time of its target. */
type Wanted = Pick<TriedDelta, 'packageId' | 'source' | 'target' | 'releasedAt'>;

export function makeDeltas(options: Options): Job {
  const { records, settings, maker, log } = options;
  const isEnding = (): boolean => maker.closed.aborted;
  let looked = false;

  async function run(): Promise<Record<string, unknown>> {
    if (!settings().deltas) {
      looked = false;
      return removeAll(options);
    }
    // If there are no deltas at all, as in a restored store, mark every released package for a run.
    if (!looked && !(await records.deltas.any())) await records.passing(({ deltas }) => deltas.lookAtAll());
    looked = true;
    const counts: Partial<Record<DeltaEvent, number>> = {};
    const count = (event: DeltaEvent): void => {
      counts[event] = (counts[event] ?? 0) + 1;
      records.note('delta', event, timestamp(options.now()));
    };
    const held =
      settings().remember && (await records.deltas.waiting('', 1)).length > 0
        ? records.seenDevices.mostHeld(mostHeld)
        : undefined;
    const heldBy = (await held) ?? new Map<string, number[]>();
    const page = (after?: DeltaWork) => records.deltas.waiting(after?.packageId ?? '', pageSize);
    await overPages(page, pageSize, async (work) => {
      if (isEnding()) return;
      try {
        await ofSnap(work, heldBy.get(work.packageId) ?? [], count, options);
      } catch (error) {
        // This snap is tried again in the next run; the other snaps continue.
        if (!isEnding()) log.warn({ err: error, package: work.packageId }, 'no deltas could be made of a snap');
      }
    });
    return counts;
  }
  return { name: 'make-deltas', inDoubt: 'runs', every: minutes(1), run };
}

async function removeAll({ records, blobs, now }: Options): Promise<Record<string, unknown>> {
  let all = 0;
  while (await records.deltas.any()) {
    const { removed, contents } = await records.passing(async (tx) => {
      const { removed, contents } = await tx.deltas.removeSome(pageSize);
      return { removed, contents: await needless(contents, tx) };
    });
    await removeNeedless(blobs, contents, now());
    all += removed;
  }
  return all === 0 ? {} : { removed: all };
}

async function ofSnap(
  work: DeltaWork,
  held: readonly number[],
  count: (event: DeltaEvent) => void,
  options: Options,
): Promise<void> {
  const { records, blobs, now } = options;
  const wanted = await wantedOf(work.packageId, held, options);
  const known = await records.deltas.tried(work.packageId);
  const gone = known.filter((one) => !wanted.some((other) => isSame(one, other)));
  if (gone.length > 0) await removeNeedless(blobs, await records.passing((tx) => removed(gone, tx)), now());
  for (const one of wanted) {
    const before = known.find((other) => isSame(one, other));
    const event = await attempt(one, before, options);
    if (event !== undefined) count(event);
  }
  await records.passing(({ deltas }) => deltas.settle(work));
}

const isSame = (one: Pick<Wanted, 'source' | 'target'>, other: Pick<Wanted, 'source' | 'target'>): boolean =>
  one.source === other.source && one.target === other.target;

/** Returns the deltas to make for a package, newest releases first. */
async function wantedOf(packageId: string, held: readonly number[], { records, now }: Options): Promise<Wanted[]> {
  const releases = await records.releases.current(packageId, timestamp(now()));
  const wanted = new Map<string, Wanted>();
  for (const release of releases.sort((a, b) => (a.releasedAt < b.releasedAt ? 1 : -1))) {
    for (const source of await sourcesOf(release, held, records)) {
      const { revision: target, releasedAt } = release;
      const name = `${String(source)} ${String(target)}`;
      if (!wanted.has(name)) wanted.set(name, { packageId, source, target, releasedAt });
    }
  }
  return [...wanted.values()];
}

async function sourcesOf(release: Release, held: readonly number[], { deltas }: Options['records']): Promise<number[]> {
  const before = await deltas.heldBefore(release, mostBefore);
  // A device with a newer revision than the channel does not follow that channel.
  return [...new Set([...before, ...held.filter((revision) => revision < release.revision)])];
}

/** Makes a delta if it does not exist and fits the limits. Returns the outcome, or undefined if it was not tried. */
async function attempt(
  wanted: Wanted,
  known: TriedDelta | undefined,
  options: Options,
): Promise<DeltaEvent | undefined> {
  const { records, blobs, maker, log } = options;
  const { packageId, source, target, releasedAt } = wanted;
  if (known !== undefined && known.sha3_384 !== null && (await blobs.stat(known.sha3_384)) !== undefined)
    return undefined;
  const [older, newer] = [await goodFile(packageId, source, options), await goodFile(packageId, target, options)];
  if (older === undefined || newer === undefined) return undefined;
  const { bytes: newerOnes } = await records.deltas.kept(releasedAt);
  const limit = Math.min(Math.floor(worthwhile * newer.size), options.settings().most - newerOnes);
  // Skip the delta if an earlier attempt already exceeded this limit.
  if (limit <= 0 || (known?.sha3_384 === null && known.size >= limit)) return undefined;
  try {
    const made = await proven(older, newer, limit, options);
    await keep({ ...wanted, sha3_384: made?.sha3_384 ?? null, size: made?.size ?? limit }, options);
    return made === undefined ? 'refused' : 'made';
  } catch (error) {
    // Retry after a full disk; any other error would occur again.
    if (maker.closed.aborted || error instanceof Refusal) throw error;
    log.error(
      { err: error, package: packageId, source, target },
      'a delta could not be made; the whole file is served',
    );
    await keep({ ...wanted, sha3_384: null, size: newer.size }, options);
    return 'failed';
  }
}

/** Returns the revision if its record and its file are intact. */
async function goodFile(
  packageId: string,
  number: number,
  { records, blobs }: Options,
): Promise<RevisionForDevices | undefined> {
  const revision = await records.revisions.forDevices(packageId, number);
  if (revision === undefined || (await records.revisions.isDamaged(packageId, number))) return undefined;
  return (await blobs.prove(revision.sha3_384)) ? revision : undefined;
}

class TooLarge extends Error {}

/** Makes the delta between two files and verifies that it gives the newer one. Returns undefined if it exceeds `limit` bytes. */
async function proven(
  older: RevisionForDevices,
  newer: RevisionForDevices,
  limit: number,
  { blobs, maker, newId }: Options,
): Promise<{ sha3_384: string; size: number } | undefined> {
  const lent = <Result>(work: (older: string, newer: string) => Promise<Result>): Promise<Result> =>
    withFile(blobs, older.sha3_384, (source) => withFile(blobs, newer.sha3_384, (target) => work(source, target)));
  try {
    return await lent(async (source, target) => {
      const pieces = noLarger(maker.make(source, target), limit);
      const made = await blobs.receive(pieces, { id: newId.uuid(), limit, expected: limit, ownsChunks: true });
      const is = await withFile(blobs, made.sha3_384, (delta) => maker.rebuild(source, delta, newer.size));
      if (is !== newer.sha3_384) throw new Error('a delta makes another file than it was made for');
      return made;
    });
  } catch (error) {
    if (error instanceof TooLarge) return undefined;
    throw error;
  }
}

/** Stops making a delta that exceeds the limit. */
async function* noLarger(pieces: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Chunks> {
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > limit) throw new TooLarge();
    yield [piece];
  }
}

/** Stores the outcome of an attempt. Removes deltas of the oldest releases if the total exceeds the maximum size. */
async function keep(tried: TriedDelta, { records, blobs, now, settings }: Options): Promise<void> {
  const { most } = settings();
  const contents = await records.passing(async (tx) => {
    await tx.deltas.keep(tried);
    const going: TriedDelta[] = [];
    let { bytes } = await tx.deltas.kept();
    for (const old of bytes > most ? await tx.deltas.oldest(tried.releasedAt, 1000) : []) {
      if (bytes <= most) break;
      going.push(old);
      bytes -= old.size;
    }
    return removed(going, tx);
  });
  await removeNeedless(blobs, contents, now());
}

/** Removes deltas and returns the contents that no record needs now. */
async function removed(gone: readonly TriedDelta[], tx: Pick<Passing, 'deltas' | 'neededContents'>): Promise<string[]> {
  for (const one of gone) await tx.deltas.remove(one);
  return needless(
    gone.flatMap(({ sha3_384 }) => sha3_384 ?? []),
    tx,
  );
}

async function needless(
  contents: readonly string[],
  { neededContents }: Pick<Passing, 'neededContents'>,
): Promise<string[]> {
  const found: string[] = [];
  for (const content of contents) if (!(await neededContents.has(content))) found.push(content);
  return found;
}
