// Describes the permissions of a token in plain words, for the login page.
import type { Permission } from '#domain/tokens/permission.ts';

const words: Record<Permission, string> = {
  'account-manage-keys': 'manage signing keys',
  'account-manage-metadata': 'manage brands and models',
  'account-register-package': 'register and unregister package names',
  'account-view-packages': 'list your packages',
  'package-manage': 'change your packages in every way',
  'package-manage-acl': 'invite and remove collaborators',
  'package-manage-metadata': 'change the metadata of your packages',
  'package-manage-releases': 'release your packages',
  'package-manage-revisions': 'upload new revisions of your packages',
  'package-view': 'see everything about your packages',
  'package-view-acl': 'see the collaborators on your packages',
  'package-view-metadata': 'see the metadata of your packages',
  'package-view-metrics': 'see how your packages are used',
  'package-view-releases': 'see the releases of your packages',
  'package-view-revisions': 'see the revisions of your packages',
  'store-manage': 'administer the store',
  'store-view': 'see everything in the store',
};

/** A list of permissions as a phrase; null means all permissions. */
export function describePermissions(permissions: readonly string[] | null): string {
  if (permissions === null) return 'do everything that you may do';
  const phrases = permissions.map((permission) =>
    Object.hasOwn(words, permission) ? words[permission as Permission] : permission,
  );
  const last = phrases.pop();
  if (last === undefined) return 'only confirm who you are';
  return phrases.length === 0 ? last : `${phrases.join(', ')} and ${last}`;
}
