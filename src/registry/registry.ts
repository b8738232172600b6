// The image registry: who may talk to which repository, and what is on its way into them.
import type { Now } from '#domain/clock.ts';
import { createCredentials, type Credentials, type CredentialsOptions } from './credentials.ts';
import { createNews, type News } from './news.ts';
import type { Repository } from './repository.ts';
import type { SignedTokens } from './signed-tokens.ts';
import { createTokens, type RegistryTokens } from './tokens.ts';
import type { Receive } from './receiving.ts';
import { createBlobUploads, type BlobUploads } from './uploads.ts';

/** The type that a package's newest declaration gives a resource; nothing when no revision declares it. */
export type DeclaredType = (repository: Repository) => Promise<string | undefined>;

export interface Registry {
  credentials: Credentials;
  tokens: RegistryTokens;
  /** Tokens for another registry, where the configuration names one. */
  signedTokens: SignedTokens;
  /** What another registry tells of. */
  news: News;
  uploads: BlobUploads;
  declaredType: DeclaredType;
}

export interface RegistryOptions extends CredentialsOptions {
  clock: Now;
  /** Signs the tokens: 32 bytes that all processes of the store have, and nobody else. */
  tokenKey: Buffer;
  signedTokens: SignedTokens;
  receive: Receive;
  /** Bytes that may still be written to where blobs lie. */
  free: () => Promise<number>;
  declaredType: DeclaredType;
}

export function createRegistry(options: RegistryOptions): Registry {
  return {
    credentials: createCredentials(options),
    tokens: createTokens(options.tokenKey, options.clock),
    signedTokens: options.signedTokens,
    news: createNews(),
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
