// Permissions: the rights of a token, and which of them imply others.

export const permissions = [
  'account-manage-keys',
  'account-manage-metadata',
  'account-register-package',
  'account-view-packages',
  'package-manage',
  'package-manage-acl',
  'package-manage-metadata',
  'package-manage-releases',
  'package-manage-revisions',
  'package-view',
  'package-view-acl',
  'package-view-metadata',
  'package-view-metrics',
  'package-view-releases',
  'package-view-revisions',
  'store-manage',
  'store-view',
] as const;

export type Permission = (typeof permissions)[number];

export const isPermission = (text: unknown): text is Permission => permissions.includes(text as Permission);

/**
 * Whether a token's permissions include the required permission. `null` is an unrestricted token; an empty list grants
 * nothing. `package-manage` and `package-view` imply the permissions that begin with them. Managing does not imply
 * viewing.
 */
export function grants(held: readonly Permission[] | null, needed: Permission): boolean {
  if (held === null || held.includes(needed)) return true;
  if (needed.startsWith('package-manage-')) return held.includes('package-manage');
  return needed.startsWith('package-view-') && held.includes('package-view');
}

/** The permission that a store administrator's token needs in place of another permission. */
export const storePermission = (needed: Permission): 'store-view' | 'store-manage' =>
  needed.includes('-view') ? 'store-view' : 'store-manage';
