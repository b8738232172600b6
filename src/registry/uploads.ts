// Uploads of blobs: each may be sent in several requests, one after the other, to any process of the store. The records
// have its size; the bytes are in one file. An unfinished upload ends when the store stops; clients then begin again.
import type { Chunks } from '#blobs/blobs.ts';
import { notEnoughSpace } from '#domain/disk-full.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BlobUploadReceiver, Stored } from './blob-upload-receiver.ts';
import { repositoryName, type Digest } from './repository.ts';
import { uploadBusyRefusal, LocalBlobUploads, type Sender, type UploadPartsOptions } from './local-blob-uploads.ts';

export interface BlobUpload {
  readonly id: string;
  /** The number of bytes received. */
  readonly size: number;
  /** Whether another request was sending to it when it was looked up. */
  readonly isBusy: boolean;
  /**
   * Receives the next bytes; only one request at a time. If it throws because a connection broke, the bytes before are
   * kept, and the sender can resume at `size`. `totalBytes` is the size of the whole content, if it is known. The chunks
   * must not be used by the caller afterwards. `isLast` says that the same request finishes the upload, so that no
   * other process needs to see the bytes.
   */
  append(source: AsyncIterable<Chunks>, options: AppendOptions): Promise<void>;
  /** Stores the content if it has this digest; otherwise nothing is left. The upload ends either way. */
  finish(digest: Digest, limit: number): Promise<Stored>;
  /** Abandons the upload; nothing is left. */
  abandon(): Promise<void>;
}

export interface AppendOptions {
  limit: number;
  totalBytes?: number | undefined;
  isLast?: boolean | undefined;
}

export interface BlobUploads {
  begin(sender: Sender): Promise<BlobUpload>;
  /** Finds the upload with this id that this account sends into this repository, while it lasts. */
  find(sender: Sender, id: string): Promise<BlobUpload | undefined>;
  /** Abandons the uploads in this process. */
  close(): Promise<void>;
}

const maxUploads = 128;
const maxUploadsPerRepository = 32;

export interface BlobUploadOptions extends UploadPartsOptions {
  newId: () => string;
}

export function createBlobUploads(options: BlobUploadOptions): BlobUploads {
  const { records, newId, now } = options;
  const parts = new LocalBlobUploads(options);

  return {
    async begin(sender) {
      const [id, repository] = [newId(), repositoryName(sender)];
      const at = timestamp(now());
      const refuseBeyond = async ({ count, countAll }: StoreRecords['registryUploads']): Promise<void> => {
        if ((await countAll(at)) >= maxUploads || (await count(repository, at)) >= maxUploadsPerRepository)
          throw tooMany();
      };
      // Refuse early, before any cost; the second check is needed because requests run concurrently.
      await refuseBeyond(records.registryUploads);
      if (!(await parts.hasRoom())) throw notEnoughSpace();
      await records.ephemeral(async (tx) => {
        await refuseBeyond(tx.registryUploads);
        await tx.registryUploads.begin({ id, repository, accountId: sender.accountId, endsAt: parts.ending() });
      });
      parts.watch(id, 0);
      return new BlobUploadInProgress(id, 0, sender, parts);
    },

    async find(sender, id) {
      const upload = await records.registryUploads.find(id, timestamp(now()));
      const isTheirs = upload?.accountId === sender.accountId && upload.repository === repositoryName(sender);
      if (!isTheirs) return undefined;
      const isBusy = upload.sender !== null;
      return new BlobUploadInProgress(id, isBusy ? parts.localSize(upload) : upload.size, sender, parts, isBusy);
    },

    close: () => parts.close(),
  };
}

/**
 * A request that sends to an upload. Call `stop` with the number of bytes received, or with undefined if the upload has
 * ended.
 */
interface BlobUploadClaim {
  receiving: BlobUploadReceiver;
  stop: (size: number | undefined) => Promise<void>;
}

/** One upload, as one request sees it. */
class BlobUploadInProgress implements BlobUpload {
  readonly id: string;
  size: number;
  readonly #sender: Sender;
  readonly #parts: LocalBlobUploads;
  readonly isBusy: boolean;
  /** The claim of this request, kept until it finishes the upload. */
  #sending: BlobUploadClaim | undefined;

  constructor(id: string, size: number, sender: Sender, parts: LocalBlobUploads, isBusy = false) {
    this.id = id;
    this.size = size;
    this.#sender = sender;
    this.#parts = parts;
    this.isBusy = isBusy;
  }

  async append(source: AsyncIterable<Chunks>, { limit, totalBytes, isLast = false }: AppendOptions): Promise<void> {
    let sending: BlobUploadClaim | undefined;
    try {
      for await (const chunks of source) {
        if (chunks.length === 0) continue;
        // A request without bytes, such as the last one of an upload in chunks, takes no claim.
        sending ??= await this.#begin();
        await sending.receiving.send(chunks, limit, totalBytes);
      }
    } catch (error) {
      // A failure to pause is reported to the next request that continues the upload.
      if (sending !== undefined) await this.#pause(sending).catch(() => undefined);
      throw error;
    }
    if (sending === undefined && this.isBusy) throw uploadBusyRefusal();
    if (isLast) this.#sending = sending;
    else if (sending !== undefined) await this.#pause(sending);
  }

  /** Makes the received bytes available to other requests and processes; if that fails, the upload has ended. */
  async #pause({ receiving, stop }: BlobUploadClaim): Promise<void> {
    try {
      await receiving.flush();
    } catch (error) {
      await stop(undefined);
      throw error;
    } finally {
      this.size = receiving.size;
    }
    await stop(receiving.size);
  }

  async finish(digest: Digest, limit: number): Promise<Stored> {
    const { receiving, stop } = this.#sending ?? (await this.#begin());
    try {
      return await receiving.finish(digest, limit);
    } finally {
      this.#parts.forget(this.id);
      await stop(undefined);
    }
  }

  abandon(): Promise<void> {
    return this.#parts.abandon(this.id, this.size, this.#sender);
  }

  async #begin(): Promise<BlobUploadClaim> {
    if (!(await this.#parts.hasRoom())) {
      await this.abandon();
      throw notEnoughSpace();
    }
    const stop = await this.#parts.send(this.id, this.size);
    return { receiving: await this.#parts.take(this.id, this.size, this.#sender), stop };
  }
}

const tooMany = (): Refusal =>
  new Refusal(
    'too-many-requests',
    'Too many uploads of blobs are in progress. Finish or cancel some, or try again later.',
    30,
  );
