// Presenters that several sections share: accounts, and the selection of members.
import type { Account } from '#contract/wire.ts';
import type { Principal } from '#domain/tokens/principal.ts';

/** The public form of an account. */
export const presentAccount = (account: {
  id: string;
  username: string;
  displayName: string;
  email: string;
  validation: string;
}): Account => ({
  'display-name': account.displayName,
  email: account.email,
  id: account.id,
  username: account.username,
  validation: account.validation,
});

/** The account that a token stands for. */
export const presentPrincipal = ({ accountId: id, username, displayName, email, validation }: Principal): Account =>
  presentAccount({ id, username, displayName, email, validation });

/** Parses a comma-separated list of members; an absent or empty list selects all. */
export function membersIn(fields: string | undefined): { has(name: string): boolean; isAll: boolean } {
  const names = new Set(fields?.split(',').map((name) => name.trim()));
  names.delete('');
  return { has: (name) => names.size === 0 || names.has(name), isAll: names.size === 0 };
}

/** The selected members of an object; unknown names are ignored. */
export function pick<Shown extends object>(shown: Shown, members: ReturnType<typeof membersIn>): Shown {
  if (members.isAll) return shown;
  // A loop, because lists can have a thousand entries: building arrays of members takes a tenth of such a response.
  const picked: Partial<Shown> = {};
  for (const name in shown) if (members.has(name)) picked[name] = shown[name];
  return picked as Shown;
}
