// Makes the request to register a signing key with the online store, for the interface and for the console.
import { noSigningKey, requestRegistration } from '#acts/keys/signing-keys.ts';
import { accountKeyRequest } from '#assertions/keys/account-key-request.ts';
import type { Services } from '#http/services.ts';
import type { Brand } from '#records/brands/brands.ts';
import { caller } from '../caller.ts';

interface KeyToRegister {
  brand: Pick<Brand, 'accountId'>;
  /** The SHA3-384 of the key. */
  keyId: string;
  /** The start of validity, RFC 3339; by default now. */
  since?: string | undefined;
  /** The end of validity, RFC 3339; by default none. */
  until?: string | undefined;
}

/** Signs the request and records it; refuses a key of another brand. Returns the name of the key and the request. */
export async function makeAccountKeyRequest(
  call: Services & Parameters<typeof caller>[0],
  { brand, keyId, since, until }: KeyToRegister,
): Promise<{ name: string; text: string }> {
  const { records, custody, acts, now } = call;
  const key = await records.signingKeys.publicHalf(keyId);
  if (key?.brandAccountId !== brand.accountId) throw noSigningKey(brand.accountId, keyId);
  const moment = now();
  const text = await accountKeyRequest({
    signer: custody,
    keyId: key.sha3_384,
    accountId: brand.accountId,
    name: key.name,
    since: since === undefined ? moment : new Date(since),
    until: until === undefined ? undefined : new Date(until),
    signedAt: moment,
  });
  await acts.do(requestRegistration, caller(call), {
    brandAccountId: brand.accountId,
    sha3_384: key.sha3_384,
    since: since ?? null,
    until: until ?? null,
    text,
  });
  return { name: key.name, text };
}
