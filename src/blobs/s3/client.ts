// Creates the client of S3. It is loaded when it is first needed, so that stores on a disk do not pay for it.
import { Agent as PlainAgent } from 'node:http';
import { Agent } from 'node:https';

import type * as S3 from '@aws-sdk/client-s3';

import type { BucketAccess, BucketAddress, BucketCredentials } from '#contract/bucket-address.ts';

export type Sdk = typeof S3;
export type Client = S3.S3Client;

/** Maximum of concurrent requests; further ones wait for a connection. */
const connections = 64;
/** Connect timeout in milliseconds. */
const connectTimeoutMs = 2000;

export interface S3Connection {
  sdk: Sdk;
  client: Client;
  /** Reads and inspects objects. It has connections of its own: a slow reader occupies one, and no other request waits for it. */
  reader: Client;
  /** Whether the credentials have changed; the new ones are used from here on. */
  renew: () => boolean;
  close: () => void;
}

export async function connect({ endpoint }: BucketAddress, access: BucketAccess): Promise<S3Connection> {
  const sdk = await import('@aws-sdk/client-s3');
  const { region, authority } = access;
  const credentials = changing(access);
  const createClient = (maxSockets: number) => {
    const agent = { keepAlive: true, maxSockets };
    const httpAgent = new PlainAgent(agent);
    const httpsAgent = new Agent({ ...agent, minVersion: 'TLSv1.2', ca: authority });
    const client = new sdk.S3Client({
      endpoint,
      region,
      credentials: credentials.now,
      forcePathStyle: true,
      // Older servers do not know the trailing checksums that the client adds by default; every server checks the MD5.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { httpAgent, httpsAgent, connectionTimeout: connectTimeoutMs },
      retryMode: 'standard',
      maxAttempts: 3,
      // The client would read options that are not set here from the environment and the user's home.
      ...settled,
      authSchemePreference: ['sigv4'],
      sigv4aSigningRegionSet: ['*'],
    });
    const close = (): void => {
      client.destroy();
      httpAgent.destroy();
      httpsAgent.destroy();
    };
    return { client, close };
  };
  const [usual, reading] = [createClient(connections), createClient(Infinity)];
  signsNoPayload(usual.client);
  return {
    sdk,
    client: usual.client,
    reader: reading.client,
    renew: credentials.renew,
    close() {
      usual.close();
      reading.close();
    },
  };
}

/** Credentials that may change later. The client requests them for every call, because they claim to expire immediately. */
function changing({ renewed, ...access }: BucketAccess) {
  let { accessKeyId, secretAccessKey }: BucketCredentials = access;
  return {
    now: () => Promise.resolve({ accessKeyId, secretAccessKey, expiration: new Date() }),
    renew(): boolean {
      let fresh: BucketCredentials | undefined;
      try {
        fresh = renewed?.();
      } catch {
        // The file is being written, or is missing: the known credentials stay in use.
      }
      if (fresh === undefined) return false;
      if (fresh.accessKeyId === accessKeyId && fresh.secretAccessKey === secretAccessKey) return false;
      ({ accessKeyId, secretAccessKey } = fresh);
      return true;
    },
  };
}

/** The content is sent with its MD5, which the server checks; another digest for the signature would only cost time. */
function signsNoPayload(client: Client): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (/^(?:PutObject|UploadPart)Command$/.test(String(commandName))) {
          (args.request as { headers: Record<string, string> }).headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
        }
        return next(args);
      },
    { step: 'build', name: 'signsNoPayload' },
  );
}

const settled = {
  defaultsMode: 'standard',
  disableS3ExpressSessionAuth: true,
  useArnRegion: false,
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  disableMultiregionAccessPoints: true,
  userAgentAppId: 'larder',
  disableClockSkewCorrection: false,
} as const;
