// Tokens for another registry that stores the images (token authentication of the distribution project). That registry
// sends its clients to this store for tokens, and verifies them with this store's certificate, which its administrator
// has installed. No requests about tokens pass between the two servers.
import { createPrivateKey, randomBytes, signInThread, X509Certificate, type KeyObject } from '#domain/cryptography.ts';

import { itself, type Acts, type Actor } from '#acts/act.ts';
import { makeRegistryKey, registryKey } from '#acts/images/credentials.ts';
import { after, minutes, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { StoreRecords } from '#records/index.ts';
import type { RegistryToken } from './tokens.ts';

export interface SignedTokensOptions {
  records: Pick<StoreRecords, 'appliance'>;
  acts: Acts;
  clock: Now;
  newId: NewIds;
  seal: (secret: Buffer, purpose: string) => string;
  unseal: (sealed: string, purpose: string) => Buffer;
  /** Creates a private key and its certificate, both PEM. */
  certify: (name: string, now: Date) => Promise<{ certificate: string; key: string }>;
}

export interface SignedTokens {
  /** Signs a token for the registry with this name. */
  mint(
    token: RegistryToken,
    to: { registry: string; issuer: string },
  ): Promise<{ text: string; issuedAt: Date; lifetimeSeconds: number }>;
  /** The data that the other registry must be given: created at the first call, the same ever after. */
  shared(actor?: Actor): Promise<SharedWithRegistry>;
}

export interface SharedWithRegistry {
  /** PEM. */
  certificate: string;
  /** The other registry authenticates its notifications of pushed images with this secret. */
  secret: string;
}

const tokenLifetimeMs = minutes(5);
/** How far the other registry's clock may be behind. */
const clockLeewayMs = minutes(1);

const purpose = 'key of the tokens for the registry of images';

interface RegistryKeyMaterial extends SharedWithRegistry {
  key: string;
}

interface OpenedRegistryKey {
  sealed: string;
  material: RegistryKeyMaterial;
  key: KeyObject;
  /** The certificate in the form for the header of tokens. */
  x5c: string;
}

export function createSignedTokens(options: SignedTokensOptions): SignedTokens {
  const { records, acts, clock, newId, seal, unseal, certify } = options;
  let opened: OpenedRegistryKey | undefined;

  /** Reads the key; looks it up in the records each time, because another process may have created it. */
  async function open(actor: Actor = itself): Promise<OpenedRegistryKey> {
    const sealed = (await records.appliance.find(registryKey)) ?? (await make(actor));
    if (opened?.sealed !== sealed) {
      const material = JSON.parse(unseal(sealed, purpose).toString()) as RegistryKeyMaterial;
      const x5c = new X509Certificate(material.certificate).raw.toString('base64');
      opened = { sealed, material, key: createPrivateKey(material.key), x5c };
    }
    return opened;
  }

  async function make(actor: Actor): Promise<string> {
    const { certificate, key } = await certify('larder, tokens for the registry of images', clock());
    const material: RegistryKeyMaterial = { certificate, key, secret: randomBytes(32).toString('base64url') };
    return acts.do(makeRegistryKey, actor, { sealed: seal(Buffer.from(JSON.stringify(material)), purpose) });
  }

  return {
    async mint({ credential, grants }, { registry, issuer }) {
      const { key, x5c } = await open();
      const issuedAt = clock();
      const claims = {
        iss: issuer,
        sub: credential,
        aud: registry,
        iat: secondsOf(issuedAt),
        nbf: secondsOf(after(issuedAt, -clockLeewayMs)),
        exp: secondsOf(after(issuedAt, tokenLifetimeMs)),
        jti: newId.uuid(),
        access: grants.map(({ repository, actions }) => ({ type: 'repository', name: repository, actions })),
      };
      const text = `${encoded({ typ: 'JWT', alg: 'RS256', x5c: [x5c] })}.${encoded(claims)}`;
      const signature = await signInThread('registry token', Buffer.from(text), key);
      return { text: `${text}.${signature.toString('base64url')}`, issuedAt, lifetimeSeconds: tokenLifetimeMs / 1000 };
    },

    async shared(actor) {
      const { certificate, secret } = (await open(actor)).material;
      return { certificate, secret };
    },
  };
}

const secondsOf = (moment: Date): number => Math.floor(moment.getTime() / 1000);
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
