import type { HeldRevision, StoreAccount, StorePackage } from '#api/wire.ts';
import type { Account } from '#records/accounts.ts';
import type { InventoryAccount, InventoryPackage } from '#records/inventory.ts';
import type { Release } from '#records/releases.ts';

/** A package, for administrators. */
export const presentStorePackage = (one: InventoryPackage): StorePackage => ({
  id: one.id,
  namespace: one.namespace,
  name: one.name,
  type: one.type,
  private: one.private === 1,
  status: one.status,
  publisher: { id: one.publisherId, username: one.username },
  'created-at': one.createdAt,
  'released-at': one.releasedAt,
  revisions: one.revisions,
  bytes: one.bytes,
});

/** An account with its properties and the number of its packages. */
export const presentStoreAccount = (account: InventoryAccount): StoreAccount => ({
  ...presentWholeAccount(account),
  packages: account.packages,
});

/** An account with its properties, for administrators. */
export const presentWholeAccount = (
  account: Account & { roles: readonly string[]; disabledAt?: string | null },
): Omit<StoreAccount, 'packages'> => ({
  id: account.id,
  username: account.username,
  'display-name': account.displayName,
  email: account.email,
  validation: account.validation,
  'created-at': account.createdAt,
  'disabled-at': account.disabledAt ?? null,
  roles: [...account.roles],
});

/** The content of a slot of a channel. */
export const presentHeld = (release: Release, version: string | null): HeldRevision => ({
  channel: release.channel,
  for: release.slot,
  revision: release.revision,
  version,
  progressive: release.progressive,
  when: release.releasedAt,
  'expires-at': release.expiresAt,
});
