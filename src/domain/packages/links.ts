// Checks the links of a package. Clients show them as links, so a browser must not execute one.
import { Refusal } from '../refusal.ts';

/** Refuses links that are not addresses, or that a browser would execute. `links` has them by kind. */
export function refuseBadLinks(links: Readonly<Record<string, readonly string[]>>): void {
  for (const kind of ['contact', 'website']) refuseBadAddresses(kind, links[kind] ?? []);
  for (const [kind, list] of Object.entries(links)) refuseWhatRuns(kind, list);
}

/** The links that are shown beside the package's name must be addresses. */
function refuseBadAddresses(kind: string, links: readonly string[]): void {
  for (const link of links) {
    // The URL parser repairs errors that clients fail on: surrounding spaces, missing slashes, line breaks.
    if (/^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(link) && URL.canParse(link)) continue;
    throw new Refusal(
      'api-error',
      `The ${kind} '${link.slice(0, 100)}' is not an address that begins with https://, http:// or mailto:.`,
    );
  }
}

/** Schemes that a browser executes or reads locally. */
const run = new Set(['javascript:', 'vbscript:', 'data:', 'blob:', 'file:', 'filesystem:', 'view-source:']);

/** Links of other kinds may be any text, except an address that a browser would execute. */
function refuseWhatRuns(kind: string, links: readonly string[]): void {
  for (const [at, link] of links.entries()) {
    const address = URL.parse(link);
    if (address === null || !run.has(address.protocol)) continue;
    throw new Refusal(
      'api-error',
      `'${link.slice(0, 100)}' is not a web address and may be run by a browser. Use an address that begins with https:// at /links/${kind}/${at}`,
    );
  }
}
