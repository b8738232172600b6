// Somebody always administers the store.
import { Refusal } from '#domain/refusal.ts';
import type { Changes } from '#records/index.ts';

/** Refuses to shut out, or to demote, the only store administrator who is let in. */
export async function refuseLastAdministrator({ accounts }: Pick<Changes, 'accounts'>, id: string): Promise<void> {
  if (!(await accounts.isStoreAdministrator(id)) || (await accounts.isOtherAdministrator(id))) return;
  throw new Refusal(
    'conflict',
    `The account '${id}' is the only store administrator who is let in; make another one first: ` +
      "'larder account role ID store-admin'.",
  );
}
