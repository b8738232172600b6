// The approvers that a new store is made with: their accounts, and the secrets that each of them is handed.
import type { FirstApprover } from '#acts/appliance.ts';
import type { NewIds } from '#domain/ids.ts';
import { totpPurpose } from '#identity/logins.ts';
import { newRecoveryCodes, recoveryDigests } from '#identity/recovery-codes.ts';
import { newSetUpLink } from '#identity/set-up-links.ts';
import { newTotpSecret, totpAddress } from '#identity/totp.ts';
import { seal } from '#macaroons/sealing.ts';

/** What one of the first approvers is handed. It is shown once. */
export interface ApproverHandout {
  id: string;
  username: string;
  /** With it the approver chooses a password, once. */
  link: string;
  /** When the link expires, RFC 3339. */
  until: string;
  /** The secret of the one-time passwords, as text and as an address for authenticators. */
  secret: string;
  address: string;
  recoveryCodes: readonly string[];
}

/** Makes the secrets of an approver: what the records keep, and what the approver is handed. */
export function newApprover(
  username: string,
  { siteKey, baseUrl, newId }: { siteKey: Buffer; baseUrl: string; newId: NewIds },
): { kept: FirstApprover; handout: ApproverHandout } {
  const id = newId.id();
  const { link, digest, until } = newSetUpLink({ now: () => new Date(), baseUrl });
  const secret = newTotpSecret();
  const recoveryCodes = newRecoveryCodes();
  const totpSecret = seal(siteKey, secret, totpPurpose(id));
  const recovery = recoveryDigests(siteKey, id, recoveryCodes);
  return {
    kept: { id, username, linkDigest: digest, linkUntil: until, totpSecret, recovery },
    handout: { id, username, link, until, ...totpAddress(secret, username, new URL(baseUrl).host), recoveryCodes },
  };
}
