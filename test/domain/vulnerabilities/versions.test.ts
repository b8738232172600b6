// The orders of versions of dpkg and apk: total orders, with the results of the rules that both document.
import fc from 'fast-check';
import t from 'tap';

import { compareApkVersions, parseApkVersion } from '#domain/vulnerabilities/apk-version.ts';
import { compareDpkgVersions, parseDpkgVersion } from '#domain/vulnerabilities/dpkg-version.ts';
import { apkVersions, dpkgVersions } from './version-arbitrary.ts';

const compareDpkg = (version: string, other: string) =>
  compareDpkgVersions(parseDpkgVersion(version)!, parseDpkgVersion(other)!);
const compareApk = (version: string, other: string) =>
  compareApkVersions(parseApkVersion(version)!, parseApkVersion(other)!);

for (const [name, versions, compare] of [
  ['dpkg', dpkgVersions, compareDpkg],
  ['apk', apkVersions, compareApk],
] as const) {
  t.test(`the order of ${name} is the same from both sides, and carries over`, async () => {
    fc.assert(
      fc.property(versions, versions, versions, (first, second, third) => {
        const [low, middle, high] = [first, second, third].sort(compare) as [string, string, string];
        return (
          compare(first, first) === 0 &&
          compare(first, second) === 0 - compare(second, first) &&
          compare(low, middle) <= 0 &&
          compare(middle, high) <= 0 &&
          compare(low, high) <= 0
        );
      }),
      { numRuns: 2000 },
    );
  });
}

/** Checks that a list ascends, each before all that follow. */
function ascends(compare: (version: string, other: string) => number, versions: readonly string[]): string[] {
  return versions.flatMap((version, at) =>
    versions.flatMap((other, otherAt) =>
      compare(version, other) === Math.sign(at - otherAt) ? [] : [`${version} ${other}`],
    ),
  );
}

t.test('dpkg puts a tilde before the end, letters before other signs, and numbers by their value', async (t) => {
  const tildes = ['1~~', '1~~a', '1~', '1', '1a'];
  t.same(ascends(compareDpkg, tildes), []);
  t.same(
    ascends(compareDpkg, ['1.0~rc1-1', '1.0-0ubuntu1~22.04.1', '1.0-0ubuntu1', '1.0-1', '1.0-1+b1', '1.0-1.1']),
    [],
  );
  t.same(ascends(compareDpkg, ['1a', '1+', '1.2', '1.9', '1.10', '1.100', '1:0', '2:0~']), []);
  for (const [version, other] of [
    ['1.0', '0:1.0'],
    ['1.0', '1.0-0'],
    ['1.00', '1.0'],
    ['1.0a', '1.0a0'],
    ['+1:1', '1:1'],
  ] as const)
    t.equal(compareDpkg(version, other), 0, `${version} ${other}`);
  t.equal(compareDpkg('1.18446744073709551616', '1.18446744073709551617'), -1, 'numbers of any length');
});

t.test('versions that dpkg refuses have no order', async (t) => {
  for (const text of [
    '',
    ' ',
    '1 2',
    'a:1',
    '1a:2',
    ':1',
    '1:',
    '1-',
    '1--',
    '1:-1',
    '2147483648:1',
    'ü',
    `1${'0'.repeat(256)}`,
  ])
    t.equal(parseDpkgVersion(text), undefined, text);
  for (const text of ['a', '1_2', '1:2:3', '01:2', '2147483647:1']) t.ok(parseDpkgVersion(text), text);
});

t.test('apk puts versions before a release first, and treats numbers with a zero as fractions', async (t) => {
  const around = ['1.2_alpha', '1.2_alpha1', '1.2_beta', '1.2_pre2', '1.2_rc1', '1.2', '1.2-r1', '1.2_cvs', '1.2_svn'];
  t.same(ascends(compareApk, [...around, '1.2_git20240101', '1.2_hg', '1.2_p1', '1.2_p1_p1', '1.2a', '1.2.0']), []);
  t.same(ascends(compareApk, ['1.05', '1.050', '1.1', '1.9', '1.10', '1.10.0', '2', '10']), []);
  t.same(ascends(compareApk, ['3.1.4-r2', '3.1.4-r10', '3.1.4~0a-r1', '3.1.4~b-r0', '3.1.4_p1-r0']), []);
  for (const [version, other] of [
    ['1.2-r1', '1.2-r01'],
    ['01.2', '1.2'],
    ['1.2_rc1', '1.2_rc01'],
  ] as const)
    t.equal(compareApk(version, other), 0, `${version} ${other}`);
});

t.test('versions that apk refuses have no order', async (t) => {
  for (const text of [
    '',
    'a',
    '.1',
    '1.',
    '1..2',
    '1bc',
    '1a.1',
    '1_',
    '1_post1',
    '1_rc1.2',
    '1-r',
    '1-r1-r2',
    '1-1',
    '1~x',
    '1.2 ',
  ])
    t.equal(parseApkVersion(text), undefined, text);
});
