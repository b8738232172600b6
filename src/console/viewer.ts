// The reader of a page, as far as it decides the visible content.
import type { HandlerRecords } from '#http/handler-records.ts';
import type { Principal } from '#domain/tokens/principal.ts';

export interface Viewer {
  name: string;
  /** Whether they administer the store. */
  administers: boolean;
  /** Whether they may see everything that happens in the store: an administrator, an auditor, or a transfer approver. */
  oversees: boolean;
  /** `store-admin`, `auditor`, `transfer-approver`, `brand-admin:<brand>`. */
  roles: readonly string[];
}

export async function viewerOf(
  { accountId, username, displayName, storeAdministrator: administers }: Principal,
  { accounts }: Pick<HandlerRecords, 'accounts'>,
): Promise<Viewer> {
  const roles = await accounts.rolesOf(accountId);
  const oversees = administers || roles.includes('auditor') || roles.includes('transfer-approver');
  return { name: displayName === '' ? username : displayName, administers, oversees, roles };
}
