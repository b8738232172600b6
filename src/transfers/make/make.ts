// Makes a transfer of packages in this store under a signed statement.
import { randomUUID } from '#domain/cryptography.ts';
import { makeTransfer, rewriteTransferPart, type TransferExport } from '#acts/transfers/transfers.ts';
import { readFleetText, toFleetSetting } from '#acts/fleets/fleet-text.ts';
import type { Acts, Actor } from '#acts/act.ts';
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import type {
  TransferBlob,
  TransferContent,
  TransferFleet,
  TransferLarderRelease,
  TransferRequest,
} from '#contract/wire.ts';
import type { Blobs } from '#blobs/blobs.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import { fitsGlob } from '#domain/packages/package-glob.ts';
import { Refusal } from '#domain/refusal.ts';
import type { SpillStorage, Sequence } from '#domain/sequence.ts';
import { mayReceive, type SiteLabels } from '#domain/sites/site-label.ts';
import { ChunkReader, type Files } from '#files/durable-streams.ts';
import type { StoreRecords } from '#records/index.ts';
import { readMentions } from '#registry/mentions.ts';
import {
  compose,
  readMadeStatement,
  signTransfer,
  writeTransferFiles,
  type TransferIntent,
  type WrittenTransfer,
} from './compose.ts';
import type { TransferContentReader } from '../parts/part-bytes.ts';
import { streamsOf } from './held-assertions.ts';
import { holdingsOf, type FixedRevisions, type HoldingContents, type HoldingSelection } from './holdings.ts';
import { selectRequested } from '../request/requested-packages.ts';
import type { Site } from '../site.ts';
import { digestsOf, findUnchanged } from './unchanged-packages.ts';
import { storeBytes, readBlob } from '../blob-bytes.ts';

export interface TransferMakeContext {
  records: StoreRecords;
  acts: Acts;
  actor: Actor;
  blobs: Blobs;
  site: Site;
  labels: SiteLabels;
  now: Now;
  /** Runs file operations with the rights of the calling user. */
  asCaller: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Aborts the work and removes all of its files. */
  signal: AbortSignal;
  progress: (step: string, done: number, total: number) => void;
  files?: Files;
  /** Spill file for long lists, including those of the statement; in memory if undefined. */
  aside?: SpillStorage | undefined;
}

export interface TransferMakeRequest extends TransferIntent {
  /** Globs of `namespace/name`. */
  packages: readonly string[];
  /** Verified releases of larder, with their files among the contents of the store. */
  larderReleases?: readonly TransferLarderRelease[];
  /** A request; its subscriptions are included in addition to `packages`. */
  request?: TransferRequest | undefined;
  /** Name of the medium, as given by the person who carries it. */
  media: string | undefined;
  /** The file to write; if there are several parts, the part number goes before the extension. */
  file: string;
}

