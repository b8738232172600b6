// How accounts are shown by commands.
import type { Account } from '#records/accounts.ts';

export const presentAccount = (account: Account & { roles: readonly string[]; disabledAt?: string | null }) => ({
  id: account.id,
  username: account.username,
  'display-name': account.displayName,
  email: account.email,
  validation: account.validation,
  'created-at': account.createdAt,
  roles: account.roles,
  'disabled-at': account.disabledAt ?? null,
});
