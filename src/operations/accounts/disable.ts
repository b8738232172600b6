// Letting an account in no more: what an operation and a command on the host have in common.
import type { Changes } from '#records/index.ts';
import { refuseLastAdministrator } from './last-administrator.ts';

/**
 * Disables an account, and voids its link to set a password. With `endTokens` its tokens stay ended when it is enabled
 * again; how many that ended, else undefined.
 */
export async function disable(
  tx: Changes,
  id: string,
  { at, by, endTokens }: { at: string; by: string; endTokens: boolean },
): Promise<number | undefined> {
  await refuseLastAdministrator(tx, id);
  await tx.accounts.disable(id, at);
  await tx.setUpLinks.removeOf(id);
  return endTokens ? tx.macaroons.endAll(id, { at, by, issuedBefore: null }) : undefined;
}