/** Makes a transfer of packages in this store. The files get their final names when all of them are durable. */
export async function makeStoreTransfer(
  makeRequest: TransferMakeRequest,
  making: TransferMakeContext,
): Promise<WrittenTransfer> {
  const { records, acts, actor, blobs, site, labels, now, aside } = making;
  const at = now();
  if (makeRequest.request !== undefined) refuseDownward(makeRequest.request, labels);
  // The images that resources name are read in the background, so read the outstanding ones now.
  let unreadable: number;
  do unreadable = await readMentions(records, acts, blobs);
  while ((await records.images.unreadContents(unreadable + 1)).length > unreadable);
  const { packages, request, larderReleases = [] } = makeRequest;
  const texts = new Set<string>();
  const keep = async (text: string): Promise<TransferContent> => {
    const content = await keepText(text, blobs);
    texts.add(content['sha3-384']);
    return content;
  };
  const contents: HoldingContents = { bytesOf: (sha3) => readBlob(blobs, sha3), keep, aside };
  const fleets = await selectFleets(packages, records);
  const fixed = fixedRevisionsOf(fleets);
  const hold = (more: Partial<HoldingSelection>) =>
    holdingsOf(records, { packages, fixed, at: timestamp(at), ...more }, contents);
  const all = await (request === undefined ? hold({}) : selectRequested(request, records, hold));
  const feeds = await selectFeeds(packages, records);
  if (all.packages.length + all.assertions.size + feeds.length + fleets.length + larderReleases.length === 0) {
    const selection = request === undefined ? `is called ${packages.join(' or ')}` : 'is in the request';
    throw new Refusal('resource-not-found', `No package here ${selection}.`);
  }
  const packageDigests = await digestsOf(all.packages, records);
  const { unchanged, base } = await findUnchanged(makeRequest.base, packageDigests, records);
  const held = unchanged.size === 0 ? all : await hold({ except: unchanged });
  for (const id of unchanged) packageDigests.delete(id);
  const assertions = [];
  for await (const text of streamsOf(records.assertions, held.assertions)) assertions.push(await keep(text));
  const sequence = (await records.transfers.newestMade()) + 1;
  making.signal.throwIfAborted();
  const content = contentFrom(blobs, making.signal);
  const transfer = await compose(
    { ...held, assertions, feeds, fleets, 'larder-releases': [...larderReleases] },
    { ...makeRequest, base },
    {
      site,
      sequence,
      at,
      label: labels.label,
      content,
      aside,
      refuseLacking: (carried) => refuseLacking(carried, blobs),
    },
  );
  const storedStatement = await storeBytes(transfer.bytes, blobs);
  return writeTransferFiles(transfer, makeRequest, { ...making, content }, ({ id, statement, bytes, written }) => {
    making.signal.throwIfAborted();
    const made = { id, sequence, sites: statement.for, statement: storedStatement.sha3_384, bytes };
    const leaving = leavingOf(statement, written, makeRequest.media);
    const carried = [...statement.blobs.values().map((blob) => blob['sha3-384'])];
    const those = carried.filter((digest) => texts.has(digest));
    return acts.do(makeTransfer, actor, { ...made, packageDigests, leaving, contents: carried, texts: those });
  });
}

/**
 * Returns the feeds that a glob such as `feed/*` names. They are never included without being named: sites with an older
 * release refuse a transfer that has them.
 */
async function selectFeeds(
  globs: readonly string[],
  { vulnerabilityFeeds }: Pick<StoreRecords, 'vulnerabilityFeeds'>,
): Promise<NonNullable<LazyTransferStatement['feeds']>> {
  const feedGlobs = globs.filter((glob) => glob.startsWith('feed/'));
  if (feedGlobs.length === 0) return [];
  const all = await vulnerabilityFeeds.list();
  return all
    .filter(({ source }) => fitsGlob(feedGlobs, { namespace: 'feed', name: source }))
    .map(({ source, sha256, sha3_384, size, skipped }) => ({
      name: source,
      content: { sha256, 'sha3-384': sha3_384, size },
      ...(skipped > 0 && { 'skips-invalid': true as const }),
    }));
}

/** The maximum number of fleets of a transfer, as in its schema. */
const maxFleets = 1000;

/** Returns the fleets that a glob such as `fleet/*` names; like feeds, only if they are named. */
async function selectFleets(
  globs: readonly string[],
  records: Pick<StoreRecords, 'fleets' | 'packages' | 'resourceRevisions' | 'revisions'>,
): Promise<TransferFleet[]> {
  const fleetGlobs = globs.filter((glob) => glob.startsWith('fleet/'));
  if (fleetGlobs.length === 0) return [];
  const selected = (await records.fleets.listAll()).filter(({ name }) =>
    fitsGlob(fleetGlobs, { namespace: 'fleet', name }),
  );
  const missing = fleetGlobs.find(
    (glob) => !glob.includes('*') && !selected.some(({ name }) => glob === `fleet/${name}`),
  );
  if (missing !== undefined)
    throw new Refusal('resource-not-found', `There is no ${missing} here. 'larder fleet list' lists them.`);
  if (selected.length > maxFleets) {
    throw new Refusal(
      'conflict',
      `${String(selected.length)} fleets are selected, and a transfer has at most ${String(maxFleets)}. Make several transfers.`,
    );
  }
  const texts: TransferFleet[] = [];
  for (const fleet of selected) texts.push(await readFleetText(records, fleet));
  return texts;
}

