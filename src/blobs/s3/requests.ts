// One request after the other to a server of S3: counted, each with an end, and an error in one voice.
//
// What is short ends after four seconds. What may take long, because many bytes travel or the server puts them together, goes on
// as long as the server answers others: meanwhile it is asked for the marker of the store again and again, and whoever hears
// nothing for three and a half seconds gives up. So a server that is gone is known within five seconds, and a slow one is no trouble.
//
// Two wait for longer. What the server answers with the wish to be asked less often is asked again for half a minute. And whoever has
// been sending large content for a while goes on where the server is back within as long as he was at it, half a minute at most.
import { setTimeout as sleep } from 'node:timers/promises';

import type * as S3 from '@aws-sdk/client-s3';

import { seconds } from '#domain/clock.ts';
import type { Client, Connected, Sdk } from './client.ts';
import { forCaller, isAbsent, isBusy, isForbidden, isPassing, isThrottled, statusOf } from './errors.ts';

/** What has been asked of the server, since the process started. */
export interface Traffic {
  /** By kind, such as `PutObject`. */
  requests: Map<string, number>;
  /** Those that failed, but for what is not there. */
  errors: Map<string, number>;
  /** How many of the requests were repeated by the client. */
  retries: number;
  bytesSent: number;
  bytesReceived: number;
}

/** What is asked, and what is answered. */
interface Kinds {
  AbortMultipartUpload: [S3.AbortMultipartUploadCommandInput, S3.AbortMultipartUploadCommandOutput];
  CompleteMultipartUpload: [S3.CompleteMultipartUploadCommandInput, S3.CompleteMultipartUploadCommandOutput];
  CopyObject: [S3.CopyObjectCommandInput, S3.CopyObjectCommandOutput];
  CreateMultipartUpload: [S3.CreateMultipartUploadCommandInput, S3.CreateMultipartUploadCommandOutput];
  DeleteObject: [S3.DeleteObjectCommandInput, S3.DeleteObjectCommandOutput];
  GetBucketLifecycleConfiguration: [
    S3.GetBucketLifecycleConfigurationCommandInput,
    S3.GetBucketLifecycleConfigurationCommandOutput,
  ];
  GetBucketVersioning: [S3.GetBucketVersioningCommandInput, S3.GetBucketVersioningCommandOutput];
  GetObject: [S3.GetObjectCommandInput, S3.GetObjectCommandOutput];
  HeadObject: [S3.HeadObjectCommandInput, S3.HeadObjectCommandOutput];
  ListMultipartUploads: [S3.ListMultipartUploadsCommandInput, S3.ListMultipartUploadsCommandOutput];
  ListObjectsV2: [S3.ListObjectsV2CommandInput, S3.ListObjectsV2CommandOutput];
  PutObject: [S3.PutObjectCommandInput, S3.PutObjectCommandOutput];
  UploadPart: [S3.UploadPartCommandInput, S3.UploadPartCommandOutput];
  UploadPartCopy: [S3.UploadPartCopyCommandInput, S3.UploadPartCopyCommandOutput];
}

type Kind = keyof Kinds;
type Input<K extends Kind> = Omit<Kinds[K][0], 'Bucket'>;
type Output<K extends Kind> = Kinds[K][1];

interface How {
  /** Ends it before its time. */
  signal?: AbortSignal | undefined;
  /** Told the request before it is sent. */
  prepare?: (command: S3.DeleteObjectCommand) => void;
}

export interface LongHow extends How {
  /** When that began of which this is a part, as `performance.now()` tells; left out, it is all. */
  since?: number | undefined;
}

const short = seconds(4);
/** So long a server is waited for at most that was at work already, or wants to be asked less often. */
const patience = seconds(30);
/** Milliseconds before the same is asked again: twice as many each time. */
const again = { first: 250, most: seconds(4) };
/** How often it is looked whether the server answers, and how long that may take. */
const pulse = { every: seconds(1), patience: 3500 };

const bump = (counts: Map<string, number>, kind: string): void => {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
};

/** What changes or adds something; a removal that comes late is refused as well. */
const writing: ReadonlySet<Kind> = new Set([
  ...(['CompleteMultipartUpload', 'CopyObject', 'CreateMultipartUpload', 'PutObject'] as const),
  ...(['UploadPart', 'UploadPartCopy'] as const),
]);

/** Asks the server for something small. */
type Ask = (requests: Requests, signal: AbortSignal) => Promise<unknown>;

export class Requests {
  readonly client: Client;
  readonly traffic: Traffic = { requests: new Map(), errors: new Map(), retries: 0, bytesSent: 0, bytesReceived: 0 };
  /** Why the server let nothing be written when that was last tried. */
  forbidden: unknown;
  /** When the server last refused something because it wants to be asked less often, as `performance.now()` tells. */
  throttled = -Infinity;
  readonly #sdk: Sdk;
  readonly #reader: Client;
  readonly #renew: () => boolean;
  readonly #bucket: string;
  readonly #alive: Ask;
  #asking: Promise<unknown> | undefined;
  /** When the server last gave a sign of life. */
  #heard = -Infinity;

