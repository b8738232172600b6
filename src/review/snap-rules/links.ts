// Applies snapd's rules for the links of a snap: web or mail addresses.
import { quoted } from '../unacceptable.ts';
import type { Faults } from './fields.ts';
import { isLinksKey } from './names.ts';

const file = 'meta/snap.yaml';

/** Adds the faults that make a device refuse the links of a snap. */
export function checkLinks(links: ReadonlyMap<string, readonly string[]>, faults: Faults): void {
  for (const [key, addresses] of links) {
    if (!isLinksKey(key))
      faults.add(`'links' in ${file} has the impossible name ${quoted(key)}: use letters, digits and single -.`);
    if (addresses.length === 0)
      faults.add(`'links' in ${file} has no address under ${quoted(key)}: add one, or remove it.`);
    for (const address of addresses) {
      if (!isLink(address))
        faults.add(
          `'links' in ${file} has ${quoted(address)} under ${quoted(key)}: use an address that begins with http:// or https://, or one of mail.`,
        );
    }
  }
}

/** Whether a device accepts an address. */
export function isLink(address: string): boolean {
  const scheme = schemeOf(address);
  if (address === '' || scheme === undefined || !isUrl(address, scheme)) return false;
  if (scheme === '' || scheme === 'mailto') return address.includes('@');
  return scheme === 'http' || scheme === 'https';
}

/** The scheme of a URL in lower case. Empty if it has none; undefined if it begins with a colon. */
function schemeOf(address: string): string | undefined {
  if (address.startsWith(':')) return undefined;
  return /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(address)?.[1]?.toLowerCase() ?? '';
}

const isEscaped = (text: string): boolean => !/%(?![0-9a-fA-F]{2})/.test(text);

/** Whether Go's url.Parse accepts it. */
function isUrl(address: string, scheme: string): boolean {
  if (/[\x00-\x1f\x7f]/.test(address)) return false;
  const [withoutFragment = '', ...fragment] = address.split('#');
  const rest = (scheme === '' ? withoutFragment : withoutFragment.slice(scheme.length + 1)).replace(/\?.*$/s, '');
  if (!isEscaped(fragment.join('#'))) return false;
  if (!rest.startsWith('/')) return scheme !== '' || (isEscaped(rest) && !(rest.split('/', 1)[0] ?? '').includes(':'));
  if (!rest.startsWith('//') || (scheme === '' && rest.startsWith('///'))) return isEscaped(rest);
  const authority = rest.slice(2).split('/', 1)[0] ?? '';
  return isEscaped(rest.slice(2 + authority.length)) && isAuthority(authority);
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const [user, host] = [authority.slice(0, Math.max(at, 0)), authority.slice(at + 1)];
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) || !isEscaped(user)) return false;
  const [, name = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(host) ?? [undefined, ' '];
  if (port !== undefined && !/^\d*$/.test(port)) return false;
  // Only bytes outside of ASCII may be escaped in a host.
  return /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"]|[^\x00-\x7f]|%[89a-fA-F][0-9a-fA-F])*$/.test(name);
}
