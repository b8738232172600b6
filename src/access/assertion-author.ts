// The accounts that a caller may sign assertions for: its own, and the brands that it administers.
import { parseAssertion } from '#assertions/format/assertion.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Access } from './access-rules.ts';

/** The accounts that the caller may read and sign assertions for, and the snaps that they may name. */
export interface AssertionAuthorEvidence {
  principal: Principal;
  /** The account itself, and the brands that it administers. */
  accounts(): Promise<string[]>;
  /** Refuses an account that is not among `accounts`. */
  refuseForeign(accountId: string): Promise<void>;
  /** The id of a snap with this name, if it is known here and the account may know it. */
  idOfSnap(name: string): Promise<string | undefined>;
}

/** Admits any account, for itself and for the brands that it administers. */
export const assertionAuthor: Access<AssertionAuthorEvidence> = {
  about: 'store',
  permissions: [],
  who: 'any account',
  async admit({ authenticate, records }) {
    const principal = await authenticate();
    const own = principal.accountId;
    return {
      principal,
      accounts: async () => [own, ...(await records.brands.administeredBy(own)).filter((id) => id !== own)],
      async refuseForeign(accountId) {
        if (await records.brands.isAdministrator(accountId, own)) return;
        throw new Refusal(
          'forbidden',
          `You can build and post assertions only for your own account, ${own}, or for a brand that you administer, and '${accountId.slice(0, 64)}' is neither.`,
        );
      },
      idOfSnap: (name) => idOfSnap(name, own, records),
    };
  },
};

async function idOfSnap(name: string, accountId: string, records: StoreRecords): Promise<string | undefined> {
  const snap = await records.packages.find('snap', name);
  if (snap !== undefined) {
    const { id, private: hidden, publisherId } = snap;
    if (!hidden || publisherId === accountId || (await records.collaborators.has(id, accountId))) return id;
  }
  const [declaration] = await records.assertions.ofSnap(name);
  return declaration && (parseAssertion(declaration.text).headers['snap-id'] as string);
}
