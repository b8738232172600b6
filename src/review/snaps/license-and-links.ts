// Reads the license and the links in meta/snap.yaml, for people; invalid ones are left out.
import { refuseBadLinks } from '#domain/packages/links.ts';
import { Refusal } from '#domain/refusal.ts';
import type { SnapFacts } from '../verdict.ts';
import type { Yaml } from '../yaml.ts';

type SnapLinks = SnapFacts['links'];

/** The kinds of links in snap.yaml (snapd, snap/validate.go), and the store's names for them. */
const kinds = new Map<string, keyof SnapLinks>([
  ['contact', 'contact'],
  ['donation', 'donations'],
  ['issues', 'issues'],
  ['source-code', 'source'],
  ['website', 'website'],
]);

/** Limits of the store, as for links that are edited in it. */
const maxLinks = 5;
const maxLinkLength = 2000;
const maxLicenseLength = 256;

export function readLicenseAndLinks(document: ReadonlyMap<Yaml, Yaml>): Pick<SnapFacts, 'license' | 'links'> {
  const license = document.get('license');
  const isLicense = typeof license === 'string' && license !== '' && license.length <= maxLicenseLength;
  const stated = document.get('links');
  const links: SnapLinks = {};
  for (const [key, kind] of kinds) {
    const listed = linksIn(kind, stated instanceof Map ? stated.get(key) : undefined);
    const fitting = listed.length > 0 ? listed : linksIn(kind, document.get(key));
    if (fitting.length > 0) links[kind] = fitting;
  }
  return { license: isLicense && isPlain(license) ? license : null, links };
}

/** The links of a kind: a list under 'links', or a text or a list at the top level, as older tools write it. */
function linksIn(kind: keyof SnapLinks, stated: Yaml | undefined): string[] {
  const listed = typeof stated === 'string' ? [stated] : Array.isArray(stated) ? stated : [];
  return [...new Set(listed.flatMap((link) => linkOf(kind, link)).slice(0, maxLinks))];
}

/** No control characters, and no lone surrogates. */
const isPlain = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);

/** A link in the form of the store; empty if it is invalid. A device accepts a plain mail address as a contact. */
function linkOf(kind: keyof SnapLinks, link: Yaml): string[] {
  if (typeof link !== 'string' || link === '' || link.length > maxLinkLength || !isPlain(link)) return [];
  const address = kind === 'contact' && /^[^\s@:/]+@[^\s@:/]+$/.test(link) ? `mailto:${link}` : link;
  try {
    refuseBadLinks({ [kind]: [address] });
    return [address];
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
}
