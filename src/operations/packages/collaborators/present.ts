import type {
  Account as AccountShape,
  Collaborator as CollaboratorShape,
  Invite as InviteShape,
  PendingInvite,
} from '#contract/wire.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { Collaborator } from '#records/packages/collaborators.ts';
import type { Invite } from '#records/packages/invites.ts';
import { presentAccount } from '../../present.ts';

type People = Map<string, Account>;

export const presentInvite = (invite: Invite, people: People): InviteShape => ({
  'accepted-at': invite.acceptedAt,
  ...(invite.acceptedAt !== null && { 'accepted-by': person(invite.accountId, people) }),
  'created-at': invite.createdAt,
  'created-by': person(invite.createdBy, people),
  email: invite.email,
  'expires-at': invite.expiresAt,
  'invite-type': 'package-collaborator',
  'revoked-at': invite.revokedAt,
  ...(invite.revokedBy !== null && { 'revoked-by': person(invite.revokedBy, people) }),
});

export const presentPendingInvite = (invite: Invite): PendingInvite => ({
  created_at: invite.createdAt,
  created_by: invite.createdBy,
  email: invite.email,
  expires_at: invite.expiresAt,
});

/** A collaborator. A collaborator is never changed, so `updated-at` is always null. */
export const presentCollaborator = (collaborator: Collaborator, people: People): CollaboratorShape => ({
  account: person(collaborator.accountId, people),
  'created-at': collaborator.createdAt,
  'created-by': person(collaborator.createdBy, people),
  permissions: ['package-collaborator'],
  'updated-at': null,
});

function person(id: string, people: People): AccountShape {
  const account = people.get(id);
  if (account === undefined) throw new Error(`cannot present the account ${id}: it is not there`);
  return presentAccount(account);
}
