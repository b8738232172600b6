// An invite's token: whoever it was for may answer it once.
import { hash } from 'node:crypto';

import { Refusal } from '#domain/refusal.ts';
import type { Changes } from '#records/index.ts';
import type { Invite } from '#records/invites.ts';
import type { PublishedPackage } from '#records/packages.ts';

/** How a token is kept: 190 bits of chance need no salt and no slow hash. */
export const digestOf = (token: string): string => hash('sha256', token.trim());

/** The invite and the package that a token is for; one answer for whatever is wrong with it. */
export async function answerable(
  tx: Changes,
  asked: { namespace: string; name: string; token: string; accountId: string; now: string },
): Promise<{ invite: Invite; subject: PublishedPackage }> {
  const { namespace, name, token, accountId, now } = asked;
  const subject = await tx.packages.find(namespace, name);
  const invite =
    subject && (await tx.invites.pending({ tokenSha256: digestOf(token), packageId: subject.id, accountId, now }));
  if (subject === undefined || invite === undefined) throw new Refusal('invalid-token', 'Invalid invite token');
  return { invite, subject };
}