/** The revisions that fleets give. A package of the transfer contains them, also if no channel holds them any longer. */
const fixedRevisionsOf = (fleets: readonly TransferFleet[]): FixedRevisions =>
  Map.groupBy(
    fleets.flatMap(({ name, channels }) =>
      channels
        .filter(({ withdrawn }) => withdrawn !== true)
        .map((text) => toFleetSetting(name, text, { at: '', actor: '' })),
    ),
    ({ packageId }) => packageId,
  );

/** Refuses a request from a site that would refuse the transfer, because its site label is lower than the label of this site. */
function refuseDownward({ site, label: targetLabel }: TransferRequest, { label, levels = [] }: SiteLabels): void {
  if (mayReceive(label, targetLabel === undefined ? { levels } : { label: targetLabel, levels })) return;
  throw new Refusal(
    'conflict',
    `Transfers of this site have the label '${label ?? ''}', and the label of '${site}' is ${targetLabel === undefined ? 'none' : `'${targetLabel}'`}, ` +
      'which is lower. That site would refuse the transfer, so none was made.',
  );
}

/** Writes one part of a transfer again with identical bytes. `media` is the name of the medium, for the record of the export. */
export async function remakePart(
  { sequence, part, file, media }: { sequence: number; part: number; file: string; media: string | undefined },
  making: TransferMakeContext,
): Promise<WrittenTransfer> {
  const { records, acts, actor, blobs, site } = making;
  const before = await records.transfers.made(sequence);
  const bytes = before && (await readBlob(blobs, before.statement));
  if (before === undefined || bytes === undefined) {
    throw new Refusal('resource-not-found', `No transfer number ${String(sequence)} was made here.`);
  }
  const statement = readMadeStatement(bytes, { sequence, part });
  await refuseGone({ sequence, part }, statement, blobs);
  const transfer = await signTransfer(site, { bytes, statement });
  const writing = { ...making, content: contentFrom(blobs, making.signal) };
  return writeTransferFiles(transfer, { file, part }, writing, ({ id, written }) =>
    acts.do(rewriteTransferPart, actor, { id, leaving: leavingOf(statement, written, media) }),
  );
}

const leavingOf = (
  { parts, label }: Pick<LazyTransferStatement, 'parts' | 'label'>,
  files: WrittenTransfer['written'],
  media: string | undefined,
): TransferExport => ({ files, of: parts.length, label: label ?? null, media: media ?? null });

async function keepText(text: string, blobs: Pick<Blobs, 'put'>): Promise<TransferContent> {
  const { sha256, sha3_384, size } = await blobs.put(Buffer.from(text), { id: randomUUID() });
  return { sha256, 'sha3-384': sha3_384, size };
}

/** Refuses to write a part again if one of its contents was deleted. */
async function refuseGone(
  { sequence, part }: { sequence: number; part: number },
  { parts, blobs: carried }: LazyTransferStatement,
  blobs: Pick<Blobs, 'stat'>,
): Promise<void> {
  for (const { blob } of parts[part - 1]!) {
    const { 'sha3-384': sha3_384, size } = carried.at(blob)!;
    if ((await blobs.stat(sha3_384))?.size === size) continue;
    throw new Refusal(
      'conflict',
      `The content ${sha3_384} that part ${String(part)} of transfer number ${String(sequence)} contains is not here any more, so this ` +
        'part cannot be made again; make another transfer.',
    );
  }
}

async function refuseLacking(carried: Sequence<TransferBlob>, blobs: Pick<Blobs, 'stat'>): Promise<void> {
  for (const { 'sha3-384': sha3_384, size } of carried) {
    const stored = await blobs.stat(sha3_384);
    if (stored?.size === size) continue;
    throw new Refusal(
      'conflict',
      `The content ${sha3_384} is ${stored === undefined ? 'missing' : 'damaged'} here, so nothing was made. 'larder verify' shows what needs it.`,
    );
  }
}

function contentFrom(blobs: Pick<Blobs, 'makeLocalCopy'>, signal: AbortSignal): TransferContentReader {
  const reader = new ChunkReader();
  return async function* (blob, offset, size) {
    const loan = await blobs.makeLocalCopy(blob['sha3-384']);
    try {
      for await (const bytes of reader.read(loan.file, offset, size)) {
        signal.throwIfAborted();
        yield bytes;
      }
    } finally {
      await loan.release();
    }
  };
}
