// Sends requests to an S3 server: counted, each with a timeout, with uniform errors.
//
// A short request times out after four seconds. A long one, which moves many bytes or makes the server combine them,
// runs as long as the server answers other requests: during it the marker of the store is requested repeatedly, and if
// nothing is heard for 3.5 seconds the request fails. A dead server is noticed within five seconds, and a slow one
// causes no errors.
//
// Two kinds wait longer. A throttled request is retried for half a minute. A long upload continues if the server
// returns within the time that the upload has been running, half a minute at most.
import { setTimeout as sleep } from 'node:timers/promises';

import type * as S3 from '@aws-sdk/client-s3';

import { seconds } from '#domain/clock.ts';
import type { Client, S3Connection, Sdk } from './client.ts';
import { forCaller, isAbsent, isBusy, isForbidden, isTransient, isThrottled, statusOf } from './errors.ts';

/** Counters of requests since the process started. */
export interface S3Traffic {
  /** By kind, such as `PutObject`. */
  requests: Map<string, number>;
  /** Failed requests, except for missing objects. */
  errors: Map<string, number>;
  /** How many requests the client repeated. */
  retries: number;
  bytesSent: number;
  bytesReceived: number;
}

/** Input and output of each kind of request. */
interface S3RequestTypes {
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

type S3RequestKind = keyof S3RequestTypes;
type Input<K extends S3RequestKind> = Omit<S3RequestTypes[K][0], 'Bucket'>;
type S3RequestOutput<K extends S3RequestKind> = S3RequestTypes[K][1];

interface S3RequestOptions {
  /** Cancels the request. */
  signal?: AbortSignal | undefined;
  /** Called with the request before it is sent. */
  prepare?: (command: S3.DeleteObjectCommand) => void;
}

export interface LongRequestOptions extends S3RequestOptions {
  /** When the operation that this request belongs to began, by `performance.now()`; if absent, the request stands alone. */
  since?: number | undefined;
}

const shortTimeoutMs = seconds(4);
/** The maximum wait for a server that was working before, or that throttles. */
const maxOutageMs = seconds(30);
/** Delay before a retry in milliseconds; it doubles each time. */
const again = { first: 250, most: seconds(4) };
/** How often to check that the server answers, and the timeout of one check. */
const pulse = { every: seconds(1), timeoutMs: 3500 };

const countUp = (counts: Map<string, number>, kind: string): void => {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
};

/** Requests that change or add something. Removals are not included, because a late one is refused as well. */
const writing: ReadonlySet<S3RequestKind> = new Set([
  ...(['CompleteMultipartUpload', 'CopyObject', 'CreateMultipartUpload', 'PutObject'] as const),
  ...(['UploadPart', 'UploadPartCopy'] as const),
]);

/** Sends a small request to check that the server answers. */
type Ask = (requests: Requests, signal: AbortSignal) => Promise<unknown>;

export class Requests {
  readonly client: Client;
  readonly traffic: S3Traffic = { requests: new Map(), errors: new Map(), retries: 0, bytesSent: 0, bytesReceived: 0 };
  /** Why the server refused the last attempt to write. */
  forbidden: unknown;
  /** When the server last throttled a request, by `performance.now()`. */
  throttled = -Infinity;
  readonly #sdk: Sdk;
  readonly #reader: Client;
  readonly #renew: () => boolean;
  readonly #bucket: string;
  readonly #alive: Ask;
  #asking: Promise<unknown> | undefined;
  /** When the server last responded. */
  #heard = -Infinity;

