import type { HeldRevision, StoreAccount, StorePackage } from '#contract/wire.ts';
import type { Account, HeldRoles } from '#records/accounts/accounts.ts';
import type { InventoryAccount, InventoryPackage } from '#records/packages/inventory.ts';
import type { Release } from '#records/releases/releases.ts';

/** A package, for administrators. */
export const presentStorePackage = (row: InventoryPackage): StorePackage => ({
  id: row.id,
  namespace: row.namespace,
  name: row.name,
  type: row.type,
  private: row.private === 1,
  status: row.status,
  publisher: { id: row.publisherId, username: row.username },
  'created-at': row.createdAt,
  'released-at': row.releasedAt,
  revisions: row.revisions,
  bytes: row.bytes,
});

/** An account with its properties and the number of its packages. */
export const presentStoreAccount = (account: InventoryAccount): StoreAccount => ({
  ...presentWholeAccount(account),
  packages: account.packages,
});

/** An account with its properties, for administrators. */
export const presentWholeAccount = (
  account: Account & Partial<HeldRoles> & { roles: readonly string[]; disabledAt?: string | null },
): Omit<StoreAccount, 'packages'> => ({
  id: account.id,
  username: account.username,
  'display-name': account.displayName,
  email: account.email,
  validation: account.validation,
  'created-at': account.createdAt,
  'disabled-at': account.disabledAt ?? null,
  roles: [...account.roles],
  ...(account.groupRoles !== undefined && account.groupRoles.length > 0 && { 'group-roles': account.groupRoles }),
});

/** The content of a slot of a channel. */
export const presentHeldRevision = (release: Release, version: string | null): HeldRevision => ({
  channel: release.channel,
  for: release.slot,
  revision: release.revision,
  version,
  progressive: release.progressive,
  when: release.releasedAt,
  'expires-at': release.expiresAt,
});
