// Compares versions of Debian packages exactly as dpkg does (deb-version(7), lib/dpkg/version.c and parsehelp.c).

export interface DpkgVersion {
  epoch: number;
  upstream: string;
  revision: string;
}

const maxEpoch = 2 ** 31 - 1;
const maxLength = 256;

/**
 * Parses `[EPOCH:]UPSTREAM[-REVISION]`; undefined if dpkg refuses it. Characters that dpkg only warns of are accepted,
 * because such versions can be installed.
 */
export function parseDpkgVersion(text: string): DpkgVersion | undefined {
  if (text.length > maxLength) return undefined;
  // The number before the first colon is the epoch. A version without an epoch cannot contain a colon.
  const [, epochText = '0', afterEpoch, plain = ''] = /^(?:\+?(\d+):([!-~]+)|([!-9;-~]+))$/.exec(text) ?? [];
  const [epoch, rest] = [Number(epochText), afterEpoch ?? plain];
  const dash = rest.lastIndexOf('-');
  const upstream = dash < 0 ? rest : rest.slice(0, dash);
  const revision = dash < 0 ? '' : rest.slice(dash + 1);
  if (epoch > maxEpoch || upstream === '' || (dash >= 0 && revision === '')) return undefined;
  return { epoch, upstream, revision };
}

/** Below, equal to or above zero, as `version` is before, equal to or after `other`. */
export function compareDpkgVersions(version: DpkgVersion, other: DpkgVersion): number {
  return (
    Math.sign(version.epoch - other.epoch) ||
    compareParts(version.upstream, other.upstream) ||
    compareParts(version.revision, other.revision)
  );
}

const zero = 0x30;
const isDigit = (code: number): boolean => code >= zero && code <= 0x39;

/** The sort order of characters in a part without digits: `~`, then the end of the part, then letters, then all other characters. */
function orderOf(code: number): number {
  if (Number.isNaN(code) || isDigit(code)) return 0;
  if (code === 0x7e) return -1;
  const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  return isLetter ? code : code + 256;
}

/** Compares a part without digits, then the number after it, and so on, as described in deb-version(7). */
function compareParts(version: string, other: string): number {
  let [at, otherAt] = [0, 0];
  while (at < version.length || otherAt < other.length) {
    while (isText(version, at) || isText(other, otherAt)) {
      const difference = orderOf(version.charCodeAt(at)) - orderOf(other.charCodeAt(otherAt));
      if (difference !== 0) return Math.sign(difference);
      at++;
      otherAt++;
    }
    [at, otherAt] = [skipZeros(version, at), skipZeros(other, otherAt)];
    let difference = 0;
    // The numbers may have any length: the longer one is greater, else the first digit that differs decides.
    for (; isDigit(version.charCodeAt(at)) && isDigit(other.charCodeAt(otherAt)); at++, otherAt++)
      difference ||= version.charCodeAt(at) - other.charCodeAt(otherAt);
    if (isDigit(version.charCodeAt(at))) return 1;
    if (isDigit(other.charCodeAt(otherAt))) return -1;
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}

const isText = (text: string, at: number): boolean => at < text.length && !isDigit(text.charCodeAt(at));

function skipZeros(text: string, at: number): number {
  let next = at;
  while (text.charCodeAt(next) === zero) next++;
  return next;
}
