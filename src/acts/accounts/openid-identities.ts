// Accounts that log in with the OpenID provider of the site. An account is bound to the issuer and the subject, never to a name or an
// e-mail address.
import type { AccountRole } from '#domain/accounts/role.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { OpenidIdentity } from '#records/accounts/openid-identities.ts';
import type { ChangeRecords } from '#records/index.ts';
import { act, DoneAlready } from '../act.ts';
import {
  accountObject,
  addAccount,
  markTouched,
  requireAccount,
  removeRole,
  type AccountTarget,
  type NewAccount,
} from './accounts.ts';

type ProviderSubject = Pick<OpenidIdentity, 'issuer' | 'subject'>;

export const createOpenidAccount = act({
  name: 'create_openid_account',
  summary: 'Create an account at the first login with the OpenID provider.',
  on: 'account/ID',
  object: ({ account }: { account: NewAccount }) => accountObject(account),
  gate: { never: 'the approvals of a new account do not count for three days' },

  async perform(tx, { account, issuer, subject }: ProviderSubject & { account: NewAccount }, doing): Promise<Account> {
    const linked = await tx.openidIdentities.find(issuer, subject);
    if (linked !== undefined) throw new DoneAlready(await requireAccount(tx, linked.accountId));
    const taken = await tx.accounts.taken(account);
    if (taken !== undefined) throw nameTaken(account, subject);
    const created = await addAccount(tx, account, doing);
    await tx.openidIdentities.add({ accountId: created.id, issuer, subject, linkedAt: doing.at });
    doing.note({ issuer, subject });
    return created;
  },
});

/** The provider vouches for a subject, not for a name: a local account with the same name may belong to another person. */
const nameTaken = ({ username, email }: NewAccount, subject: string): Refusal =>
  new Refusal(
    'conflict',
    `An account with the user name '${username}' or the e-mail address '${email}' exists. If it is yours, ask an ` +
      `administrator to link it, with 'larder account link ID ${subject}'.`,
  );

export const addOpenidIdentity = act({
  name: 'add_openid_identity',
  summary: 'Let a person of the OpenID provider log in as an account.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'the approvals of a changed account do not count for three days' },

  async perform(tx, { id, issuer, subject }: AccountTarget & ProviderSubject, doing): Promise<void> {
    doing.note({ issuer, subject });
    await requireAccount(tx, id);
    const [ofAccount, ofSubject] = [await tx.openidIdentities.of(id), await tx.openidIdentities.find(issuer, subject)];
    if (ofSubject?.accountId === id) throw new DoneAlready(undefined);
    const holder = ofSubject?.accountId ?? (ofAccount && id);
    if (holder !== undefined) {
      const other = ofSubject === undefined ? 'another subject' : `the account ${holder}`;
      throw new Refusal(
        'conflict',
        `${ofSubject === undefined ? `The account ${id}` : 'This subject'} is linked to ${other}. ` +
          `End that with 'larder account unlink ${holder}' first.`,
      );
    }
    await tx.openidIdentities.add({ accountId: id, issuer, subject, linkedAt: doing.at });
    await markTouched(tx, id, doing);
  },
});

export const removeOpenidIdentity = act({
  name: 'remove_openid_identity',
  summary: 'End the logins of an account with the OpenID provider.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'a login in the wrong hands must stop working at once' },

  async perform(tx, { id }: AccountTarget, doing): Promise<void> {
    await requireAccount(tx, id);
    for (const { role } of await tx.groupRoles.of(id)) {
      await removeRole(tx, id, role as AccountRole);
      await tx.groupRoles.remove(id, role);
    }
    if (!(await tx.openidIdentities.remove(id))) {
      throw new Refusal('resource-not-found', `The account ${id} is not linked to the OpenID provider.`);
    }
    await markTouched(tx, id, doing);
  },
});

interface OpenidLogin extends ProviderSubject {
  accountId: string;
  address: string;
  /** The session of the console that asked for the credentials again; undefined for a new login. */
  proven?: { sessionId: string; provenAt: string };
}

export const acceptOpenidLogin = act({
  name: 'accept_openid_login',
  summary: 'Log in with the OpenID provider.',
  on: 'account/ID',
  object: ({ accountId }: OpenidLogin) => `account/${accountId}`,
  gate: { never: 'it changes only the login of the same account' },

  async perform(tx, { accountId, issuer, subject, address, proven }: OpenidLogin, { at, note }): Promise<void> {
    note({ address, issuer });
    await refuseDisabled(tx, accountId);
    if ((await tx.openidIdentities.find(issuer, subject))?.accountId !== accountId) throw notLinked(subject);
    if (proven === undefined) await tx.lastLogins.add(accountId, { at, address });
    else await tx.macaroons.prove(proven.sessionId, accountId, proven.provenAt);
  },
});

async function refuseDisabled({ accounts }: Pick<ChangeRecords, 'accounts'>, id: string): Promise<void> {
  if ((await accounts.disabledAt(id)) === null) return;
  throw new Refusal(
    'invalid-credentials',
    `The account ${id} is disabled. An administrator of the store can enable it.`,
  );
}

export const endOpenidSessions = act({
  name: 'end_openid_sessions',
  summary: 'End the sessions of an account whose login the OpenID provider has ended.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'a login in the wrong hands must stop working at once' },

  async perform(tx, { id, sessions }: AccountTarget & { sessions: readonly string[] }, { at, note }): Promise<void> {
    if (sessions.length === 0) throw new DoneAlready(undefined);
    for (const sessionId of sessions) await tx.macaroons.revoke(sessionId, id, at);
    note({ sessions });
  },
});

/** The refusal for a person without an account, with the value that an administrator needs. */
export const notLinked = (subject: string): Refusal =>
  new Refusal(
    'invalid-credentials',
    'The OpenID provider knows you, but you have no account here. Ask an administrator to link yours, with ' +
      `'larder account link ID ${subject}'.`,
  );
