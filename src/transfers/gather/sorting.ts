// Records the outcome for each gathered file: included, useful for included content, or left out with a reason.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { availableParallelism } from 'node:os';

import type { TransferContent, TransferRequest } from '#api/wire.ts';
import { AssertionPool } from '#assertions/pool.ts';
import type { DigestPool } from '#blobs/digests.ts';
import type { Channel } from '#domain/channel.ts';
import type { Slot } from '#domain/channel-map.ts';
import { limit } from '#domain/limit.ts';
import type { Reviewer } from '#review/reviewer.ts';
import type { DeclaredResource } from '#review/verdict.ts';
import { Answers, type SaidFile } from './answers.ts';
import { plainly, type FoundFile, type Place } from './folder.ts';
import { Gathered } from './gathered.ts';
import { Images } from './images.ts';

export interface Gathering {
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
export type FileDigests = Required<SaidFile> & { sha256: string; sha384: string; sha3_384: string; size: number };

/** The content of a slot in the store that sent the responses. */
export interface SaidSlot {
  packageId: string;
  /** `namespace/name`. */
  package: string;
  channel: string;
  slot: string;
  revision: number;
}

/** The state of gathering a folder. */
export class Sorting {
  readonly gathering: Gathering;
  readonly gathered = new Gathered();
  readonly answers = new Answers();
  readonly pool = new AssertionPool();
  readonly images = new Images();
  /** Slots that each revision fills, by package and number. */
  readonly slots = new Map<string, Slot[]>();
  /** Components that each revision of a snap declares, by package and number. */
  readonly components = new Map<string, readonly DeclaredResource[]>();
  /** Dependencies of the gathered snaps, with the snaps that need them. */
  readonly needs = new Map<string, Set<string>>();
  /** Channel contents according to the responses, gathered or not. */
  readonly said: SaidSlot[] = [];
  readonly #fates = new Map<string, { name: string; why: string | undefined }>();
  readonly #digests = new Map<string, FileDigests>();
  readonly #contents = new Map<string, TransferContent>();

  constructor(gathering: Gathering) {
    this.gathering = gathering;
  }

  /** Marks a file as included or useful. */
  used({ path, name }: Pick<FoundFile, 'path' | 'name'>): void {
    this.#fates.set(path, { name, why: undefined });
  }

  /** Marks a file as left out, unless it was useful. */
  refused({ path, name }: Pick<FoundFile, 'path' | 'name'>, why: string): void {
    if (this.#fates.get(path)?.why === undefined && this.#fates.has(path)) return;
    this.#fates.set(path, { name, why });
  }

  isSettled = ({ path }: Pick<FoundFile, 'path'>): boolean => this.#fates.has(path);

  isUsed = ({ path }: Pick<FoundFile, 'path'>): boolean => {
    const fate = this.#fates.get(path);
    return fate !== undefined && fate.why === undefined;
  };

  /** Removes the outcome of a file, because its archive is reported instead. */
  forget({ path }: Pick<FoundFile, 'path'>): void {
    this.#fates.delete(path);
  }

  /** Yields the name and the reason of each file left out. */
  *leftOut(): Generator<{ name: string; why: string }> {
    for (const { name, why } of this.#fates.values()) if (why !== undefined) yield { name, why };
  }

  /** Computes the digests of files concurrently. Each file is read once for all digests. */
  async digest(files: readonly FoundFile[]): Promise<void> {
    const inTurn = limit({ atOnce: availableParallelism() });
    const wanted = files.filter(({ path }) => !this.#digests.has(path));
    let done = 0;
    await Promise.all(
      wanted.map(({ path, size }) =>
        inTurn(async () => {
          const found = await this.gathering.digests.ofFile(path, ['sha256', 'sha384', 'sha3-384']);
          this.#digests.set(path, { size, sha256: found.sha256, sha384: found.sha384, sha3_384: found['sha3-384'] });
          this.gathering.progress('reading', ++done, wanted.length);
        }),
      ),
    );
  }

  digestsOf({ path }: Pick<FoundFile, 'path'>): FileDigests {
    const found = this.#digests.get(path);
    if (found === undefined) throw new Error(`cannot tell the digests of ${path}: it was not read`);
    return found;
  }

  /** Adds a file as content of the transfer. */
  contentOf(file: FoundFile, mediaType: string): TransferContent {
    const { sha256, sha3_384, size } = this.digestsOf(file);
    const content = { sha256, 'sha3-384': sha3_384, size };
    return this.gathered.content(content, mediaType, [{ file: file.path, offset: 0, size }]);
  }

  /** Adds a range of a file as content. Returns undefined if it does not match its digest. */
  async contentAt(place: Place, sha256: string, mediaType: string): Promise<TransferContent | undefined> {
    const known = this.#contents.get(sha256) ?? (await digested(place));
    if (known.sha256 !== sha256) return undefined;
    this.#contents.set(sha256, known);
    return this.gathered.content(known, mediaType, [place]);
  }
}

async function digested({ file, offset, size }: Place): Promise<TransferContent> {
  const [sha256, sha3] = [createHash('sha256'), createHash('sha3-384')];
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
export async function opened<Result>(path: string, work: (descriptor: number) => Promise<Result>): Promise<Result> {
  const handle = await open(path, plainly);
  try {
    return await work(handle.fd);
  } finally {
    await handle.close();
  }
}
