// Gathers the content of other transfers in the folder. The new transfer includes it under the signature of its own sender.
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import type { TransferContent, TransferPackage } from '#contract/wire.ts';
import { parseStream } from '#assertions/format/assertion.ts';
import { checkAssertion } from '#assertions/format/types.ts';
import { isUnpacked, openUnpacked } from '../parts/unpacked-folder.ts';
import { NotATransfer } from '../statement/not-a-transfer.ts';
import { openPart, type OpenPart } from '../parts/open-part.ts';
import { readAt, type GatheredRange } from './folder.ts';
import type { GatheredPackage } from './gathered-content.ts';
import type { GatherState } from './gather-state.ts';

/** Contents of the transfers with their file ranges, by SHA3-384. */
type CarriedContents = Map<string, { content: TransferContent; mediaType: string; places: GatheredRange[] }>;

interface GatheredTransfer {
  name: string;
  statement: LazyTransferStatement;
  carried: CarriedContents;
}

/** Transfers with at least one part in the folder. */
export class GatheredTransfers {
  readonly #open = new Map<string, GatheredTransfer>();

  /** Adds a part. Returns a sentence if it is invalid. */
  async add(path: string, name: string): Promise<string | undefined> {
    try {
      const parts = (await isUnpacked(path))
        ? (await openUnpacked(path, async (work) => work())).parts
        : [await openPart(path)];
      for (const part of parts) await this.#take(part, name).finally(() => part.close());
      return undefined;
    } catch (error) {
      if (error instanceof NotATransfer) return error.message;
      throw error;
    }
  }

  async #take(part: OpenPart, name: string): Promise<void> {
    const { statement, id } = part;
    const transfer = this.#open.get(id) ?? { name, statement, carried: new Map() as CarriedContents };
    this.#open.set(id, transfer);
    for await (const { piece, of, at } of part.pieces()) {
      const { 'media-type': mediaType, ...content } = of;
      const entry = transfer.carried.get(of['sha3-384']) ?? { content, mediaType, places: [] };
      transfer.carried.set(of['sha3-384'], entry);
      entry.places.push({ ...at, size: piece.size });
    }
  }

  /** Adds the assertions of the transfers. Must run before their packages are added. */
  async readAssertions({ pool, refused }: Pick<GatherState, 'pool' | 'refused'>): Promise<void> {
    for (const { statement, carried, name } of this.#open.values()) {
      for (const { 'sha3-384': sha3_384, size } of statement.assertions) {
        const [place, other] = findCompleteRanges(carried.get(sha3_384)) ?? [];
        if (place === undefined || other !== undefined) continue;
        for (const assertion of parseStream(await readAt(place.file, place.offset, size))) {
          checkAssertion(assertion);
          if (pool.add(assertion, name) !== undefined)
            refused({ path: place.file, name }, 'It holds another text than another file of one assertion.');
        }
      }
    }
  }

  /** Adds the packages of the transfers. Returns the names of their snap-revisions. */
  take(sorting: GatherState): string[] {
    const assertions: string[] = [];
    for (const { statement, carried, name } of this.#open.values()) {
      for (const account of statement.accounts) sorting.gathered.account(account);
      for (const source of statement.packages) assertions.push(...takePackage(source, carried, sorting));
      for (const { what: subject, why: reason } of statement['left-out'])
        sorting.gathered.leave(subject, `${name} says: ${reason}`);
    }
    return assertions;
  }
}

/** Returns the file ranges of a content if it is complete. Parts may be added in any order, but the pieces within a part are in order. */
function findCompleteRanges(
  entry: { content: TransferContent; places: GatheredRange[] } | undefined,
): GatheredRange[] | undefined {
  if (entry === undefined) return undefined;
  return entry.places.reduce((sum, { size }) => sum + size, 0) === entry.content.size ? entry.places : undefined;
}

function takePackage(source: TransferPackage, carried: CarriedContents, sorting: GatherState): string[] {
  const { revisions, resources, images, channels, closed, withdrawn, tracks, libraries = [], ...about } = source;
  const { gathered } = sorting;
  const { icon, ...details } = about;
  const keep = (content: TransferContent): boolean => {
    const carriedContent = carried.get(content['sha3-384']);
    const places = findCompleteRanges(carriedContent);
    if (carriedContent === undefined || places === undefined) return false;
    gathered.content(carriedContent.content, carriedContent.mediaType, places);
    return true;
  };
  const hasIcon = icon === null || (icon !== undefined && keep(icon.content));
  const entry = gathered.package({ ...details, ...(hasIcon && { icon }) });
  const called = `${source.namespace}/${source.name}`;
  if (entry === undefined) {
    gathered.leave(called, 'Another package in the folder has its name, with another id.');
    return [];
  }
  const assertions: string[] = [];
  for (const revision of revisions) {
    if (!keep(revision.content)) gathered.leave(`${called} revision ${String(revision.revision)}`, notCarriedReason);
    else if (!entry.addRevision(revision))
      gathered.leave(`${called} revision ${String(revision.revision)}`, duplicateRevisionReason);
    else if (revision.assertion !== undefined) assertions.push(revision.assertion);
  }
  takeImages(images, entry, keep);
  takeResources(resources, { entry, keep, called, sorting });
  for (const library of libraries) {
    const versions = library.versions.filter(({ content }) => keep(content));
    if (!entry.addLibrary({ ...library, versions }))
      gathered.leave(`${called} ${library.name}`, duplicateRevisionReason);
  }
  for (const track of tracks) entry.tracks.add(track);
  for (const { revision, why: reason } of withdrawn) entry.withdrawn.set(revision, reason);
  for (const channel of closed) entry.closed.add(channel);
  for (const release of channels) {
    const isWhole =
      entry.hasRevision(release.revision) &&
      (release.resources ?? []).every(({ name, revision }) => revision === null || entry.hasResource(name, revision));
    if (isWhole) entry.addRelease(release);
  }
  return assertions;
}

const notCarriedReason = 'It was left out of the transfer in the folder, or is in a part of it that is missing.';
const duplicateRevisionReason = 'Another file in the folder is the same revision.';

function takeImages(
  images: TransferPackage['images'],
  entry: GatheredPackage,
  keep: (content: TransferContent) => boolean,
): void {
  for (const image of images) {
    const all = [...image.manifests.map(({ content }) => content), ...image.blobs];
    if (all.map(keep).every(Boolean)) entry.addImage(image);
  }
}

interface ResourceGatherContext {
  entry: GatheredPackage;
  keep: (content: TransferContent) => boolean;
  called: string;
  sorting: GatherState;
}

function takeResources(
  resources: TransferPackage['resources'],
  { entry, keep, called, sorting }: ResourceGatherContext,
): void {
  for (const { name, type, revisions } of resources) {
    for (const revision of revisions) {
      const isThere =
        revision.content === undefined ? entry.holdsImage(name, revision.image ?? '') : keep(revision.content);
      if (isThere) entry.addResource(name, type, revision);
      else sorting.gathered.leave(`${called} ${name} revision ${String(revision.revision)}`, notCarriedReason);
    }
  }
}
