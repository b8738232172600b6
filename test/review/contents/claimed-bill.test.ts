// Documents that publishers attach to images: with any content, they end as a claim, a gap, or no claim.
import fc from 'fast-check';
import t from 'tap';

import { readClaimedBill } from '#review/contents/claimed-bill.ts';

const subject = `sha256:${'a'.repeat(64)}`;
const read = (document: unknown) =>
  readClaimedBill({
    bytes: Buffer.from(typeof document === 'string' ? document : JSON.stringify(document)),
    subject,
    name: 'sha256:b',
  });
const cycloneDx = (...purls: unknown[]) => ({ bomFormat: 'CycloneDX', components: purls.map((purl) => ({ purl })) });

t.test('package URLs become components with their release, source and architecture', async (t) => {
  t.match(
    read(cycloneDx('pkg:deb/debian/libssl3@3.0.11-1~deb12u2?arch=amd64&upstream=openssl%403.0.11&distro=debian-12')),
    {
      claim: 'CycloneDX',
      distribution: { id: 'debian', version: '12' },
      gaps: [],
      components: [
        {
          ecosystem: 'deb',
          name: 'libssl3',
          version: '3.0.11-1~deb12u2',
          architecture: 'amd64',
          source: { name: 'openssl', version: '3.0.11' },
        },
      ],
    },
  );
  t.match(read(cycloneDx('pkg:npm/%40scope/part@1.0.0', 'pkg:deb/ubuntu/g%2B%2B@4%3A12')), {
    distribution: null,
    components: [
      { ecosystem: 'deb', name: 'g++', version: '4:12' },
      { ecosystem: 'npm', name: '@scope/part', version: '1.0.0' },
    ],
  });
});

t.test('an SPDX document counts by the packages that it describes', async (t) => {
  const document = (digest: string) => ({
    spdxVersion: 'SPDX-2.3',
    documentDescribes: ['SPDXRef-image'],
    packages: [
      { SPDXID: 'SPDXRef-image', name: `hello@sha256:${digest}` },
      { SPDXID: 'SPDXRef-a', externalRefs: [{ referenceType: 'purl', referenceLocator: 'pkg:pypi/ops@2.1.0' }] },
    ],
  });
  t.match(read(document('a'.repeat(64))), { claim: 'SPDX', components: [{ name: 'ops' }] });
  t.match(read(document('c'.repeat(64))), { claim: 'SPDX', components: [], gaps: [/describes another image/] });
});

t.test('other documents are no claims', async (t) => {
  for (const document of ['', '{', 'null', '[]', '1', {}, { bomFormat: 'x' }, { spdxVersion: 'SPDX-3.0' }])
    t.equal(read(document), undefined, JSON.stringify(document));
  t.equal(read(`{"bomFormat": "CycloneDX", "components": [${'{},'.repeat(600_000)}{}]}`), undefined, 'too many values');
  t.equal(read(`{"bomFormat": "CycloneDX", "x": "${'x'.repeat(8 << 20)}"}`), undefined, 'too many bytes');
});

t.test('any document is read without an error', async () => {
  const purl = fc.oneof(
    fc.string(),
    fc.stringMatching(/^pkg:(?:deb|apk|npm|pypi)\/[a-z%@/]{0,12}(?:@[0-9%:~]{0,8})?(?:\?[a-z=&%-]{0,12})?$/),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(fc.array(purl, { maxLength: 8 }), fc.jsonValue(), (purls, more) => {
      const document = { ...cycloneDx(...purls), metadata: more, documentDescribes: more };
      const packages = { spdxVersion: 'SPDX-2.3', packages: [more, ...purls], relationships: more };
      return [read(document), read(packages), read(more)].every(
        (bill) => bill === undefined || bill.claim !== undefined,
      );
    }),
  );
});
