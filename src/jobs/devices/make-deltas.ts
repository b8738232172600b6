// Job that makes deltas of snaps after each release and each pin of a fleet. Sources are earlier revisions of the same channel and revisions that devices report;
// the target is the released or pinned revision. A delta is offered only after it was applied and gave exactly the target file.
import type { Logger } from 'pino';

import { withFile, type Blobs, type Chunks } from '#blobs/blobs.ts';
import { removeUnneeded } from '#blobs/remove-unneeded.ts';
import type { DeltaMaker } from '#deltas/maker.ts';
import { minutes, timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import { Refusal } from '#domain/refusal.ts';
import type { DeltaEvent, DeltaWork, DeltaAttempt } from '#records/devices/deltas.ts';
import type { EphemeralRecords, StoreRecords } from '#records/index.ts';
import type { Release } from '#records/releases/releases.ts';
import type { RevisionForDevices } from '#records/revisions/revisions.ts';
import { forEachPageItem } from '../rounds.ts';
import type { BackgroundJob } from '../runner.ts';

interface DeltaJobOptions {
  records: Pick<
    StoreRecords,
    'deltas' | 'countEvent' | 'ephemeral' | 'fleets' | 'releases' | 'revisions' | 'seenDevices'
  >;
  blobs: Blobs;
  maker: DeltaMaker;
  newId: NewIds;
  now: Now;
  log: Logger;
  /** Whether to make deltas, their maximum total size in bytes, and whether the store remembers devices. */
  settings: () => { deltas: boolean; maxBytes: number; remember: boolean };
}

/** Maximum source revisions from the channel's history, and from devices. */
const maxHistorySources = 3;
const maxDeviceSources = 3;

/**
 * Maximum size of a delta as a share of the whole file. Above it, unpacking and repacking on the device and storage are not worth the
 * saving.
 */
const maxDeltaShare = 0.6;

const pageSize = 100;

/** A delta to make, with the release time of its target. */
type DeltaCandidate = Pick<DeltaAttempt, 'packageId' | 'source' | 'target' | 'releasedAt'>;

export function makeDeltas(options: DeltaJobOptions): BackgroundJob {
  const { records, settings, maker, log } = options;
  const isEnding = (): boolean => maker.closed.aborted;
  let looked = false;

  async function run(): Promise<Record<string, unknown>> {
    if (!settings().deltas) {
      looked = false;
      return removeAll(options);
    }
    // If there are no deltas at all, as in a restored store, mark every released package for a run.
    if (!looked && !(await records.deltas.any())) await records.ephemeral(({ deltas }) => deltas.lookAtAll());
    looked = true;
    const counts: Partial<Record<DeltaEvent, number>> = {};
    const count = (event: DeltaEvent): void => {
      counts[event] = (counts[event] ?? 0) + 1;
      records.countEvent('delta', event, timestamp(options.now()));
    };
    const held =
      settings().remember && (await records.deltas.waiting('', 1)).length > 0
        ? records.seenDevices.mostHeld(maxDeviceSources)
        : undefined;
    const heldBy = (await held) ?? new Map<string, number[]>();
    const page = (after?: DeltaWork) => records.deltas.waiting(after?.packageId ?? '', pageSize);
    await forEachPageItem(page, pageSize, async (work) => {
      if (isEnding()) return;
      try {
        await ofSnap(work, heldBy.get(work.packageId) ?? [], count, options);
      } catch (error) {
        // This snap is tried again in the next run; the other snaps continue.
        if (!isEnding()) log.warn({ err: error, package: work.packageId }, 'cannot make deltas of a snap');
      }
    });
    return counts;
  }
  return { name: 'make-deltas', inDoubt: 'runs', every: minutes(1), run };
}

async function removeAll({ records, blobs, now }: DeltaJobOptions): Promise<Record<string, unknown>> {
  let all = 0;
  while (await records.deltas.any()) {
    const { removed, contents } = await records.ephemeral(async (tx) => {
      const { removed, contents } = await tx.deltas.removeSome(pageSize);
      return { removed, contents: await needless(contents, tx) };
    });
    await removeUnneeded(blobs, contents, now());
    all += removed;
  }
  return all === 0 ? {} : { removed: all };
}

async function ofSnap(
  work: DeltaWork,
  held: readonly number[],
  count: (event: DeltaEvent) => void,
  options: DeltaJobOptions,
): Promise<void> {
  const { records, blobs, now } = options;
  const candidates = await listCandidates(work.packageId, held, options);
  const tried = await records.deltas.tried(work.packageId);
  const gone = tried.filter((delta) => !candidates.some((other) => isSame(delta, other)));
  if (gone.length > 0) await removeUnneeded(blobs, await records.ephemeral((tx) => removed(gone, tx)), now());
  for (const candidate of candidates) {
    const before = tried.find((other) => isSame(candidate, other));
    const event = await attempt(candidate, before, options);
    if (event !== undefined) count(event);
  }
  await records.ephemeral(({ deltas }) => deltas.settle(work));
}

const isSame = (
  delta: Pick<DeltaCandidate, 'source' | 'target'>,
  other: Pick<DeltaCandidate, 'source' | 'target'>,
): boolean => delta.source === other.source && delta.target === other.target;

/** A revision that a slot of a channel gives. */
type DeltaTarget = Pick<Release, 'packageId' | 'channel' | 'slot' | 'revision' | 'releasedAt'>;

/** Returns the deltas to make for a package, to revisions of channels and of fleets, newest releases first. */
async function listCandidates(
  packageId: string,
  held: readonly number[],
  { records, now }: DeltaJobOptions,
): Promise<DeltaCandidate[]> {
  const targets: DeltaTarget[] = await records.releases.current(packageId, timestamp(now()));
  for (const { revision, withdrawn, setAt: releasedAt, ...slot } of await records.fleets.settingsOfPackage(packageId))
    if (revision !== null && !withdrawn) targets.push({ ...slot, revision, releasedAt });
  const candidates = new Map<string, DeltaCandidate>();
  for (const release of targets.sort((a, b) => (a.releasedAt < b.releasedAt ? 1 : -1))) {
    for (const source of await sourcesOf(release, held, records)) {
      const { revision: target, releasedAt } = release;
      const name = `${String(source)} ${String(target)}`;
      if (!candidates.has(name)) candidates.set(name, { packageId, source, target, releasedAt });
    }
  }
  return [...candidates.values()];
}

async function sourcesOf(
  release: DeltaTarget,
  held: readonly number[],
  { deltas }: DeltaJobOptions['records'],
): Promise<number[]> {
  const before = await deltas.heldBefore(release, maxHistorySources);
  // A device with a newer revision than the channel does not follow that channel.
  return [...new Set([...before, ...held.filter((revision) => revision < release.revision)])];
}

/** Makes a delta if it does not exist and fits the limits. Returns the outcome, or undefined if it was not tried. */
async function attempt(
  candidate: DeltaCandidate,
  previous: DeltaAttempt | undefined,
  options: DeltaJobOptions,
): Promise<DeltaEvent | undefined> {
  const { records, blobs, maker, log } = options;
  const { packageId, source, target, releasedAt } = candidate;
  if (previous !== undefined && previous.sha3_384 !== null && (await blobs.stat(previous.sha3_384)) !== undefined)
    return undefined;
  const [older, newer] = [
    await findIntactRevision(packageId, source, options),
    await findIntactRevision(packageId, target, options),
  ];
  if (older === undefined || newer === undefined) return undefined;
  const { bytes: newerOnes } = await records.deltas.kept(releasedAt);
  const limit = Math.min(Math.floor(maxDeltaShare * newer.size), options.settings().maxBytes - newerOnes);
  // Skip the delta if an earlier attempt already exceeded this limit.
  if (limit <= 0 || (previous?.sha3_384 === null && previous.size >= limit)) return undefined;
  try {
    const made = await proven(older, newer, limit, options);
    await keep({ ...candidate, sha3_384: made?.sha3_384 ?? null, size: made?.size ?? limit }, options);
    return made === undefined ? 'refused' : 'made';
  } catch (error) {
    // Retry after a full disk; any other error would occur again.
    if (maker.closed.aborted || error instanceof Refusal) throw error;
    log.error({ err: error, package: packageId, source, target }, 'cannot make a delta; the whole file is served');
    await keep({ ...candidate, sha3_384: null, size: newer.size }, options);
    return 'failed';
  }
}

/** Returns the revision if its record and its file are intact. */
async function findIntactRevision(
  packageId: string,
  number: number,
  { records, blobs }: DeltaJobOptions,
): Promise<RevisionForDevices | undefined> {
  const revision = await records.revisions.forDevices(packageId, number);
  if (revision === undefined || (await records.revisions.isDamaged(packageId, number))) return undefined;
  return (await blobs.prove(revision.sha3_384)) ? revision : undefined;
}

class DeltaTooLargeError extends Error {}

/** Makes the delta between two files and verifies that it gives the newer one. Returns undefined if it exceeds `limit` bytes. */
async function proven(
  older: RevisionForDevices,
  newer: RevisionForDevices,
  limit: number,
  { blobs, maker, newId }: DeltaJobOptions,
): Promise<{ sha3_384: string; size: number } | undefined> {
  const withBothFiles = <Result>(work: (older: string, newer: string) => Promise<Result>): Promise<Result> =>
    withFile(blobs, older.sha3_384, (source) => withFile(blobs, newer.sha3_384, (target) => work(source, target)));
  try {
    return await withBothFiles(async (source, target) => {
      const pieces = noLarger(maker.make(source, target), limit);
      const made = await blobs.receive(pieces, { id: newId.uuid(), limit, expected: limit, ownsChunks: true });
      const is = await withFile(blobs, made.sha3_384, (delta) => maker.rebuild(source, delta, newer.size));
      if (is !== newer.sha3_384) throw new Error('a delta does not produce the expected file');
      return made;
    });
  } catch (error) {
    if (error instanceof DeltaTooLargeError) return undefined;
    throw error;
  }
}

/** Stops making a delta that exceeds the limit. */
async function* noLarger(pieces: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Chunks> {
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > limit) throw new DeltaTooLargeError();
    yield [piece];
  }
}

