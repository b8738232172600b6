// Makes the first approvers of a new store: their accounts and secrets.
import type { FirstApprover } from '#acts/store/appliance.ts';
import type { NewIds } from '#domain/ids.ts';
import { totpPurpose } from '#identity/login/logins.ts';
import { newRecoveryCodes, recoveryDigests } from '#identity/credentials/recovery-codes.ts';
import { newSetUpLink } from '#identity/credentials/set-up-links.ts';
import { newTotpSecret, totpAddress } from '#identity/credentials/totp.ts';
import { seal } from '#macaroons/sealing.ts';

/** The secrets that one of the first approvers gets. They are shown once. */
export interface ApproverHandout {
  id: string;
  username: string;
  /** The set-up link: the approver sets a password there, once. */
  link: string;
  /** When the link expires, RFC 3339. */
  until: string;
  /** The secret of the one-time passwords, as text and as an address for authenticators. */
  secret: string;
  address: string;
  recoveryCodes: readonly string[];
}

/** Makes an approver: the part for the records, and the secrets for the approver. */
export function newApprover(
  username: string,
  { siteKey, baseUrl, newId }: { siteKey: Buffer; baseUrl: string; newId: NewIds },
): { approver: FirstApprover; handout: ApproverHandout } {
  const id = newId.id();
  const { link, digest, until } = newSetUpLink({ now: () => new Date(), baseUrl });
  const secret = newTotpSecret();
  const recoveryCodes = newRecoveryCodes();
  const totpSecret = seal(siteKey, secret, totpPurpose(id));
  const recovery = recoveryDigests(siteKey, id, recoveryCodes);
  return {
    approver: { id, username, linkDigest: digest, linkUntil: until, totpSecret, recovery },
    handout: { id, username, link, until, ...totpAddress(secret, username, new URL(baseUrl).host), recoveryCodes },
  };
}
