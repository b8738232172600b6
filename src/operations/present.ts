// What several sections present: accounts, and a choice of members.
import type { Account } from '#api/wire.ts';
import type { Principal } from '#domain/principal.ts';

/** An account as others see it. */
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

/** Of which members a comma-separated list is; an absent or empty one is of all. */
export function membersIn(fields: string | undefined): { has(name: string): boolean; isAll: boolean } {
  const names = new Set(fields?.split(',').map((name) => name.trim()));
  names.delete('');
  return { has: (name) => names.size === 0 || names.has(name), isAll: names.size === 0 };
}

/** These members of what is shown; unknown names are left aside. */
export function pick<Shown extends object>(shown: Shown, members: ReturnType<typeof membersIn>): Shown {
  if (members.isAll) return shown;
  // Lists of a thousand come by here: to make lists of the members first costs a tenth of such an answer.
  const picked: Partial<Shown> = {};
  for (const name in shown) if (members.has(name)) picked[name] = shown[name];
  return picked as Shown;
}
