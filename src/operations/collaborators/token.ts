// An invite's token: whoever it was for may answer it once.
import { hash } from 'node:crypto';

import type { Principal } from '#domain/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Changes } from '#records/index.ts';
import type { Invite } from '#records/invites.ts';
import type { PublishedPackage } from '#records/packages.ts';

/** How a token is kept: 190 bits of chance need no salt and no slow hash. */
export const digestOf = (token: string): string => hash('sha256', token.trim());

/** The invite and the package that an invite's token is for, when the caller may answer it; one refusal for whatever is wrong with it. */
export async function answerable(
  tx: Changes,
  asked: { namespace: string; name: string; token: string; principal: Principal; now: string },
): Promise<{ invite: Invite; subject: PublishedPackage }> {
  const { namespace, name, token, principal, now } = asked;
  const { accountId } = principal;
  const subject = await tx.packages.find(namespace, name);
  const invite =
    subject && (await tx.invites.pending({ tokenSha256: digestOf(token), packageId: subject.id, accountId, now }));
  if (subject === undefined || invite === undefined) throw new Refusal('invalid-token', 'Invalid invite token');
  return { invite, subject };
}
