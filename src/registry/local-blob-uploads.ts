// The state of blob uploads in this process. Another process may continue each of them; the bytes received here are
// then left to it.
import { randomUUID } from '#domain/cryptography.ts';
import { UploadHandedOver } from '#blobs/blobs.ts';
import { after, minutes, seconds, timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { RegistryUpload } from '#records/images/registry-uploads.ts';
import { BlobUploadReceiver, type ReceiveBlob } from './blob-upload-receiver.ts';
import { repositoryName, type Repository } from './repository.ts';

/** The sender and the target repository. */
export interface Sender extends Repository {
  accountId: string | null;
}

export interface UploadPartsOptions {
  records: Pick<StoreRecords, 'registryUploads' | 'ephemeral'>;
  receive: ReceiveBlob;
  /** Free bytes for blobs. */
  free: () => Promise<number>;
  now: Now;
  /** Milliseconds after which an upload without requests is abandoned. */
  idle?: number;
}

interface LocalBlobUpload {
  receiving: BlobUploadReceiver | undefined;
  size: number;
  clock: NodeJS.Timeout;
}

const defaultIdleTimeoutMs = minutes(10);
/** A sending request renews its claim on the upload; the claim of a dead process expires after this time. */
const claimLifetimeMs = seconds(60);

export class LocalBlobUploads {
  readonly #options: UploadPartsOptions;
  readonly #idle: number;
  readonly #here = new Map<string, LocalBlobUpload>();

  constructor(options: UploadPartsOptions) {
    this.#options = options;
    this.#idle = options.idle ?? defaultIdleTimeoutMs;
  }

  /** Whether there is room for more bytes; if there is none, no claim is written to the records. */
  async hasRoom(): Promise<boolean> {
    return (await this.#options.free()) > 0;
  }

  /** When an upload without further requests expires. */
  ending(): string {
    return timestamp(after(this.#options.now(), this.#idle));
  }

  /** Watches an upload that a request has begun or continued in this process. */
  watch(id: string, size: number, receiving?: BlobUploadReceiver): void {
    clearTimeout(this.#here.get(id)?.clock);
    const lookAfter = (): void => {
      this.#lookAfter(id).catch(() => undefined);
    };
    this.#here.set(id, { receiving, size, clock: setTimeout(lookAfter, this.#idle).unref() });
  }

  forget(id: string): void {
    clearTimeout(this.#here.get(id)?.clock);
    this.#here.delete(id);
  }

  /** The size of an upload in progress, as far as this process knows it. */
  localSize({ id, size }: RegistryUpload): number {
    return Math.max(size, this.#here.get(id)?.receiving?.size ?? 0);
  }

  /**
   * Returns the receiver of an upload in this process, at the current size; also continues from bytes that another
   * process has received.
   */
  async take(id: string, size: number, sender: Sender): Promise<BlobUploadReceiver> {
    const existing = this.#here.get(id)?.receiving;
    if (existing?.size === size) {
      this.watch(id, size, existing);
      return existing;
    }
    await existing?.breakOff(new UploadHandedOver());
    const ended = (): void => {
      if (this.#here.get(id)?.receiving !== receiving) return;
      this.forget(id);
      // Nothing of it is left, unless a request is sending to it.
      this.#end(id).catch(() => undefined);
    };
    // The sender is authenticated, so it does not share places with strangers at its address.
    const from = sender.accountId ?? repositoryName(sender);
    const receiving = new BlobUploadReceiver({ receive: this.#options.receive, id, from, size, ended });
    this.watch(id, size, receiving);
    return receiving;
  }

  /**
   * Claims an upload for a sending request; refuses if another request holds it. Call the result with the number of
   * bytes received to release the claim.
   */
  async send(id: string, size: number): Promise<(size: number | undefined) => Promise<void>> {
    const { records, now } = this.#options;
    const sender = randomUUID();
    const say = (): Promise<boolean> => {
      const sending = { sender, now: timestamp(now()), until: timestamp(after(now(), claimLifetimeMs)) };
      const endsAt = timestamp(after(now(), Math.max(this.#idle, claimLifetimeMs)));
      return records.ephemeral((tx) => tx.registryUploads.send(id, size, sending, endsAt));
    };
    if (!(await say())) throw (await this.#find(id)) === undefined ? unknown() : uploadBusyRefusal();
    const renewal = setInterval(() => {
      say().catch(() => undefined);
    }, claimLifetimeMs / 4).unref();
    return async (sent) => {
      clearInterval(renewal);
      const goesOn = await records.ephemeral(async ({ registryUploads }) => {
        if (sent !== undefined) return registryUploads.sent(id, sender, { size: sent, endsAt: this.ending() });
        await registryUploads.giveUp(id);
        return false;
      });
      if (goesOn) this.#here.get(id)?.clock.refresh();
      else await this.#leave(id, undefined);
    };
  }

  /** Abandons an upload, including bytes that another process has received. */
  async abandon(id: string, size: number, sender: Sender): Promise<void> {
    await this.#options.records.ephemeral((tx) => tx.registryUploads.giveUp(id));
    const receiving = this.#here.get(id)?.receiving ?? (await this.take(id, size, sender));
    this.forget(id);
    await receiving.discard(cancelled());
  }

  /** Abandons the uploads in this process. */
  async close(): Promise<void> {
    for (const id of [...this.#here.keys()]) await this.#leave(id, await this.#find(id));
  }

  #find(id: string): Promise<RegistryUpload | undefined> {
    const { records, now } = this.#options;
    return records.registryUploads.find(id, timestamp(now()));
  }

  #end(id: string): Promise<boolean> {
    const { records, now } = this.#options;
    return records.ephemeral((tx) => tx.registryUploads.end(id, timestamp(now())));
  }

  /** Runs when this process has had no request for the upload for a while. */
  async #lookAfter(id: string): Promise<void> {
    const upload = await this.#find(id);
    if (typeof upload?.sender === 'string') this.#here.get(id)?.clock.refresh();
    else await this.#leave(id, upload);
  }

  /** Drops the local state of an upload, and the whole upload unless another process continues it. */
  async #leave(id: string, upload: RegistryUpload | undefined): Promise<void> {
    const part = this.#here.get(id);
    if (part === undefined) return;
    this.forget(id);
    // If the upload has ended, no process can continue it.
    const isContinued = upload !== undefined && upload.size !== (part.receiving?.size ?? part.size);
    if (upload !== undefined && !isContinued) await this.#end(id);
    await part.receiving?.breakOff(isContinued ? new UploadHandedOver() : cancelled());
  }
}

export const uploadBusyRefusal = (): Refusal =>
  new Refusal('conflict', 'Another request is sending to this upload. Send the chunks one after the other.');

const unknown = (): Refusal => new Refusal('blob-upload-unknown', 'There is no such upload. Start a new one.');

const cancelled = (): Refusal => new Refusal('blob-upload-unknown', 'The upload was cancelled.');
