// Who looks at a page, as far as it decides what there is to be seen.
import type { HandlerRecords } from '#api/handler-records.ts';
import type { Principal } from '#domain/principal.ts';

export interface Viewer {
  name: string;
  /** Whether he administers the store. */
  administers: boolean;
  /** Whether he may look at all that happens in it: an administrator, an auditor, somebody who approves of transfers. */
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
