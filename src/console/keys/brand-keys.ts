// The signing keys of a brand with the state of their registration.
import { registrationOf, type Registration } from '#assertions/keys/registration.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, type HtmlContent, type Html } from '#http/pages/html.ts';
import { accountKeysOf } from '#operations/assertions/account-keys.ts';
import type { Brand } from '#records/brands/brands.ts';
import type { ListedSigningKey } from '#records/keys/signing-keys.ts';
import { badge, type Gravity } from '../parts/notice.ts';

export interface BrandSigningKey extends ListedSigningKey {
  status: Registration;
  /** When its registration expires; undefined if it is not registered, or has no end. */
  until: string | undefined;
}

export async function readBrandKeys(
  { accountId }: Pick<Brand, 'accountId'>,
  records: Pick<HandlerRecords, 'signingKeys' | 'assertions'>,
  now: Date,
): Promise<BrandSigningKey[]> {
  const keys = await records.signingKeys.list(accountId);
  const registered = await accountKeysOf(keys, records);
  return keys.map((key) => {
    const accountKey = registered.get(key.sha3_384);
    const until = accountKey?.headers['until'];
    return {
      ...key,
      status: registrationOf(key.requestedAt, accountKey, now),
      until: typeof until === 'string' ? until : undefined,
    };
  });
}

const words: Readonly<Record<Registration, readonly [Gravity, string]>> = {
  new: ['note', 'not requested yet'],
  requested: ['note', 'requested, no answer yet'],
  registered: ['good', 'registered'],
  expired: ['warn', 'expired'],
  revoked: ['warn', 'revoked'],
};

export const registrationBadge = (status: Registration): Html => badge(...words[status]);

export const privateKeyPlace = ({ managerKey }: Pick<BrandSigningKey, 'managerKey'>): HtmlContent =>
  managerKey === null ? 'in this store' : html`in the key manager as <code>${managerKey}</code>`;
