// Compares versions of Alpine packages as apk does: `DIGITS{.DIGITS}[LETTER]{_SUFFIX[NUMBER]}[~HASH][-rNUMBER]`
// (apk-tools 3, doc/apk-version.8.scd and src/version.c).

/** The kinds of parts, in their order within a version. `end` stands for the missing part of the shorter version. */
const kinds = ['first', 'number', 'letter', 'suffix', 'suffix-number', 'hash', 'revision', 'end'] as const;
type PartKind = (typeof kinds)[number];

interface VersionPart {
  kind: PartKind;
  text: string;
}

export type ApkVersion = readonly VersionPart[];

/** The suffixes in ascending order. Those before the empty text mark pre-releases, as in `1.0_rc1`. */
const suffixes = ['alpha', 'beta', 'pre', 'rc', '', 'cvs', 'svn', 'git', 'hg', 'p'];
const released = suffixes.indexOf('');

const maxLength = 256;
const grammar =
  /^(?<first>\d+)(?<numbers>(?:\.\d+)*)(?<letter>[a-z]?)(?<suffixes>(?:_[a-z]+\d*)*)(?:~(?<hash>[0-9a-f]+))?(?:-r(?<revision>\d+))?$/;

/** Parses a version; undefined if apk refuses it. */
export function parseApkVersion(text: string): ApkVersion | undefined {
  const groups = text.length > maxLength ? undefined : grammar.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { first = '', numbers = '', letter = '', hash, revision } = groups;
  const parts: VersionPart[] = [{ kind: 'first', text: first }];
  for (const number of numbers.split('.').slice(1)) parts.push({ kind: 'number', text: number });
  if (letter !== '') parts.push({ kind: 'letter', text: letter });
  for (const [, suffix = '', number = ''] of (groups['suffixes'] ?? '').matchAll(/_([a-z]+)(\d*)/g)) {
    if (!suffixes.includes(suffix)) return undefined;
    parts.push({ kind: 'suffix', text: suffix });
    if (number !== '') parts.push({ kind: 'suffix-number', text: number });
  }
  if (hash !== undefined) parts.push({ kind: 'hash', text: hash });
  if (revision !== undefined) parts.push({ kind: 'revision', text: revision });
  return parts;
}

const end: VersionPart = { kind: 'end', text: '' };

/** Below, equal to or above zero, as `version` is before, equal to or after `other`. */
export function compareApkVersions(version: ApkVersion, other: ApkVersion): number {
  for (let at = 0; at < version.length || at < other.length; at++) {
    const [part, otherPart] = [version[at] ?? end, other[at] ?? end];
    if (part.kind === otherPart.kind) {
      const difference = compareParts(part, otherPart);
      if (difference !== 0) return difference;
      continue;
    }
    // 1.0 is before 1.0.1, but 1.0_rc1 is before 1.0.
    if (isBeforeRelease(part)) return -1;
    if (isBeforeRelease(otherPart)) return 1;
    return kinds.indexOf(part.kind) > kinds.indexOf(otherPart.kind) ? -1 : 1;
  }
  return 0;
}

const isBeforeRelease = ({ kind, text }: VersionPart): boolean =>
  kind === 'suffix' && suffixes.indexOf(text) < released;

function compareParts({ kind, text }: VersionPart, { text: other }: VersionPart): number {
  if (kind === 'suffix') return Math.sign(suffixes.indexOf(text) - suffixes.indexOf(other));
  // A number that begins with zero after a point is compared as a fraction: 1.05 is before 1.1.
  const isText = kind === 'hash' || kind === 'letter' || (kind === 'number' && (text[0] === '0' || other[0] === '0'));
  return isText ? compareTexts(text, other) : compareNumbers(text, other);
}

const compareTexts = (text: string, other: string): number => (text === other ? 0 : text < other ? -1 : 1);

/** Compares numbers of any length. */
function compareNumbers(text: string, other: string): number {
  const [number, otherNumber] = [text.replace(/^0+/, ''), other.replace(/^0+/, '')];
  return Math.sign(number.length - otherNumber.length) || compareTexts(number, otherNumber);
}
