// Records the outcome for each gathered file: included, useful for included content, or left out with a reason.
import { createDigest } from '#domain/cryptography.ts';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { availableParallelism } from 'node:os';

import type { TransferContent, TransferRequest } from '#contract/wire.ts';
import { AssertionPool } from '#assertions/assertion-pool.ts';
import type { DigestPool } from '#blobs/digests.ts';
import type { Channel } from '#domain/releases/channel.ts';
import type { ChannelSlot } from '#domain/releases/channel-map.ts';
import { createConcurrencyLimit } from '#domain/concurrency-limit.ts';
import type { Reviewer } from '#review/reviewer.ts';
import type { ReviewedResource } from '#review/verdict.ts';
import { SavedResponses, type ReportedFile } from './saved-responses.ts';
import { openFlags, type GatheredFile, type GatheredRange } from './folder.ts';
import { GatheredContent } from './gathered-content.ts';
import { Images } from './images.ts';

export interface FolderGatherOptions {
  reviewer: Pick<Reviewer, 'ownName' | 'reviewOpen'>;
  digests: Pick<DigestPool, 'ofFile'>;
  /** Folder for unpacked files, which are needed only until the transfer is written. */
  scratch: string;
  /** Channels for snaps without a channel in any response. */
  releaseTo: readonly Channel[];
  /** The request to compare the gathered packages with. */
  request: TransferRequest | undefined;
  now: Date;
  progress: (step: string, done: number, total: number) => void;
}

/** Digests of a whole file, in hexadecimal. */
export type FileDigests = Required<ReportedFile> & { sha256: string; sha384: string; sha3_384: string; size: number };

/** The content of a slot in the store that sent the responses. */
export interface ReportedSlot {
  packageId: string;
  /** `namespace/name`. */
  package: string;
  channel: string;
  slot: string;
  revision: number;
}

/** The state of gathering a folder. */
export class GatherState {
  readonly gathering: FolderGatherOptions;
  readonly gathered = new GatheredContent();
  readonly answers = new SavedResponses();
  readonly pool = new AssertionPool();
  readonly images = new Images();
  /** Slots that each revision fills, by package and number. */
  readonly slots = new Map<string, ChannelSlot[]>();
  /** Components that each revision of a snap declares, by package and number. */
  readonly components = new Map<string, readonly ReviewedResource[]>();
  /** Dependencies of the gathered snaps, with the snaps that need them. */
  readonly needs = new Map<string, Set<string>>();
  /** Channel contents according to the responses, gathered or not. */
  readonly reportedSlots: ReportedSlot[] = [];
  readonly #fates = new Map<string, { name: string; reason: string | undefined }>();
  readonly #digests = new Map<string, FileDigests>();
  readonly #contents = new Map<string, TransferContent>();

  constructor(gathering: FolderGatherOptions) {
    this.gathering = gathering;
  }

  /** Marks a file as used: it is in the transfer, or helped to read another file. */
  used({ path, name }: Pick<GatheredFile, 'path' | 'name'>): void {
    this.#fates.set(path, { name, reason: undefined });
  }

  /** Marks a file as left out, with the reason. A file that was marked as used stays so. */
  refused({ path, name }: Pick<GatheredFile, 'path' | 'name'>, reason: string): void {
    if (this.#fates.get(path)?.reason === undefined && this.#fates.has(path)) return;
    this.#fates.set(path, { name, reason });
  }

  isSettled = ({ path }: Pick<GatheredFile, 'path'>): boolean => this.#fates.has(path);

  isUsed = ({ path }: Pick<GatheredFile, 'path'>): boolean => {
    const fate = this.#fates.get(path);
    return fate !== undefined && fate.reason === undefined;
  };

  /** Removes the outcome of a file, because its archive is reported instead. */
  forget({ path }: Pick<GatheredFile, 'path'>): void {
    this.#fates.delete(path);
  }

  /** Yields the name and the reason of each file left out. */
  *leftOut(): Generator<{ name: string; reason: string }> {
    for (const { name, reason } of this.#fates.values()) if (reason !== undefined) yield { name, reason };
  }

  /** Computes the digests of files concurrently. Each file is read once for all digests. */
  async digest(files: readonly GatheredFile[]): Promise<void> {
    const inTurn = createConcurrencyLimit({ concurrency: availableParallelism() });
    const pending = files.filter(({ path }) => !this.#digests.has(path));
    let done = 0;
    await Promise.all(
      pending.map(({ path, size }) =>
        inTurn(async () => {
          const digests = await this.gathering.digests.ofFile(path, ['sha256', 'sha384', 'sha3-384']);
          this.#digests.set(path, {
            size,
            sha256: digests.sha256,
            sha384: digests.sha384,
            sha3_384: digests['sha3-384'],
          });
          this.gathering.progress('reading', ++done, pending.length);
        }),
      ),
    );
  }

  digestsOf({ path }: Pick<GatheredFile, 'path'>): FileDigests {
    const digests = this.#digests.get(path);
    if (digests === undefined) throw new Error(`cannot tell the digests of ${path}: it was not read`);
    return digests;
  }

  /** Adds a file as content of the transfer. */
  contentOf(file: GatheredFile, mediaType: string): TransferContent {
    const { sha256, sha3_384, size } = this.digestsOf(file);
    const content = { sha256, 'sha3-384': sha3_384, size };
    return this.gathered.content(content, mediaType, [{ file: file.path, offset: 0, size }]);
  }

  /** Adds a range of a file as content. Returns undefined if it does not match its digest. */
  async contentAt(place: GatheredRange, sha256: string, mediaType: string): Promise<TransferContent | undefined> {
    const content = this.#contents.get(sha256) ?? (await digested(place));
    if (content.sha256 !== sha256) return undefined;
    this.#contents.set(sha256, content);
    return this.gathered.content(content, mediaType, [place]);
  }
}

async function digested({ file, offset, size }: GatheredRange): Promise<TransferContent> {
  const [sha256, sha3] = [createDigest('content sha256'), createDigest('content sha3-384')];
  if (size > 0) {
    for await (const bytes of createReadStream(file, {
      start: offset,
      end: offset + size - 1,
      highWaterMark: 1 << 20,
    })) {
      sha256.update(bytes as Buffer);
      sha3.update(bytes as Buffer);
    }
  }
  return { sha256: sha256.digest('hex'), 'sha3-384': sha3.digest('hex'), size };
}

/** Opens a file while `work` runs. Does not follow a link that has replaced the file. */
export async function withOpenFile<Result>(
  path: string,
  work: (descriptor: number) => Promise<Result>,
): Promise<Result> {
  const handle = await open(path, openFlags);
  try {
    return await work(handle.fd);
  } finally {
    await handle.close();
  }
}