  constructor({ sdk, client, reader, renew }: Omit<S3Connection, 'close'>, bucket: string, alive: Ask) {
    [this.#sdk, this.client, this.#reader, this.#renew] = [sdk, client, reader, renew];
    [this.#bucket, this.#alive] = [bucket, alive];
  }

  /** Sends a request that is answered quickly; throws the server's own error. Reading the body may take longer. */
  async ask<K extends S3RequestKind>(
    kind: K,
    input: Input<K>,
    how: S3RequestOptions = {},
  ): Promise<S3RequestOutput<K>> {
    if (how.signal !== undefined) return this.#send(kind, input, how);
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort();
    }, shortTimeoutMs);
    try {
      const { signal } = late;
      return await this.#retryWhile(isBusy, signal, () => this.#send(kind, input, { ...how, signal }));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends a request that may take long. */
  async askLong<K extends S3RequestKind>(
    kind: K,
    input: Input<K>,
    { signal, since, ...how }: LongRequestOptions = {},
  ): Promise<S3RequestOutput<K>> {
    const mayWait = (error: unknown): boolean =>
      isThrottled(error) || (since !== undefined && isTransient(error) && this.#isWorth(since));
    return this.#retryWhile(mayWait, signal, async () => {
      const watch = this.watch(since);
      try {
        const either = signal ? AbortSignal.any([watch.signal, signal]) : watch.signal;
        return await this.#send(kind, input, { ...how, signal: either });
      } finally {
        watch.end();
      }
    });
  }

  /** Retries while the error allows it and the time limit is not reached. */
  async #retryWhile<Result>(
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
        const isOver = now + pause - trouble.since > maxOutageMs || signal?.aborted === true;
        if (!isOver && mayWait(error) && (await trySleep(pause, signal))) continue;
        // When the time limit is reached, report the original problem.
        const reason = signal?.aborted === true ? trouble.first : error;
        if (isThrottled(reason)) this.throttled = now;
        throw reason;
      }
    }
  }

  /** Whether an operation that began then has run longer than the server has been silent. */
  #isWorth(since: number): boolean {
    const heard = Math.max(this.#heard, since);
    return performance.now() - heard < Math.min(maxOutageMs, heard - since);
  }

  async #checkServer(): Promise<void> {
    const asking = (this.#asking ??= this.#alive(this, AbortSignal.timeout(pulse.timeoutMs)));
    try {
      await asking;
    } finally {
      if (this.#asking === asking) this.#asking = undefined;
    }
  }

  /** Records a response of the server. */
  hear(): void {
    this.#heard = performance.now();
  }

  /**
   * Checks repeatedly whether the server answers; the signal aborts when it does not. An operation that began long ago
   * waits longer.
   */
  watch(since = performance.now()): { signal: AbortSignal; end: () => void } {
    const gone = new AbortController();
    let isEnded = false;
    const next = (): NodeJS.Timeout => setTimeout(() => void look(), pulse.every).unref();
    const look = async (): Promise<void> => {
      try {
        if (performance.now() - this.#heard >= pulse.every) await this.#checkServer();
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

  /** The class of one kind represents all: `Kinds` has the types of input and output. */
  #made<K extends S3RequestKind>(kind: K, input: Input<K>): S3.DeleteObjectCommand {
    const Command = this.#sdk[`${kind}Command`] as unknown as new (input: object) => S3.DeleteObjectCommand;
    return new Command({ Bucket: this.#bucket, ...input });
  }

  /** Retries once if the server denies access and the credentials have changed. */
  async #send<K extends S3RequestKind>(kind: K, input: Input<K>, how: S3RequestOptions): Promise<S3RequestOutput<K>> {
    try {
      return await this.#sendOnce(kind, input, how);
    } catch (error) {
      if (!isForbidden(error) || !this.#renew()) throw error;
      return await this.#sendOnce(kind, input, how);
    }
  }

  async #sendOnce<K extends S3RequestKind>(
    kind: K,
    input: Input<K>,
    { signal, prepare }: S3RequestOptions,
  ): Promise<S3RequestOutput<K>> {
    countUp(this.traffic.requests, kind);
    const command = this.#made(kind, input);
    prepare?.(command);
    // The check whether the server answers must not queue behind long requests.
    const client = kind === 'GetObject' || kind === 'HeadObject' ? this.#reader : this.client;
    try {
      const answer = (await client.send(
        command,
        signal ? { abortSignal: signal } : {},
      )) as unknown as S3RequestOutput<K>;
      this.traffic.retries += (answer.$metadata.attempts ?? 1) - 1;
      this.hear();
      if (writing.has(kind)) this.forbidden = undefined;
      return answer;
    } catch (error) {
      this.traffic.retries += ((error as Partial<S3RequestOutput<K>>).$metadata?.attempts ?? 1) - 1;
      if (writing.has(kind) && isForbidden(error)) this.forbidden = error;
      if (!isAbsent(error) && ![412, 416].includes(statusOf(error))) {
        countUp(this.traffic.errors, kind);
      }
      throw error;
    }
  }
}

/** Returns false if it was aborted. */
const trySleep = (milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> =>
  sleep(milliseconds, true, { signal }).catch(() => false);

/** Runs requests and turns their errors into errors for callers. */
export async function runForCaller<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw forCaller(error);
  }
}
