// The client of S3, which is loaded when it is first needed: nobody whose blobs are a folder pays for it.
import { Agent as PlainAgent } from 'node:http';
import { Agent } from 'node:https';

import type * as S3 from '@aws-sdk/client-s3';

import type { BucketAccess, BucketAddress } from './address.ts';

export type Sdk = typeof S3;
export type Client = S3.S3Client;

/** So many requests are under way at most; others wait for a connection. */
const connections = 64;
/** How many milliseconds to wait for a connection. */
const patience = 2000;

export async function connect(
  { endpoint }: BucketAddress,
  { region, accessKeyId, secretAccessKey, authority }: BucketAccess,
): Promise<{ sdk: Sdk; client: Client; close: () => void }> {
  const sdk = await import('@aws-sdk/client-s3');
  const agent = { keepAlive: true, maxSockets: connections };
  const [httpAgent, httpsAgent] = [
    new PlainAgent(agent),
    new Agent({ ...agent, minVersion: 'TLSv1.2', ca: authority }),
  ];
  const client = new sdk.S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
    // Older servers do not know the checksums in trailers that the client adds otherwise; MD5 is checked by all of them.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { httpAgent, httpsAgent, connectionTimeout: patience },
    retryMode: 'standard',
    maxAttempts: 3,
    // What is not said here the client would look for in the environment and in files of the user's home.
    ...settled,
    authSchemePreference: ['sigv4'],
    sigv4aSigningRegionSet: ['*'],
  });
  // What is sent bears its MD5, which the server checks: to digest it once more for the signature would only cost time.
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
  return {
    sdk,
    client,
    close() {
      client.destroy();
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}

const settled = {
  defaultsMode: 'standard',
  disableS3ExpressSessionAuth: true,
  useArnRegion: false,
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  disableMultiregionAccessPoints: true,
  userAgentAppId: 'larder',
} as const;
