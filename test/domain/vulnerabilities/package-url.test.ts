// Package URLs: parsed by their specification, and compared so that a more general one includes a more exact one.
import fc from 'fast-check';
import t from 'tap';

import { ecosystems } from '#domain/vulnerabilities/bill-of-materials.ts';
import { purlOf } from '#domain/vulnerabilities/cyclonedx.ts';
import { includesPackageUrl, parsePackageUrl } from '#domain/vulnerabilities/package-url.ts';

const includes = (general: string, exact: string): boolean | undefined => {
  const [parsed, other] = [parsePackageUrl(general), parsePackageUrl(exact)];
  return parsed && other && includesPackageUrl(parsed, other);
};

t.test('a package URL has a type, a namespace, a name, a version and qualifiers', async (t) => {
  const { qualifiers, ...url } = parsePackageUrl(
    'pkg:deb/ubuntu/g%2B%2B@4:11.2-1%2Bb1?arch=amd64&distro=ubuntu-22.04#a/b',
  )!;
  t.same(url, { type: 'deb', namespace: 'ubuntu', name: 'g++', version: '4:11.2-1+b1' });
  t.same(
    [...qualifiers],
    [
      ['arch', 'amd64'],
      ['distro', 'ubuntu-22.04'],
    ],
  );
  t.equal(parsePackageUrl('pkg:npm/%40scope/name@1')?.namespace, '@scope');
  for (const text of [
    '',
    'pkg:',
    'pkg:deb',
    'pkg:deb/',
    'http://a/b',
    'pkg:deb/a@%',
    'pkg:deb/a@1@2',
    `pkg:deb/${'a'.repeat(1100)}`,
  ])
    t.equal(parsePackageUrl(text), undefined, text.slice(0, 20));
});

t.test('a package URL without a version includes every version, and a version only itself', async (t) => {
  const exact = 'pkg:deb/ubuntu/openssl@3.0.2-0ubuntu1?arch=amd64&distro=ubuntu-22.04';
  for (const [general, expected] of [
    ['pkg:deb/ubuntu/openssl', true],
    ['pkg:deb/ubuntu/openssl@3.0.2-0ubuntu1', true],
    ['pkg:deb/ubuntu/openssl@3.0.2-0ubuntu1?distro=jammy', true],
    ['pkg:deb/ubuntu/openssl@3.0.2-0ubuntu1?distro=22.04&arch=amd64', true],
    ['pkg:deb/ubuntu/openssl@3.0.2-0ubuntu2', false],
    ['pkg:deb/ubuntu/openssl?distro=noble', false],
    ['pkg:deb/ubuntu/openssl?arch=arm64', false],
    ['pkg:deb/ubuntu/openssl?epoch=1', false],
    ['pkg:deb/debian/openssl', false],
    ['pkg:deb/ubuntu/libssl3', false],
    ['pkg:apk/ubuntu/openssl', false],
    ['pkg:deb/openssl', false],
  ] as const)
    t.equal(includes(general, exact), expected, general);
  t.equal(
    includes('pkg:deb/ubuntu/openssl?distro=jammy', 'pkg:deb/ubuntu/openssl@1'),
    false,
    'a release that is unknown',
  );
  t.equal(includes('pkg:pypi/My_Package', 'pkg:pypi/my-package@2'), true, 'names of PyPI have several forms');
});

const text = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9.+~_-]{0,12}$/);

t.test('the URL of every component is parsed, includes itself, and is included without its version', async () => {
  fc.assert(
    fc.property(
      fc.record({ ecosystem: fc.constantFrom(...ecosystems), name: text, version: text, architecture: text }),
      (component) => {
        const distribution = { id: 'ubuntu', version: '22.04' };
        const [exact, general] = [component, { ...component, version: null }].map(
          (listed) => purlOf(listed, distribution) ?? '',
        ) as [string, string];
        const parsed = parsePackageUrl(exact);
        return (
          parsed?.version === component.version && includes(exact, exact) === true && includes(general, exact) === true
        );
      },
    ),
    { numRuns: 1000 },
  );
});

t.test('any text is parsed or refused', async () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((rest) => `pkg:deb/a${rest}`),
      ),
      (any) => {
        const parsed = parsePackageUrl(any);
        return parsed === undefined || includesPackageUrl(parsed, parsed);
      },
    ),
    { numRuns: 2000 },
  );
});
