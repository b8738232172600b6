// Credentials of people: passwords, set-up links and secrets of one-time passwords.
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords } from '#records/index.ts';
import { accountObject, requireAccount, markTouched, type AccountTarget } from './accounts.ts';
import { act } from '../act.ts';
import { wrongCode, wrongCredentials } from '../login/logins.ts';

export const setPassword = act({
  name: 'set_account_password',
  summary: 'Set the password of an account.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'the approvals of a changed account do not count for three days' },

  /**
   * Removes the set-up link of the account. If `endTokensAt` (the latest time that the store has seen) is given, ends
   * its tokens too and returns their number.
   */
  async perform(
    tx,
    { id, hash, endTokensAt }: AccountTarget & { hash: string; endTokensAt: string | null },
    { at, actor, action, note },
  ): Promise<number | undefined> {
    await requireAccount(tx, id);
    await tx.passwords.set(id, hash, at);
    await markTouched(tx, id, { at, actor, action });
    await tx.setUpLinks.removeOf(id);
    if (endTokensAt === null) return undefined;
    const endedTokens = await tx.macaroons.endAll(id, { at: endTokensAt, actor, issuedBefore: null });
    note({ 'ended-tokens': endedTokens });
    return endedTokens;
  },
});

export const inviteAccount = act({
  name: 'invite_account',
  summary: 'Make a link that sets the password of an account once.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'the approvals of a changed account do not count for three days' },

  /** A later link replaces an earlier one. `digest` is the digest of the link's secret. */
  async perform(tx, { id, digest, until }: AccountTarget & { digest: string; until: string }, doing): Promise<void> {
    doing.note({ until });
    // With a link for their own account, the thief of an administrator's session could set a new password without the old one.
    if (doing.actor === id) {
      throw new Refusal(
        'forbidden',
        'You cannot make a link for your own account. Change your password with the old one.',
      );
    }
    const { username } = await requireAccount(tx, id);
    if ((await tx.accounts.disabledAt(id)) !== null) {
      throw new Refusal(
        'conflict',
        `The account ${id} (${username}) is disabled. Enable it with 'larder account enable'.`,
      );
    }
    await tx.setUpLinks.set(id, digest, until);
    await markTouched(tx, id, doing);
  },
});

export const setOwnPassword = act({
  name: 'set_password',
  summary: 'Set your own password with a link; the link works once.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'an administrator gave out the link' },

  async perform(
    tx,
    { id, digest, hash, endTokens }: AccountTarget & { digest: string; hash: string; endTokens: boolean },
    { at, actor, action, note },
  ): Promise<void> {
    // The link was used, replaced or expired while the password was hashed.
    if ((await tx.setUpLinks.find(digest, at))?.id !== id) throw expiredLinkRefusal();
    const isFromInit = await tx.setUpLinks.isFromInit(digest);
    await tx.setUpLinks.remove(digest);
    await tx.passwords.set(id, hash, at);
    // The creator of the link may be the person who uses it, so this counts as a change of the account. The creator of
    // the store is trusted with its first approvers.
    if (!isFromInit) await markTouched(tx, id, { at, actor: 'a link', action });
    if (endTokens) {
      note({ 'ended-tokens': await tx.macaroons.endAll(id, { at, actor, issuedBefore: null }) });
    }
  },
});

export const changeOwnPassword = act({
  name: 'change_own_password',
  summary: 'Change your own password; the old one must be proven first.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'it changes only the login of the same account' },

  /** `provenAt` is when the verified password was set. Refused if the password was changed since. */
  async perform(
    tx,
    { id, provenAt, hash, endTokensAt }: AccountTarget & { provenAt: string; hash: string; endTokensAt: string | null },
    { at, actor, action, note },
  ): Promise<void> {
    if ((await tx.passwords.find(id))?.changedAt !== provenAt) throw wrongCredentials();
    await tx.passwords.set(id, hash, at);
    await tx.setUpLinks.removeOf(id);
    await markTouched(tx, id, { at, actor: ownLoginActor, action });
    if (endTokensAt === null) return;
    note({ 'ended-tokens': await tx.macaroons.endAll(id, { at: endTokensAt, actor, issuedBefore: null }) });
  },
});

/**
 * A person with the password and the browser of an account may not be its owner, so changes from its own login count as
 * changes by another person.
 */
const ownLoginActor = 'a login of its own';

export const expiredLinkRefusal = (): Refusal =>
  new Refusal('login-expired', 'This link has expired or was used. Ask an administrator of the store for a new one.');

