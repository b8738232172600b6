// One request after the other to a server of S3: counted, each with an end, and an error in one voice.
//
// What is short ends after four seconds. What may take long, because many bytes travel or the server puts them together, goes on
// as long as the server answers others: meanwhile it is asked for the marker of the store again and again, and whoever hears
// nothing for three and a half seconds gives up. So a server that is gone is known within five seconds, and a slow one is no trouble.
import type * as S3 from '@aws-sdk/client-s3';

import { seconds } from '#domain/clock.ts';
import type { Client, Sdk } from './client.ts';
import { forCaller, isAbsent, statusOf } from './errors.ts';

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

const short = seconds(4);
/** How often it is looked whether the server answers, and how long that may take. */
const pulse = { every: seconds(1), patience: 3500 };

const bump = (counts: Map<string, number>, kind: string): void => {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
};

/** Asks the server for something small. */
type Ask = (requests: Requests, signal: AbortSignal) => Promise<unknown>;

export class Requests {
  readonly client: Client;
  readonly traffic: Traffic = { requests: new Map(), errors: new Map(), retries: 0, bytesSent: 0, bytesReceived: 0 };
  readonly #sdk: Sdk;
  readonly #bucket: string;
  readonly #alive: Ask;
  #asking: Promise<unknown> | undefined;
  /** When the server last gave a sign of life. */
  #heard = -Infinity;

  constructor({ sdk, client }: { sdk: Sdk; client: Client }, bucket: string, alive: Ask) {
    [this.#sdk, this.client, this.#bucket, this.#alive] = [sdk, client, bucket, alive];
  }

  /** A request that is answered at once; the error is the server's own. What follows of a body may take longer. */
  async ask<K extends Kind>(kind: K, input: Input<K>, how: How = {}): Promise<Output<K>> {
    if (how.signal !== undefined) return this.#send(kind, input, how);
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort();
    }, short);
    try {
      return await this.#send(kind, input, { ...how, signal: late.signal });
    } finally {
      clearTimeout(timer);
    }
  }

  /** A request that takes its time. */
  async askLong<K extends Kind>(kind: K, input: Input<K>, { signal, ...how }: How = {}): Promise<Output<K>> {
    const watch = this.watch();
    try {
      const either = signal ? AbortSignal.any([watch.signal, signal]) : watch.signal;
      return await this.#send(kind, input, { ...how, signal: either });
    } finally {
      watch.end();
    }
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

  /** Looks again and again whether the server answers, while something is waited for; the signal says that it does not. */
  watch(): { signal: AbortSignal; end: () => void } {
    const gone = new AbortController();
    let isEnded = false;
    const next = (): NodeJS.Timeout => setTimeout(() => void look(), pulse.every).unref();
    const look = async (): Promise<void> => {
      try {
        if (performance.now() - this.#heard >= pulse.every) await this.#lookAlive();
        if (!isEnded) timer = next();
      } catch (error) {
        gone.abort(error);
      }
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

  async #send<K extends Kind>(kind: K, input: Input<K>, { signal, prepare }: How): Promise<Output<K>> {
    bump(this.traffic.requests, kind);
    const command = this.#made(kind, input);
    prepare?.(command);
    try {
      const answer = (await this.client.send(command, signal ? { abortSignal: signal } : {})) as unknown as Output<K>;
      this.traffic.retries += (answer.$metadata.attempts ?? 1) - 1;
      this.hear();
      return answer;
    } catch (error) {
      this.traffic.retries += ((error as Partial<Output<K>>).$metadata?.attempts ?? 1) - 1;
      if (!isAbsent(error) && ![412, 416].includes(statusOf(error))) {
        bump(this.traffic.errors, kind);
      }
      throw error;
    }
  }
}

/** What `work` asks of the server, with its errors as callers hear of them. */
export async function asked<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw forCaller(error);
  }
}
