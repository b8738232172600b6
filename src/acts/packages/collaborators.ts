// Collaborators of a package, and invites to collaborate.
import { computeDigest } from '#domain/cryptography.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { Invite } from '#records/packages/invites.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { act } from '../act.ts';
import { requireCurrentPackage, packageObject } from './package.ts';

interface NewInvites {
  package: PublishedPackage;
  /** The account that invites. */
  invitedBy: string;
  /** The invited accounts, each with the token of the invite. */
  invites: { email: string; token: string }[];
  /** The number of days after which the invites expire. */
  days: number;
}

export const inviteCollaborators = act({
  name: 'invite_collaborators',
  summary: 'Invite accounts to collaborate on a package.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: NewInvites) => packageObject(subject),
  gate: { never: 'releases by collaborators need the same approvals as all releases' },

  async perform(tx, request: NewInvites, { at, note }) {
    const { id, name, publisherId } = await requireCurrentPackage(tx, request.package);
    const expiresAt = timestamp(after(new Date(at), days(request.days)));
    const invited = new Set<string>();
    for (const { email, token } of request.invites) {
      const account = await tx.accounts.byEmail(email.trim());
      if (account === undefined)
        throw new Refusal('account-not-found', `There is no account with the e-mail address '${email}'.`);
      if (invited.has(account.id)) throw new Refusal('api-error', `The account of '${email}' is named twice.`);
      if (account.id === publisherId) {
        throw new Refusal('conflict', `'${email}' is the publisher of '${name}' and needs no invite.`);
      }
      if (await tx.collaborators.has(id, account.id)) {
        throw new Refusal('conflict', `'${email}' collaborates on '${name}' already.`);
      }
      invited.add(account.id);
      const who = { packageId: id, accountId: account.id, email: account.email, createdBy: request.invitedBy };
      await tx.invites.add({ ...who, tokenSha256: inviteDigest(token), createdAt: at, expiresAt });
    }
    note({ invited: [...invited] });
  },
});

export const revokeInvites = act({
  name: 'revoke_invites',
  summary: 'Revoke the pending invites of e-mail addresses.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: { package: PublishedPackage }) => packageObject(subject),
  gate: { never: 'the invite was not answered yet' },

  async perform(
    tx,
    { package: subject, revokedBy, emails }: { package: PublishedPackage; revokedBy: string; emails: string[] },
    { at, note },
  ) {
    const pending = await tx.invites.listPending(subject.id, at);
    const revoked = new Set<Invite>();
    for (const email of emails) for (const invite of await invitesOf(tx, pending, email)) revoked.add(invite);
    for (const { tokenSha256 } of revoked) await tx.invites.revoke(tokenSha256, { at, actor: revokedBy });
    note({ revoked: [...revoked].map(({ accountId }) => accountId) });
  },
});

/**
 * The pending invites that were sent to an e-mail address, even if the account has another address now. If there are none, the invites of
 * the account that has this address now.
 */
async function invitesOf(tx: ChangeRecords, pending: readonly Invite[], email: string): Promise<Invite[]> {
  const address = email.trim();
  const shown = pending.filter((invite) => invite.email.toLowerCase() === address.toLowerCase());
  if (shown.length > 0) return shown;
  const account = await tx.accounts.byEmail(address);
  return account === undefined ? [] : pending.filter(({ accountId }) => accountId === account.id);
}

/** The answer of an account to an invite. */
interface InviteReply {
  namespace: string;
  name: string;
  accountId: string;
  /** The token that the account was given. If undefined, the account answers its open invite. */
  token?: string;
}

export const acceptInvite = act({
  name: 'accept_invite',
  summary: 'Accept an invite, and collaborate on its package.',
  on: 'NAMESPACE/NAME',
  object: ({ namespace, name }: InviteReply) => `${namespace}/${name}`,
  gate: { never: 'the publisher has decided to invite the account' },

  async perform(tx, answer: InviteReply, { at }) {
    const { invite, subject } = await findAnswerableInvite(tx, answer, at);
    await tx.invites.accept(invite.tokenSha256, at);
    await tx.collaborators.add(subject.id, answer.accountId, invite.createdBy, at);
  },
});

export const rejectInvite = act({
  name: 'reject_invite',
  summary: 'Reject an invite to collaborate on a package.',
  on: 'NAMESPACE/NAME',
  object: ({ namespace, name }: InviteReply) => `${namespace}/${name}`,
  gate: { never: 'only the invited account can decide' },

  async perform(tx, answer: InviteReply, { at }) {
    const { invite } = await findAnswerableInvite(tx, answer, at);
    await tx.invites.revoke(invite.tokenSha256, { at, actor: answer.accountId });
  },
});

/** The digest that is stored of a token. The token has 190 random bits, so it needs no salt and no slow hash. */
export const inviteDigest = (token: string): string => computeDigest('secret', token.trim());

/** The invite and the package of a token, if the account may answer it. All failures give the same error. */
async function findAnswerableInvite(
  tx: ChangeRecords,
  { namespace, name, token, accountId }: InviteReply,
  now: string,
): Promise<{ invite: Invite; subject: PublishedPackage }> {
  const subject = await tx.packages.find(namespace, name);
  const lookup = subject && { packageId: subject.id, accountId, now };
  const invite =
    lookup &&
    (token === undefined
      ? await tx.invites.open(lookup)
      : await tx.invites.pending({ ...lookup, tokenSha256: inviteDigest(token) }));
  if (subject === undefined || invite === undefined)
    throw new Refusal(
      'invalid-token',
      token === undefined ? 'There is no invite to this package that this account can answer.' : 'Invalid invite token',
    );
  return { invite, subject };
}

export const sweepInvites = act({
  name: 'sweep_invites',
  summary: 'Delete invites that ended long ago, and expired set-up links and offers of packages.',
  on: 'invites',
  object: () => 'invites',
  gate: { never: 'it follows from the time alone' },

  async perform(
    tx,
    { invitesBefore, unusedBefore, atMost }: { invitesBefore: string; unusedBefore: string; atMost: number },
    { note },
  ) {
    const forgotten = {
      invites: await tx.invites.forgetEnded(invitesBefore, atMost),
      setUpLinks: await tx.setUpLinks.forgetEnded(unusedBefore, atMost),
      offers: await tx.packageOffers.forgetEnded(unusedBefore, atMost),
    };
    note(forgotten);
    return forgotten;
  },
});