export const rehashPassword = act({
  name: 'rehash_password',
  summary: 'Hash a password again with the current parameters.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'the password stays the same' },

  /** `before` is the hash that the password was verified against. Does nothing if the password was changed since. */
  async perform(tx, { id, before, hash }: AccountTarget & { before: string; hash: string }): Promise<void> {
    await tx.passwords.rehash(id, before, hash);
  },
});

export const setTotpSecret = act({
  name: 'set_account_totp',
  summary: 'Turn one-time passwords on or off for an account.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'the approvals of a changed account do not count for three days' },

  /**
   * `secret` is the sealed secret of the one-time passwords, or null to turn them off. `recovery` has the digests of
   * recovery codes.
   */
  async perform(tx, { id, secret, replace, recovery = [] }: NewTotpSecret, doing): Promise<void> {
    if (secret === null) doing.note({ removed: true });
    const { username } = await requireAccount(tx, id);
    if (secret === null) await removeTotp(tx, { id, username });
    else {
      if (!replace && (await tx.totpSecrets.find(id)) !== undefined) {
        const hint = 'use --replace for a new secret, or --remove to turn them off.';
        throw new Refusal('conflict', `The account ${id} (${username}) uses one-time passwords already; ${hint}`);
      }
      await tx.totpSecrets.set(id, secret, doing.at);
      await tx.totpSecrets.setRecovery(id, recovery);
    }
    await markTouched(tx, id, doing);
  },
});

interface NewTotpSecret extends AccountTarget {
  secret: string | null;
  replace: boolean;
  recovery?: readonly string[];
}

export const switchOnTotp = act({
  name: 'switch_on_totp',
  summary:
    'Turn on one-time passwords for your own account; a first code proves that the authenticator has the secret.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'it changes only the login of the same account' },

  /**
   * `secret` is sealed. `step` is the time step of the first code, which cannot be used again. `recovery` has digests.
   */
  async perform(tx, { id, secret, step, recovery }: TotpActivation, { at, action }): Promise<void> {
    await requireAccount(tx, id);
    if ((await tx.totpSecrets.find(id)) !== undefined) {
      throw new Refusal('conflict', 'You use one-time passwords already. Switch them off first.');
    }
    await tx.totpSecrets.set(id, secret, at);
    await tx.totpSecrets.setRecovery(id, recovery);
    if (!(await tx.totpSecrets.use(id, step))) throw wrongCode();
    await markTouched(tx, id, { at, actor: ownLoginActor, action });
  },
});

interface TotpActivation extends AccountTarget {
  secret: string;
  step: number;
  recovery: readonly string[];
}

export const renewRecoveryCodes = act({
  name: 'renew_recovery_codes',
  summary: 'Replace your own recovery codes; a one-time password must be proven first.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'it changes only the login of the same account' },

  /** `recovery` is the list of the digests of the new recovery codes. */
  async perform(tx, { id, recovery }: AccountTarget & { recovery: readonly string[] }, { at, action }): Promise<void> {
    const { username } = await requireAccount(tx, id);
    if ((await tx.totpSecrets.find(id)) === undefined) throw noTotp({ id, username });
    await tx.totpSecrets.setRecovery(id, recovery);
    await markTouched(tx, id, { at, actor: ownLoginActor, action });
  },
});

export const switchOffTotp = act({
  name: 'switch_off_totp',
  summary: 'Turn off one-time passwords for your own account; a one-time password must be proven first.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'it changes only the login of the same account' },

  async perform(tx, { id }: AccountTarget, { at, action }): Promise<void> {
    const { username } = await requireAccount(tx, id);
    await removeTotp(tx, { id, username });
    await markTouched(tx, id, { at, actor: ownLoginActor, action });
  },
});

async function removeTotp(
  { totpSecrets }: ChangeRecords,
  { id, username }: { id: string; username: string },
): Promise<void> {
  if (await totpSecrets.remove(id)) return;
  throw noTotp({ id, username });
}

const noTotp = ({ id, username }: { id: string; username: string }): Refusal =>
  new Refusal('resource-not-found', `The account ${id} (${username}) does not use one-time passwords.`);

export const changeCredential = act({
  name: 'issue_admin_credential',
  summary: 'Make a new credential for a store administrator; it replaces the old one, or both are valid.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'the credential is in the configuration; the records only note that it was made' },

  async perform(tx, { id, digest, added }: AccountTarget & { digest: string; added: boolean }, doing): Promise<void> {
    doing.note({ digest, added });
    await requireAccount(tx, id);
    if (!(await tx.accounts.isStoreAdministrator(id))) {
      throw new Refusal(
        'conflict',
        `${id} is not a store administrator; make it one with 'larder account role ${id} store-admin'`,
      );
    }
    await markTouched(tx, id, doing);
  },
});
