// Asks the OpenID provider again whether it confirms the accounts that have logged in with it, and gives them the roles of their groups.
import { expireGroupRoles, changeGroupRoles, type RoleOfGroup } from '#acts/accounts/group-roles.ts';
import { endOpenidSessions } from '#acts/accounts/openid-identities.ts';
import { itself, type Acts } from '#acts/act.ts';
import type { OidcSettings } from '#configuration/config.ts';
import { readRole } from '#domain/accounts/role.ts';
import { after, days, timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import type { StoreRecords } from '#records/index.ts';
import type { OpenidConfirmation, RefreshableConfirmation, RenewalOutcome } from '#records/login/openid-logins.ts';
import { readGroups } from './claims.ts';
import { LoginNotConfirmed, type ConfirmedPerson, type OpenidProvider } from './provider.ts';
import { ProviderUnavailable } from './provider-requests.ts';

export interface ConfirmationOptions {
  records: StoreRecords;
  acts: Acts;
  siteKey: Buffer;
  now: Now;
  settings: () => OidcSettings;
  provider: OpenidProvider;
}

export interface Confirmations {
  /** Records a confirmation of an account, with the roles of its groups. */
  accept(accountId: string, person: ConfirmedPerson): Promise<void>;
  /** Ends the sessions of a person and suspends the roles of their groups: the provider has logged them out everywhere. */
  end(issuer: string, subject: string): Promise<void>;
  /** Asks the provider about an account again. Sessions and roles end if it does not confirm it. */
  renew(confirmation: RefreshableConfirmation): Promise<RenewalOutcome>;
}

/** How long a refresh token is tried. */
const confirmationLife = days(30);
/** A longer refresh token is not stored. */
const maxRefreshToken = 8192;

export function createConfirmations({
  records,
  acts,
  siteKey,
  now,
  settings,
  provider,
}: ConfirmationOptions): Confirmations {
  const accept: Confirmations['accept'] = async (accountId, person) => {
    const roles = rolesOfGroups(readGroups(person.claims, settings()), settings());
    await acts.do(changeGroupRoles, itself, { id: accountId, roles });
    const sealed = isStored(person)
      ? seal(siteKey, Buffer.from(person.refreshToken ?? ''), purposeFor(accountId))
      : null;
    const [confirmedAt, endsAt] = [timestamp(now()), timestamp(after(now(), confirmationLife))];
    await records.ephemeral((tx) => tx.openidLogins.confirm({ accountId, refreshToken: sealed, confirmedAt, endsAt }));
  };

  const confirmAgain = async ({ accountId, refreshToken }: RefreshableConfirmation) => {
    const identity = await records.openidIdentities.of(accountId);
    if (identity === undefined || identity.issuer !== settings().issuer) return undefined;
    const token = unseal(siteKey, refreshToken, purposeFor(accountId)).toString();
    const person = await provider.refresh(token, identity.subject);
    // A provider that does not rotate the token sends none.
    return person && { ...person, refreshToken: person.refreshToken ?? token };
  };

  const end = async ({ accountId, confirmedAt }: Pick<OpenidConfirmation, 'accountId' | 'confirmedAt'>) => {
    const sessions = await records.openidLogins.sessionsOf(accountId);
    await acts.do(endOpenidSessions, itself, { id: accountId, sessions });
    await acts.do(expireGroupRoles, itself, { id: accountId });
    await records.ephemeral((tx) => tx.openidLogins.endConfirmation({ accountId, confirmedAt }));
  };

  return {
    accept,

    async end(issuer, subject) {
      const accountId = (await records.openidIdentities.find(issuer, subject))?.accountId;
      if (accountId === undefined) return;
      const confirmation = await records.openidLogins.confirmation(accountId);
      await end({ accountId, confirmedAt: confirmation?.confirmedAt ?? '' });
    },

    async renew(confirmation) {
      const { accountId } = confirmation;
      try {
        const person = await confirmAgain(confirmation);
        if (person !== undefined) {
          await accept(accountId, person);
          return 'confirmed';
        }
      } catch (error) {
        if (error instanceof ProviderUnavailable) return 'unavailable';
        if (error instanceof LoginNotConfirmed || error instanceof Refusal) return 'unreadable';
        throw error;
      }
      await end(confirmation);
      return 'ended';
    },
  };
}

/** Whether a login can be confirmed again in the background. */
export const isStored = ({ refreshToken }: ConfirmedPerson): boolean =>
  refreshToken !== undefined && refreshToken.length <= maxRefreshToken;

const purposeFor = (accountId: string): string => `refresh token of ${accountId}`;

/** The roles that the configuration gives to these groups, each once. */
export function rolesOfGroups(groups: ReadonlySet<string>, { roles }: Pick<OidcSettings, 'roles'>): RoleOfGroup[] {
  const byName = new Map<string, RoleOfGroup>();
  for (const [group, names] of Object.entries(roles)) {
    if (!groups.has(group)) continue;
    for (const name of names) {
      const role = readRole(name);
      if (role !== undefined && !byName.has(name)) byName.set(name, { role, group });
    }
  }
  return [...byName.values()];
}
