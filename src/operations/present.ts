// What several sections present: accounts, and a choice of members.
import type { Account } from '#api/wire.ts';

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

/** The members that a comma-separated list names, unknown names left aside; an absent or empty list means all. */
export function pick<Shown extends object>(shown: Shown, fields: string | undefined): Shown {
  const names = (fields ?? '').split(',').map((name) => name.trim());
  const chosen = Object.entries(shown).filter(([name]) => names.includes(name));
  return names.every((name) => name === '') ? shown : (Object.fromEntries(chosen) as Shown);
}
