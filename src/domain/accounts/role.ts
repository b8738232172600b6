// Roles: rights of an account beside those of a publisher.

/** The roles without a parameter. */
export const plainRoles = ['store-admin', 'transfer-approver', 'auditor'] as const;

/** `brand-admin:` is followed by the account id of the brand. */
export type AccountRole = (typeof plainRoles)[number] | `brand-admin:${string}`;

/** Whether an account with these roles may log in only with a client certificate. */
export const demandsCertificate = (roles: readonly string[], certificateRoles: readonly string[]): boolean =>
  roles.some((role) => certificateRoles.includes(role));

/** Parses a role; undefined for any other text. */
export function readRole(text: string): AccountRole | undefined {
  const plain = plainRoles.find((role) => role === text);
  if (plain !== undefined) return plain;
  const [kind, brand] = text.split(/:(.*)/s);
  return kind === 'brand-admin' && brand ? `brand-admin:${brand}` : undefined;
}
