import { Refusal } from '#domain/refusal.ts';
import { plainRoles, readRole, type AccountRole } from '#domain/accounts/role.ts';

/** Parses the role that a request names. */
export function parseRole(text: string): AccountRole {
  const role = readRole(text);
  if (role !== undefined) return role;
  throw new Refusal(
    'api-error',
    `The role is ${plainRoles.join(', ')} or brand-admin:BRAND with the account id of the brand, not '${text.slice(0, 64)}' at /role`,
  );
}
