// Bills of materials as CycloneDX: valid, the same bytes for the same content, and with their gaps.
import fc from 'fast-check';
import t from 'tap';

import {
  BillCollector,
  ecosystems,
  mergeBills,
  unknownBill,
  type BillComponent,
} from '#domain/vulnerabilities/bill-of-materials.ts';
import { formatCycloneDx, purlOf, type BillSubject } from '#domain/vulnerabilities/cyclonedx.ts';
import { cycloneDxFaults } from '#test/fixtures/packages/cyclonedx-schema.ts';

const subject: BillSubject = {
  name: 'snap/hello',
  version: '1',
  type: 'application',
  sha256: 'a1'.repeat(32),
  sha3_384: 'b2'.repeat(48),
  createdAt: '2026-03-01T12:00:00.000Z',
  properties: { revision: '1' },
};

const components = fc.array(
  fc.record({
    ecosystem: fc.constantFrom(...ecosystems),
    name: fc.oneof(fc.stringMatching(/^[a-z0-9@][a-z0-9+.@/-]{0,9}$/), fc.string({ unit: 'binary' })),
    version: fc.oneof(fc.stringMatching(/^[0-9][0-9a-z.+~:-]{0,9}$/), fc.string(), fc.constant(null)),
  }),
  { maxLength: 12 },
);

const collect = (list: readonly BillComponent[]) => {
  const bill = new BillCollector();
  bill.distribution = { id: 'ubuntu', version: '22.04' };
  bill.addFile('dpkg.yaml', list);
  return bill.finish('nothing is listed');
};
const parse = (text: string) => JSON.parse(text) as { components: object[]; compositions: object[]; metadata: object };

t.test('every bill is valid CycloneDX, with the same bytes for any order of its components', async () => {
  fc.assert(
    fc.property(components, (list) => {
      const text = formatCycloneDx(subject, [collect(list)]);
      return (
        cycloneDxFaults(parse(text)).length === 0 && text === formatCycloneDx(subject, [collect(list.toReversed())])
      );
    }),
  );
});

t.test('an unknown bill has its reason, and never counts as complete', async (t) => {
  const gap = { name: 'larder:gap', value: 'It has no list.' };
  const document = parse(formatCycloneDx(subject, [unknownBill('It has no list.')]));
  t.match(document, { components: [], compositions: [{ aggregate: 'unknown' }] });
  t.match(document.metadata, { component: { properties: [{ name: 'larder:revision', value: '1' }, gap] } });
  t.match(parse(formatCycloneDx(subject, [{ ...unknownBill('x'), files: ['a'] }])).compositions, [
    { aggregate: 'incomplete' },
  ]);
  t.match(parse(formatCycloneDx(subject, [collect([])])).compositions, [{ aggregate: 'not_specified' }]);
});

t.test('package URLs are as their specification writes them', async (t) => {
  const ubuntu = { id: 'ubuntu', version: '22.04' };
  const deb: BillComponent = { ecosystem: 'deb', name: 'g++', version: '1:12.2~rc+1', architecture: 'amd64' };
  t.equal(
    purlOf({ ...deb, source: { name: 'gcc', version: '12' } }, ubuntu),
    'pkg:deb/ubuntu/g%2B%2B@1:12.2~rc%2B1?arch=amd64&distro=ubuntu-22.04&upstream=gcc%4012',
  );
  t.equal(purlOf(deb, null), undefined);
  t.equal(purlOf({ ecosystem: 'pypi', name: 'Py_YAML', version: '6' }, null), 'pkg:pypi/py-yaml@6');
  t.equal(purlOf({ ecosystem: 'npm', name: '@a/b', version: null }, null), 'pkg:npm/%40a/b');
});

t.test('the images of a package count together, and different releases are a gap', async (t) => {
  const [focal, jammy] = ['20.04', '22.04'].map((version) => ({
    ...collect([{ ecosystem: 'deb', name: 'a', version }]),
    distribution: { id: 'ubuntu', version },
  }));
  t.match(mergeBills([jammy!, jammy!]), { gaps: [], components: { length: 1 } });
  t.match(mergeBills([jammy!, focal!]), {
    distribution: { version: '22.04' },
    gaps: [/of different releases/],
    components: { length: 2 },
  });
  t.match(mergeBills([]), { gaps: ['It has no image.'] });
});
