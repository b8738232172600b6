// Changes an account's own password and one-time passwords, after the account has proven its credentials again.
import { changeOwnPassword, renewRecoveryCodes, switchOffTotp, switchOnTotp } from '#acts/accounts/credentials.ts';
import { wrongCode } from '#acts/login/logins.ts';
import type {
  SessionContext,
  RepeatedCredentials,
  Logins,
  OwnCredentials,
  ProvenAccount,
} from '#http/identity-provider.ts';
import { minutes } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { ReauthenticationRequired } from '#domain/tokens/reauthentication.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import type { Account } from '#records/accounts/accounts.ts';
import { totpPurpose, type LoginOptions } from '../login/logins.ts';
import { passwordProblem } from './passwords.ts';
import { newRecoveryCodes, recoveryDigests } from './recovery-codes.ts';
import { newTotpSecret, stepOf, totpAddress } from './totp.ts';

interface OwnCredentialsOptions extends LoginOptions {
  logins: Pick<Logins, 'checkPassword' | 'finish'>;
  requiresTotp: () => boolean;
  /** How long a repeated proof counts before acts. */
  proofMinutes: () => number;
}

export function createOwnCredentials(options: OwnCredentialsOptions): OwnCredentials {
  const { records, acts, passwords, siteKey, now, logins, requiresTotp, host } = options;

  const provePassword = async (accountId: string, again: RepeatedCredentials): Promise<ProvenAccount> => {
    const name = (await records.accounts.find(accountId))?.username ?? '';
    const { account } = await logins.checkPassword({ ...again, name, acknowledged: true });
    if (account.id !== accountId) throw new Refusal('conflict', 'Your account was renamed. Log in again.');
    return account;
  };
  const prove = async (accountId: string, again: RepeatedCredentials): Promise<ProvenAccount> => {
    const account = await provePassword(accountId, again);
    await logins.finish(account, { ...again, name: account.username });
    return account;
  };
  const shown = (secret: Buffer, account: Account, about: SessionContext) => ({
    ...totpAddress(secret, account.username, host()),
    proposal: seal(siteKey, secret, proposalFor(account, about)),
  });

  return {
    provePassword,
    prove,

    proveBeforeAct: (accountId, again) => proveBeforeAct(options, prove, accountId, again),

    async changePassword(account, password, { endTokensAt, ...about }) {
      const problem = passwordProblem(password, account, host());
      if (problem !== undefined) throw new Refusal('api-error', problem);
      const hash = await passwords.hash(password);
      const input = { id: account.id, provenAt: account.passwordSetAt, hash, endTokensAt };
      await acts.do(changeOwnPassword, { actor: account.id, ...about }, input);
    },

    async proposeTotp(account, about) {
      if ((await records.totpSecrets.find(account.id)) !== undefined) {
        throw new Refusal('conflict', 'One-time passwords are already turned on. Turn them off first.');
      }
      return shown(newTotpSecret(), account, about);
    },

    proposedTotp: (account, proposal, about) =>
      shown(opened(siteKey, proposal, proposalFor(account, about)), account, about),

    async switchOnTotp(account, { proposal, code }, about) {
      const secret = opened(siteKey, proposal, proposalFor(account, about));
      const step = stepOf(secret, code, now());
      if (step === undefined) throw wrongCode();
      const sealed = seal(siteKey, secret, totpPurpose(account.id));
      const codes = newRecoveryCodes();
      const recovery = recoveryDigests(siteKey, account.id, codes);
      await acts.do(switchOnTotp, { actor: account.id, ...about }, { id: account.id, secret: sealed, step, recovery });
      return codes;
    },

    async renewRecoveryCodes(account, about) {
      const codes = newRecoveryCodes();
      const recovery = recoveryDigests(siteKey, account.id, codes);
      await acts.do(renewRecoveryCodes, { actor: account.id, ...about }, { id: account.id, recovery });
      return codes;
    },

    async switchOffTotp(account, about) {
      if (requiresTotp() && (await records.accounts.isStoreAdministrator(account.id))) {
        throw new Refusal('conflict', 'Administrators here need one-time passwords, so you cannot turn them off.');
      }
      await acts.do(switchOffTotp, { actor: account.id, ...about }, { id: account.id });
    },
  };
}

/** Demands the password of the account or, if it has none, a recent login with the OpenID provider. */
async function proveBeforeAct(
  { records, now, proofMinutes }: Pick<OwnCredentialsOptions, 'records' | 'now' | 'proofMinutes'>,
  prove: OwnCredentials['prove'],
  accountId: string,
  again: RepeatedCredentials,
): Promise<void> {
  const hasPassword = (await records.passwords.find(accountId)) !== undefined;
  if (hasPassword || (await records.openidIdentities.of(accountId)) === undefined) {
    await prove(accountId, again);
    return;
  }
  const { sessionId } = again;
  const provenAt = sessionId && (await records.macaroons.provenAgainAt(sessionId));
  const isRecent = provenAt && now().getTime() - Date.parse(provenAt) < minutes(proofMinutes());
  if (isRecent !== true) throw new ReauthenticationRequired(proofMinutes());
}

/** A proposed secret is valid only in the session that received it and for the account that was logged in. */
const proposalFor = ({ id }: Account, { sessionId }: SessionContext): string =>
  `proposed one-time passwords of ${id} in ${sessionId}`;

function opened(siteKey: Buffer, proposal: string, purpose: string): Buffer {
  try {
    return unseal(siteKey, proposal, purpose);
  } catch {
    throw new Refusal('conflict', 'This secret belongs to a login that has ended. Start again.');
  }
}
