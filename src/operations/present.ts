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
  if (fields === undefined) return shown; // lists of a thousand come by here
  const names = fields.split(',').map((name) => name.trim());
  if (names.every((name) => name === '')) return shown;
  return Object.fromEntries(Object.entries(shown).filter(([name]) => names.includes(name))) as Shown;
}
