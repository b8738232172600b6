// Where a package's links may lead: whoever shows them makes links of them, and a browser must not run one.
import { Refusal } from './refusal.ts';

/** Refuses a link that is no address, or that does something else than lead somewhere; links by their kind. */
export function refuseBadLinks(links: Readonly<Record<string, readonly string[]>>): void {
  for (const kind of ['contact', 'website']) refuseBadAddresses(kind, links[kind] ?? []);
  for (const [kind, list] of Object.entries(links)) refuseWhatRuns(kind, list);
}

/** What stands beside a package's name everywhere must be an address. */
function refuseBadAddresses(kind: string, links: readonly string[]): void {
  for (const link of links) {
    // The parser of URLs mends what clients stumble over: spaces around, missing slashes, line ends within.
    if (/^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(link) && URL.canParse(link)) continue;
    throw new Refusal(
      'api-error',
      `The ${kind} '${link.slice(0, 100)}' is not an address that begins with https://, http:// or mailto:.`,
    );
  }
}

/** What a browser runs, or reads on its own machine, instead of going there. */
const run = new Set(['javascript:', 'vbscript:', 'data:', 'blob:', 'file:', 'filesystem:', 'view-source:']);

/** Links of the other kinds may be any text; but none that does something else than lead somewhere when it is shown as a link. */
function refuseWhatRuns(kind: string, links: readonly string[]): void {
  for (const [at, link] of links.entries()) {
    const address = URL.parse(link);
    if (address === null || !run.has(address.protocol)) continue;
    throw new Refusal(
      'api-error',
      `'${link.slice(0, 100)}' leads nowhere, and a browser may run it; give an address that begins with https:// at /links/${kind}/${at}`,
    );
  }
}
