// Describes the permissions of a token in plain words, for the login page.
import type { Permission } from '#domain/permission.ts';

const words: Record<Permission, string> = {
  'account-manage-keys': 'manage signing keys',
  'account-manage-metadata': 'manage brands and models',
  'account-register-package': 'register and give up package names',
  'account-view-packages': 'list your packages',
  'package-manage': 'change your packages in every way',
  'package-manage-acl': 'invite and remove collaborators',
  'package-manage-metadata': 'change what is said about your packages',
  'package-manage-releases': 'release your packages',
  'package-manage-revisions': 'upload new revisions of your packages',
  'package-view': 'see everything about your packages',
  'package-view-acl': 'see the collaborators on your packages',
  'package-view-metadata': 'see what is said about your packages',
  'package-view-metrics': 'see how your packages are used',
  'package-view-releases': 'see the releases of your packages',
  'package-view-revisions': 'see the revisions of your packages',
  'store-manage': 'administer the store',
  'store-view': 'see everything in the store',
};

/** A list of permissions as a phrase; null means all permissions. */
export function inPlainWords(permissions: readonly string[] | null): string {
  if (permissions === null) return 'do everything that you may do';
  const said = permissions.map((one) => (Object.hasOwn(words, one) ? words[one as Permission] : one));
  const last = said.pop();
  if (last === undefined) return 'do nothing but say who you are';
  return said.length === 0 ? last : `${said.join(', ')} and ${last}`;
}