/** Stores the outcome of an attempt. Removes deltas of the oldest releases if the total exceeds the maximum size. */
async function keep(tried: DeltaAttempt, { records, blobs, now, settings }: DeltaJobOptions): Promise<void> {
  const { maxBytes } = settings();
  const contents = await records.ephemeral(async (tx) => {
    await tx.deltas.keep(tried);
    const going: DeltaAttempt[] = [];
    let { bytes } = await tx.deltas.kept();
    for (const old of bytes > maxBytes ? await tx.deltas.oldest(tried.releasedAt, 1000) : []) {
      if (bytes <= maxBytes) break;
      going.push(old);
      bytes -= old.size;
    }
    return removed(going, tx);
  });
  await removeUnneeded(blobs, contents, now());
}

/** Removes deltas and returns the contents that no record needs now. */
async function removed(
  gone: readonly DeltaAttempt[],
  tx: Pick<EphemeralRecords, 'deltas' | 'neededContents'>,
): Promise<string[]> {
  for (const delta of gone) await tx.deltas.remove(delta);
  return needless(
    gone.flatMap(({ sha3_384 }) => sha3_384 ?? []),
    tx,
  );
}

async function needless(
  contents: readonly string[],
  { neededContents }: Pick<EphemeralRecords, 'neededContents'>,
): Promise<string[]> {
  const unneeded: string[] = [];
  for (const content of contents) if (!(await neededContents.has(content))) unneeded.push(content);
  return unneeded;
}
