// Reads the claims of a person: the data of a new account, and the groups.
import { displayNameProblem, emailAddress, usernameProblem } from '#domain/accounts/account.ts';
import { Refusal } from '#domain/refusal.ts';
import type { OidcSettings } from '#configuration/config.ts';
import type { NewAccount } from '#acts/accounts/accounts.ts';

type Claims = Readonly<Record<string, unknown>>;

/** The data of a new account. Refuses claims that no account can have. */
export function readAccountDetails(
  claims: Claims,
  { username_claim: usernameClaim }: Pick<OidcSettings, 'username_claim'>,
): Pick<NewAccount, 'username' | 'displayName' | 'email'> {
  const username = toUsername(claims[usernameClaim]);
  if (username === undefined) throw unusable(usernameClaim, 'a user name');
  const email = typeof claims['email'] === 'string' ? emailAddress(claims['email']) : undefined;
  if (email === undefined || claims['email_verified'] === false) throw unusable('email', 'a verified e-mail address');
  const { name } = claims;
  const displayName = typeof name === 'string' && displayNameProblem(name) === undefined ? name.trim() : username;
  return { username, displayName, email };
}

/** The groups of a person. Refuses a claim of another form, because its roles would be lost unnoticed. */
export function readGroups(
  claims: Claims,
  { groups_claim: groupsClaim }: Pick<OidcSettings, 'groups_claim'>,
): ReadonlySet<string> {
  const groups = claims[groupsClaim] ?? [];
  const list: unknown = typeof groups === 'string' ? [groups] : groups;
  if (!Array.isArray(list) || !list.every((group) => typeof group === 'string'))
    throw unusable(groupsClaim, 'a list of groups');
  return new Set(list);
}

/** A claim as a valid user name: in lower case, without the domain of an e-mail address, with a dash for all other characters. */
function toUsername(claim: unknown): string | undefined {
  if (typeof claim !== 'string' || claim.length > 320) return undefined;
  const name = claim.normalize('NFKD').toLowerCase().split('@')[0] ?? '';
  const written = name
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9._+-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '');
  const username = written.slice(0, written.search(/[^a-z0-9]*$/));
  return usernameProblem(username) === undefined ? username : undefined;
}

const unusable = (claim: string, expected: string): Refusal =>
  new Refusal(
    'invalid-credentials',
    `The OpenID provider sends no claim '${claim}' with ${expected}. An administrator can change that at the provider, or ` +
      'choose another claim in [identity.oidc] of larder.toml.',
  );
