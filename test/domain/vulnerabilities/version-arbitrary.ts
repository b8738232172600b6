// Versions for tests: near each other, so that all rules of their order are reached.
import fc from 'fast-check';

const part = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('0', '1', '2', '9', '10', '00', '007', '01', '18446744073709551616') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('a', 'b', 'Z', '~', '~~', '+', '.', 'rc', 'ubuntu', '+deb12u', '~bpo', '+really'),
  },
);
const text = (minLength: number) => fc.array(part, { minLength, maxLength: 6 }).map((parts) => parts.join(''));

/** Versions that dpkg accepts without a warning. */
export const dpkgVersions = fc
  .record({
    epoch: fc.constantFrom('', '', '0:', '1:', '2:'),
    first: fc.constantFrom('0', '1', '2', '10', '09'),
    upstream: text(0),
    hyphens: fc.constantFrom('', '', '-1', '-1~'),
    revision: fc.oneof(
      fc.constant(''),
      text(1).map((revision) => `-${revision}`),
    ),
  })
  .map(({ epoch, first, upstream, hyphens, revision }) => `${epoch}${first}${upstream}${hyphens}${revision}`);

const digits = fc.constantFrom('0', '1', '2', '9', '10', '05', '050', '099999999999999999999');

/** Versions that apk accepts. */
export const apkVersions = fc
  .record({
    first: digits,
    numbers: fc.array(digits, { maxLength: 3 }),
    letter: fc.constantFrom('', '', 'a', 'b'),
    suffixes: fc.array(
      fc.tuple(
        fc.constantFrom('alpha', 'beta', 'pre', 'rc', 'cvs', 'svn', 'git', 'hg', 'p'),
        fc.constantFrom('', '0', '1', '2', '10'),
      ),
      { maxLength: 2 },
    ),
    hash: fc.constantFrom('', '', '~0a', '~b'),
    revision: fc.constantFrom('', '-r0', '-r1', '-r10'),
  })
  .map(
    ({ first, numbers, letter, suffixes, hash, revision }) =>
      [first, ...numbers].join('.') +
      letter +
      suffixes.map(([suffix, number]) => `_${suffix}${number}`).join('') +
      hash +
      revision,
  );
