// Reads the store assertion, which tells devices the address of this store.
import type { Assertion } from './format/assertion.ts';

/** Error text if the store assertion is missing. */
export const storeAssertionMissing = (id: string): string =>
  `The store assertion of '${id}' is not stored here. The online store signs it; import it with 'larder assertion import'.`;

/** Returns the address in a store assertion; undefined if it has none. */
export function addressIn({ headers: { url } }: Assertion): URL | undefined {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
}

/** Returns whether the assertion directs devices to this address. */
export const leadsTo = (assertion: Assertion, baseUrl: string): boolean =>
  addressIn(assertion)?.href === new URL(baseUrl).href;
