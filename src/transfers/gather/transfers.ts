// Gathers the content of other transfers in the folder. The new transfer includes it under the signature of its own sender.
import type { Statement } from '#acts/transfer-statement.ts';
import type { TransferContent, TransferPackage } from '#api/wire.ts';
import { parseStream } from '#assertions/assertion.ts';
import { checkAssertion } from '#assertions/types.ts';
import { isUnpacked, openUnpacked } from '../form/folder.ts';
import { NotATransfer } from '../form/not-a-transfer.ts';
import { openPart, type OpenPart } from '../form/read.ts';
import { readAt, type Place } from './folder.ts';
import type { FoundPackage } from './gathered.ts';
import type { Sorting } from './sorting.ts';

/** Contents of the transfers with their file ranges, by SHA3-384. */
type Carried = Map<string, { content: TransferContent; mediaType: string; places: Place[] }>;

interface Opened {
  name: string;
  statement: Statement;
  carried: Carried;
}

/** Transfers with at least one part in the folder. */
export class FoundTransfers {
  readonly #open = new Map<string, Opened>();

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
    const known = this.#open.get(id) ?? { name, statement, carried: new Map() as Carried };
    this.#open.set(id, known);
    for await (const { piece, of, at } of part.pieces()) {
      const { 'media-type': mediaType, ...content } = of;
      const one = known.carried.get(of['sha3-384']) ?? { content, mediaType, places: [] };
      known.carried.set(of['sha3-384'], one);
      one.places.push({ ...at, size: piece.size });
    }
  }

  /** Adds the assertions of the transfers. Must run before their packages are added. */
  async readAssertions({ pool, refused }: Pick<Sorting, 'pool' | 'refused'>): Promise<void> {
    for (const { statement, carried, name } of this.#open.values()) {
      for (const { 'sha3-384': sha3_384, size } of statement.assertions) {
        const [place, other] = whole(carried.get(sha3_384)) ?? [];
        if (place === undefined || other !== undefined) continue;
        for (const one of parseStream(await readAt(place.file, place.offset, size))) {
          checkAssertion(one);
          if (pool.add(one, name) !== undefined)
            refused({ path: place.file, name }, 'It holds another text than another file of one assertion.');
        }
      }
    }
  }

  /** Adds the packages of the transfers. Returns the names of their snap-revisions. */
  take(sorting: Sorting): string[] {
    const assertions: string[] = [];
    for (const { statement, carried, name } of this.#open.values()) {
      for (const account of statement.accounts) sorting.gathered.account(account);
      for (const one of statement.packages) assertions.push(...takePackage(one, carried, sorting));
      for (const { what, why } of statement['left-out']) sorting.gathered.leave(what, `${name} says: ${why}`);
    }
    return assertions;
  }
}

/** Returns the file ranges of a content if it is complete. Parts may be added in any order, but the pieces within a part are in order. */
function whole(one: { content: TransferContent; places: Place[] } | undefined): Place[] | undefined {
  if (one === undefined) return undefined;
  return one.places.reduce((sum, { size }) => sum + size, 0) === one.content.size ? one.places : undefined;
}

function takePackage(one: TransferPackage, carried: Carried, sorting: Sorting): string[] {
  const { revisions, resources, images, channels, closed, withdrawn, tracks, libraries = [], ...about } = one;
  const { gathered } = sorting;
  const { icon, ...named } = about;
  const keep = (content: TransferContent): boolean => {
    const found = carried.get(content['sha3-384']);
    const places = whole(found);
    if (found === undefined || places === undefined) return false;
    gathered.content(found.content, found.mediaType, places);
    return true;
  };
  const hasIcon = icon === null || (icon !== undefined && keep(icon.content));
  const found = gathered.package({ ...named, ...(hasIcon && { icon }) });
  const called = `${one.namespace}/${one.name}`;
  if (found === undefined) {
    gathered.leave(called, 'Another package in the folder has its name, with another id.');
    return [];
  }
  const assertions: string[] = [];
  for (const revision of revisions) {
    if (!keep(revision.content)) gathered.leave(`${called} revision ${String(revision.revision)}`, elsewhere);
    else if (!found.addRevision(revision)) gathered.leave(`${called} revision ${String(revision.revision)}`, twofold);
    else if (revision.assertion !== undefined) assertions.push(revision.assertion);
  }
  takeImages(images, found, keep);
  takeResources(resources, { found, keep, called, sorting });
  for (const library of libraries) {
    const versions = library.versions.filter(({ content }) => keep(content));
    if (!found.addLibrary({ ...library, versions })) gathered.leave(`${called} ${library.name}`, twofold);
  }
  for (const track of tracks) found.tracks.add(track);
  for (const { revision, why } of withdrawn) found.withdrawn.set(revision, why);
  for (const channel of closed) found.closed.add(channel);
  for (const release of channels) {
    const isWhole =
      found.hasRevision(release.revision) &&
      (release.resources ?? []).every(({ name, revision }) => revision === null || found.hasResource(name, revision));
    if (isWhole) found.addRelease(release);
  }
  return assertions;
}

const elsewhere = 'It was left out of the transfer in the folder, or lies in a part of it that is not there.';
const twofold = 'Another file in the folder is the same revision.';

function takeImages(
  images: TransferPackage['images'],
  found: FoundPackage,
  keep: (content: TransferContent) => boolean,
): void {
  for (const image of images) {
    const all = [...image.manifests.map(({ content }) => content), ...image.blobs];
    if (all.map(keep).every(Boolean)) found.addImage(image);
  }
}

interface TakingResources {
  found: FoundPackage;
  keep: (content: TransferContent) => boolean;
  called: string;
  sorting: Sorting;
}

function takeResources(
  resources: TransferPackage['resources'],
  { found, keep, called, sorting }: TakingResources,
): void {
  for (const { name, type, revisions } of resources) {
    for (const revision of revisions) {
      const isThere =
        revision.content === undefined ? found.holdsImage(name, revision.image ?? '') : keep(revision.content);
      if (isThere) found.addResource(name, type, revision);
      else sorting.gathered.leave(`${called} ${name} revision ${String(revision.revision)}`, elsewhere);
    }
  }
}
