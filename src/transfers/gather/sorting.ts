// What each file turned out to be: carried, of use for what is carried, or left out with a reason. Each has one fate in the end.
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
  /** A folder of its own for what is unpacked; nothing of it is of use once the transfer is written. */
  scratch: string;
  /** Where snaps are released of which no answer names a channel. */
  releaseTo: readonly Channel[];
  /** The request that what is found is held against. */
  request: TransferRequest | undefined;
  now: Date;
  progress: (step: string, done: number, total: number) => void;
}

/** Digests of a whole file, in hexadecimal. */
export type FileDigests = Required<SaidFile> & { sha256: string; sha384: string; sha3_384: string; size: number };

/** What a part of a channel holds at the store that was asked. */
export interface SaidSlot {
  packageId: string;
  /** `namespace/name`. */
  package: string;
  channel: string;
  slot: string;
  revision: number;
}

/** All that is known of a folder while it is looked through. */
export class Sorting {
  readonly gathering: Gathering;
  readonly gathered = new Gathered();
  readonly answers = new Answers();
  readonly pool = new AssertionPool();
  readonly images = new Images();
  /** Which parts of a channel each revision fills, by package and number. */
  readonly slots = new Map<string, Slot[]>();
  /** Which components each revision of a snap declares, by package and number. */
  readonly components = new Map<string, readonly DeclaredResource[]>();
  /** What devices install with the snaps that were found, and for which of them. */
  readonly needs = new Map<string, Set<string>>();
  /** What answers say that channels hold, whether it was found or not. */
  readonly said: SaidSlot[] = [];
  readonly #fates = new Map<string, { name: string; why: string | undefined }>();
  readonly #digests = new Map<string, FileDigests>();
  readonly #contents = new Map<string, TransferContent>();

  constructor(gathering: Gathering) {
    this.gathering = gathering;
  }

  /** The file is carried, or was of use. */
  used({ path, name }: Pick<FoundFile, 'path' | 'name'>): void {
    this.#fates.set(path, { name, why: undefined });
  }

  /** The file is left out, unless it is of use after all. */
  refused({ path, name }: Pick<FoundFile, 'path' | 'name'>, why: string): void {
    if (this.#fates.get(path)?.why === undefined && this.#fates.has(path)) return;
    this.#fates.set(path, { name, why });
  }

  isSettled = ({ path }: Pick<FoundFile, 'path'>): boolean => this.#fates.has(path);

  isUsed = ({ path }: Pick<FoundFile, 'path'>): boolean => {
    const fate = this.#fates.get(path);
    return fate !== undefined && fate.why === undefined;
  };

  /** Forgets what was found of a file: something is said of the archive instead that it came in. */
  forget({ path }: Pick<FoundFile, 'path'>): void {
    this.#fates.delete(path);
  }

  /** Of every file that is left out what it is called, and why. */
  *leftOut(): Generator<{ name: string; why: string }> {
    for (const { name, why } of this.#fates.values()) if (why !== undefined) yield { name, why };
  }

  /** Computes the digests of files, several at a time; each is read once for all of them. */
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

  /** Adds a file as content that is carried. */
  contentOf(file: FoundFile, mediaType: string): TransferContent {
    const { sha256, sha3_384, size } = this.digestsOf(file);
    const content = { sha256, 'sha3-384': sha3_384, size };
    return this.gathered.content(content, mediaType, [{ file: file.path, offset: 0, size }]);
  }

  /** Adds a part of a file as content that is carried; undefined where it is not what its name says. */
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

/** Opens a file for as long as something takes; a link that was put in its place meanwhile is not followed. */
export async function opened<Result>(path: string, work: (descriptor: number) => Promise<Result>): Promise<Result> {
  const handle = await open(path, plainly);
  try {
    return await work(handle.fd);
  } finally {
    await handle.close();
  }
}
