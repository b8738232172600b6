// What one process has of the uploads of blobs under way. Another process may go on with each of them: then what is here
// is left to it.
import { randomUUID } from 'node:crypto';

import { LeftToOthers } from '#blobs/blobs.ts';
import { after, minutes, seconds, timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import type { RegistryUpload } from '#records/registry-uploads.ts';
import { Receiving, type Receive } from './receiving.ts';
import { repositoryName, type Repository } from './repository.ts';

/** Who sends, and whereto. */
export interface Sender extends Repository {
  accountId: string | null;
}

export interface UploadPartsOptions {
  records: Pick<Records, 'registryUploads' | 'passing'>;
  receive: Receive;
  /** Bytes that may still be written to where blobs lie. */
  free: () => Promise<number>;
  now: Now;
  /** Milliseconds after which an upload that nobody continues is given up. */
  idle?: number;
}

interface Part {
  receiving: Receiving | undefined;
  size: number;
  clock: NodeJS.Timeout;
}

const patience = minutes(10);
/** A request that sends says again and again that it does; the one of a process that died lets go after so long. */
const sendingLasts = seconds(60);

export class UploadParts {
  readonly #options: UploadPartsOptions;
  readonly #idle: number;
  readonly #here = new Map<string, Part>();

  constructor(options: UploadPartsOptions) {
    this.#options = options;
    this.#idle = options.idle ?? patience;
  }

  /** Whether there is room for more bytes; where there is none, the records are not asked to write that some come. */
  async hasRoom(): Promise<boolean> {
    return (await this.#options.free()) > 0;
  }

  /** When an upload ends that nobody continues. */
  ending(): string {
    return timestamp(after(this.#options.now(), this.#idle));
  }

  /** Looks after an upload that was begun, or is gone on with, here. */
  watch(id: string, size: number, receiving?: Receiving): void {
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

  /** How much has come of one that a request is sending to, as far as that is known here. */
  sizeHere({ id, size }: RegistryUpload): number {
    return Math.max(size, this.#here.get(id)?.receiving?.size ?? 0);
  }

  /** What receives an upload here, from where it stands; what another process has received since is gone on with. */
  async take(id: string, size: number, sender: Sender): Promise<Receiving> {
    const known = this.#here.get(id)?.receiving;
    if (known?.size === size) {
      this.watch(id, size, known);
      return known;
    }
    await known?.breakOff(new LeftToOthers());
    const ended = (): void => {
      if (this.#here.get(id)?.receiving !== receiving) return;
      this.forget(id);
      // Nothing of it is left, unless a request is sending to it.
      this.#end(id).catch(() => undefined);
    };
    // Whoever pushes here has shown who he is, and shares no places with strangers at his address.
    const from = sender.accountId ?? repositoryName(sender);
    const receiving = new Receiving({ receive: this.#options.receive, id, from, size, ended });
    this.watch(id, size, receiving);
    return receiving;
  }

  /** Says that a request is sending, until what it gives is called with how much has come; refused while another is. */
  async send(id: string, size: number): Promise<(size: number | undefined) => Promise<void>> {
    const { records, now } = this.#options;
    const sender = randomUUID();
    const say = (): Promise<boolean> => {
      const sending = { sender, now: timestamp(now()), until: timestamp(after(now(), sendingLasts)) };
      const endsAt = timestamp(after(now(), Math.max(this.#idle, sendingLasts)));
      return records.passing((tx) => tx.registryUploads.send(id, size, sending, endsAt));
    };
    if (!(await say())) throw (await this.#find(id)) === undefined ? unknown() : busy();
    const renewal = setInterval(() => {
      say().catch(() => undefined);
    }, sendingLasts / 4).unref();
    return async (sent) => {
      clearInterval(renewal);
      const goesOn = await records.passing(async ({ registryUploads }) => {
        if (sent !== undefined) return registryUploads.sent(id, sender, { size: sent, endsAt: this.ending() });
        await registryUploads.giveUp(id);
        return false;
      });
      if (goesOn) this.#here.get(id)?.clock.refresh();
      else await this.#leave(id, undefined);
    };
  }

  /** Gives an upload up; what another process has received of it goes too. */
  async abandon(id: string, size: number, sender: Sender): Promise<void> {
    await this.#options.records.passing((tx) => tx.registryUploads.giveUp(id));
    const receiving = this.#here.get(id)?.receiving ?? (await this.take(id, size, sender));
    this.forget(id);
    await receiving.discard(cancelled());
  }

  /** Gives up what is here of all. */
  async close(): Promise<void> {
    for (const id of [...this.#here.keys()]) await this.#leave(id, await this.#find(id));
  }

  #find(id: string): Promise<RegistryUpload | undefined> {
    const { records, now } = this.#options;
    return records.registryUploads.find(id, timestamp(now()));
  }

  #end(id: string): Promise<boolean> {
    const { records, now } = this.#options;
    return records.passing((tx) => tx.registryUploads.end(id, timestamp(now())));
  }

  /** Nobody has continued it here for a while. */
  async #lookAfter(id: string): Promise<void> {
    const found = await this.#find(id);
    if (typeof found?.sender === 'string') this.#here.get(id)?.clock.refresh();
    else await this.#leave(id, found);
  }

  /** Gives up what is here of an upload, and all of it unless another process goes on with it. */
  async #leave(id: string, found: RegistryUpload | undefined): Promise<void> {
    const part = this.#here.get(id);
    if (part === undefined) return;
    this.forget(id);
    // Of one that has ended nothing is left to be gone on with, here or elsewhere.
    const isContinued = found !== undefined && found.size !== (part.receiving?.size ?? part.size);
    if (found !== undefined && !isContinued) await this.#end(id);
    await part.receiving?.breakOff(isContinued ? new LeftToOthers() : cancelled());
  }
}

export const busy = (): Refusal =>
  new Refusal('conflict', 'Another request is sending to this upload; send the chunks one after the other.');

const unknown = (): Refusal =>
  new Refusal('blob-upload-unknown', 'There is no such upload under way; begin a new one.');

const cancelled = (): Refusal => new Refusal('blob-upload-unknown', 'The upload was cancelled.');
