// Parses package URLs (purl) and compares them, as VEX documents use them.

export interface PackageUrl {
  type: string;
  namespace: string;
  name: string;
  version: string | undefined;
  qualifiers: ReadonlyMap<string, string>;
}

const maxLength = 1024;
const grammar =
  /^pkg:\/{0,2}([A-Za-z][A-Za-z0-9.+-]*)\/((?:[^/?#@]+\/)*)([^/?#@]+)(?:@([^?#@]+))?(?:\?([^#]*))?(?:#[^#]*)?$/;

/** Parses a package URL; undefined if it is invalid. Drops the subpath. */
export function parsePackageUrl(text: string): PackageUrl | undefined {
  const match = text.length > maxLength ? null : grammar.exec(text);
  if (match === null) return undefined;
  const [, type = '', namespace = '', name = '', version, qualifiers = ''] = match;
  try {
    return {
      type: type.toLowerCase(),
      namespace: decodeURIComponent(namespace.slice(0, -1)),
      name: decodeURIComponent(name),
      version: version === undefined ? undefined : decodeURIComponent(version),
      qualifiers: parseQualifiers(qualifiers),
    };
  } catch {
    return undefined;
  }
}

const parseQualifiers = (text: string): Map<string, string> =>
  new Map(
    text
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => {
        const [key = '', ...value] = pair.split('=');
        return [key.toLowerCase(), decodeURIComponent(value.join('='))];
      }),
  );

/**
 * Whether a package URL includes a more exact one. A missing version or qualifier includes all; an unknown qualifier
 * includes none.
 */
export const includesPackageUrl = (general: PackageUrl, exact: PackageUrl): boolean =>
  general.type === exact.type &&
  general.namespace === exact.namespace &&
  nameOf(general) === nameOf(exact) &&
  (general.version === undefined || general.version === exact.version) &&
  general.qualifiers
    .entries()
    .every(([key, value]) =>
      key === 'distro'
        ? releaseOf(value, general) === releaseOf(exact.qualifiers.get(key), exact)
        : value === exact.qualifiers.get(key),
    );

const nameOf = ({ type, name }: PackageUrl): string =>
  type === 'pypi' ? name.toLowerCase().replaceAll('_', '-') : name;

/** The releases that documents name by their code names. */
const codeNames: Readonly<Record<string, string>> = {
  bullseye: 'debian-11',
  bookworm: 'debian-12',
  trixie: 'debian-13',
  trusty: 'ubuntu-14.04',
  xenial: 'ubuntu-16.04',
  bionic: 'ubuntu-18.04',
  focal: 'ubuntu-20.04',
  jammy: 'ubuntu-22.04',
  noble: 'ubuntu-24.04',
};

/** The release that a qualifier `distro` names, as in `ubuntu-22.04`. */
const releaseOf = (distro: string | undefined, { namespace }: PackageUrl): string | undefined =>
  distro === undefined ? undefined : (codeNames[distro] ?? (/^\d/.test(distro) ? `${namespace}-${distro}` : distro));
