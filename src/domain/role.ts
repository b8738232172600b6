// Roles: what an account may be beside a publisher.

/** The roles that are given by their names alone. */
export const plainRoles = ['store-admin', 'transfer-approver', 'auditor'] as const;

/** `brand-admin:` is followed by the account id of the brand. */
export type Role = (typeof plainRoles)[number] | `brand-admin:${string}`;

/** The role that a text names; nothing where it names none. */
export function readRole(text: string): Role | undefined {
  const plain = plainRoles.find((one) => one === text);
  if (plain !== undefined) return plain;
  const [kind, brand] = text.split(/:(.*)/s);
  return kind === 'brand-admin' && brand ? `brand-admin:${brand}` : undefined;
}