  constructor({ sdk, client, reader, renew }: Omit<Connected, 'close'>, bucket: string, alive: Ask) {
    [this.#sdk, this.client, this.#reader, this.#renew] = [sdk, client, reader, renew];
    [this.#bucket, this.#alive] = [bucket, alive];
  }

  /** A request that is answered at once; the error is the server's own. What follows of a body may take longer. */
  async ask<K extends Kind>(kind: K, input: Input<K>, how: How = {}): Promise<Output<K>> {
    if (how.signal !== undefined) return this.#send(kind, input, how);
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort();
    }, short);
    try {
      const { signal } = late;
      return await this.#asLong(isBusy, signal, () => this.#send(kind, input, { ...how, signal }));
    } finally {
      clearTimeout(timer);
    }
  }

  /** A request that takes its time. */
  async askLong<K extends Kind>(kind: K, input: Input<K>, { signal, since, ...how }: LongHow = {}): Promise<Output<K>> {
    const mayWait = (error: unknown): boolean =>
      isThrottled(error) || (since !== undefined && isPassing(error) && this.#isWorth(since));
    return this.#asLong(mayWait, signal, async () => {
      const watch = this.watch(since);
      try {
        const either = signal ? AbortSignal.any([watch.signal, signal]) : watch.signal;
        return await this.#send(kind, input, { ...how, signal: either });
      } finally {
        watch.end();
      }
    });
  }

  /** Asks again as long as an error is one with which that makes sense, and as patience lasts. */
  async #asLong<Result>(
    mayWait: (error: unknown) => boolean,
    signal: AbortSignal | undefined,
    ask: () => Promise<Result>,
  ): Promise<Result> {
    let trouble: { since: number; first: unknown } | undefined;
    for (let times = 0; ; times++) {
      try {
        return await ask();
      } catch (error) {
        const now = performance.now();
        trouble ??= { since: now, first: error };
        const pause = Math.min(again.most, again.first * 2 ** times) * (0.5 + Math.random() / 2);
        const isOver = now + pause - trouble.since > patience || signal?.aborted === true;
        if (!isOver && mayWait(error) && (await slept(pause, signal))) continue;
        // Where patience has ended, what it was for is what is wrong.
        const reason = signal?.aborted === true ? trouble.first : error;
        if (isThrottled(reason)) this.throttled = now;
        throw reason;
      }
    }
  }

  /** Whether what began then has been at work for longer than the server has been silent since. */
  #isWorth(since: number): boolean {
    const heard = Math.max(this.#heard, since);
    return performance.now() - heard < Math.min(patience, heard - since);
  }

  async #lookAlive(): Promise<void> {
    const asking = (this.#asking ??= this.#alive(this, AbortSignal.timeout(pulse.patience)));
    try {
      await asking;
    } finally {
      if (this.#asking === asking) this.#asking = undefined;
    }
  }

  /** The server has given a sign of life. */
  hear(): void {
    this.#heard = performance.now();
  }

  /**
   * Looks again and again whether the server answers, while something is waited for; the signal says that it does not. What
   * has begun long ago is waited for longer.
   */
  watch(since = performance.now()): { signal: AbortSignal; end: () => void } {
    const gone = new AbortController();
    let isEnded = false;
    const next = (): NodeJS.Timeout => setTimeout(() => void look(), pulse.every).unref();
    const look = async (): Promise<void> => {
      try {
        if (performance.now() - this.#heard >= pulse.every) await this.#lookAlive();
      } catch (error) {
        if (!isBusy(error) && !this.#isWorth(since)) gone.abort(error);
      }
      if (!isEnded && !gone.signal.aborted) timer = next();
    };
    let timer = next();
    return {
      signal: gone.signal,
      end() {
        isEnded = true;
        clearTimeout(timer);
      },
    };
  }

  /** The class of one kind stands for those of all: what goes in and comes out is said by `Kinds`. */
  #made<K extends Kind>(kind: K, input: Input<K>): S3.DeleteObjectCommand {
    const Command = this.#sdk[`${kind}Command`] as unknown as new (input: object) => S3.DeleteObjectCommand;
    return new Command({ Bucket: this.#bucket, ...input });
  }

  /** Once more where the server refuses whom it knew before, and there are other credentials by now. */
  async #send<K extends Kind>(kind: K, input: Input<K>, how: How): Promise<Output<K>> {
    try {
      return await this.#sendOnce(kind, input, how);
    } catch (error) {
      if (!isForbidden(error) || !this.#renew()) throw error;
      return await this.#sendOnce(kind, input, how);
    }
  }

  async #sendOnce<K extends Kind>(kind: K, input: Input<K>, { signal, prepare }: How): Promise<Output<K>> {
    bump(this.traffic.requests, kind);
    const command = this.#made(kind, input);
    prepare?.(command);
    // Whether the server answers is not to be waited for behind what takes its time there.
    const client = kind === 'GetObject' || kind === 'HeadObject' ? this.#reader : this.client;
    try {
      const answer = (await client.send(command, signal ? { abortSignal: signal } : {})) as unknown as Output<K>;
      this.traffic.retries += (answer.$metadata.attempts ?? 1) - 1;
      this.hear();
      if (writing.has(kind)) this.forbidden = undefined;
      return answer;
    } catch (error) {
      this.traffic.retries += ((error as Partial<Output<K>>).$metadata?.attempts ?? 1) - 1;
      if (writing.has(kind) && isForbidden(error)) this.forbidden = error;
      if (!isAbsent(error) && ![412, 416].includes(statusOf(error))) {
        bump(this.traffic.errors, kind);
      }
      throw error;
    }
  }
}

/** False when it was broken off. */
const slept = (milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> =>
  sleep(milliseconds, true, { signal }).catch(() => false);

/** What `work` asks of the server, with its errors as callers hear of them. */
export async function asked<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw forCaller(error);
  }
}
