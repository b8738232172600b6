// The image registry: who may access which repository, and the uploads in progress.
import type { Now } from '#domain/clock.ts';
import { createCredentials, type RegistryCredentials, type CredentialsOptions } from './credentials.ts';
import { createImageNotifications, type ImageNotifications } from './image-notifications.ts';
import type { Repository } from './repository.ts';
import type { SignedTokens } from './signed-tokens.ts';
import { createTokens, type RegistryTokens } from './tokens.ts';
import type { ReceiveBlob } from './blob-upload-receiver.ts';
import { createBlobUploads, type BlobUploads } from './uploads.ts';

/** The type that the newest declaration of a package gives a resource; undefined if no revision declares it. */
export type DeclaredType = (repository: Repository) => Promise<string | undefined>;

export interface Registry {
  credentials: RegistryCredentials;
  tokens: RegistryTokens;
  /** Tokens for another registry, if the configuration names one. */
  signedTokens: SignedTokens;
  /** Notifications from another registry. */
  news: ImageNotifications;
  uploads: BlobUploads;
  declaredType: DeclaredType;
}

export interface RegistryOptions extends CredentialsOptions {
  clock: Now;
  /** Signs the tokens: 32 bytes that only the processes of the store have. */
  tokenKey: Buffer;
  signedTokens: SignedTokens;
  receive: ReceiveBlob;
  /** Free bytes for blobs. */
  free: () => Promise<number>;
  declaredType: DeclaredType;
}

export function createRegistry(options: RegistryOptions): Registry {
  return {
    credentials: createCredentials(options),
    tokens: createTokens(options.tokenKey, options.clock),
    signedTokens: options.signedTokens,
    news: createImageNotifications(),
    uploads: createBlobUploads({
      records: options.records,
      receive: options.receive,
      free: options.free,
      newId: () => options.newId.uuid(),
      now: options.clock,
    }),
    declaredType: options.declaredType,
  };
}
