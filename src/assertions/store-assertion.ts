// The assertion of this store, by which devices know where it is.
import type { Assertion } from './assertion.ts';

/** Said where it is not kept. */
export const storeAssertionMissing = (id: string): string =>
  `The store assertion of '${id}' is not here: the online store signs it, and 'larder assertion import' takes it in.`;

/** The address that a store assertion names; nothing where it names none. */
export function addressIn({ headers: { url } }: Assertion): URL | undefined {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
}

/** Whether devices that believe it come to this address. */
export const leadsTo = (assertion: Assertion, baseUrl: string): boolean =>
  addressIn(assertion)?.href === new URL(baseUrl).href;
