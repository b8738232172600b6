// VEX: a finding is suppressed only by a statement about it with a reason, and an acceptance ends at its date.
import fc from 'fast-check';
import t from 'tap';

import { isAccepted, type AcceptedRisk } from '#domain/vulnerabilities/acceptance.ts';
import { severities } from '#domain/vulnerabilities/finding.ts';
import { vexStatuses } from '#domain/vulnerabilities/openvex.ts';
import { findSuppression, type ProductStatement, type VexSubject } from '#domain/vulnerabilities/vex.ts';

const subject: VexSubject = {
  package: { namespace: 'snap', name: 'hello', version: '2.10', revision: 3 },
  sha256: 'a1'.repeat(32),
  isImage: false,
  component: {
    ecosystem: 'deb',
    name: 'libssl3',
    version: '3.0.2-0ubuntu1',
    architecture: 'amd64',
    source: { name: 'openssl', version: '3.0.2-0ubuntu1' },
  },
  distribution: { id: 'ubuntu', version: '22.04' },
};

const statement = (product: string, more: Partial<ProductStatement> = {}): ProductStatement => ({
  source: 'ubuntu-vex',
  product,
  component: null,
  status: 'not_affected',
  justification: 'vulnerable_code_not_present',
  impact: null,
  statedAt: '2026-03-01T12:00:00.000Z',
  ...more,
});
const statusOf = (...statements: ProductStatement[]) => findSuppression(subject, statements)?.status;

t.test('an image is named by the digest of its manifest alone', async (t) => {
  const image = { ...subject, package: { ...subject.package, namespace: 'charm' }, isImage: true };
  const of = (product: string) => findSuppression(image, [statement(product)])?.status;
  t.equal(of(`pkg:oci/app@sha256%3A${'a1'.repeat(32)}?repository_url=registry.example/app`), 'not_affected');
  t.equal(of(`pkg:oci/app@sha256:${'a1'.repeat(32)}`), 'not_affected');
  t.equal(of(`sha-256:${'a1'.repeat(32)}`), 'not_affected');
  for (const other of [
    `pkg:oci/app@sha256:${'a2'.repeat(32)}`,
    'pkg:oci/hello',
    'pkg:charm/hello',
    `pkg:charm/hello@sha256:${'a1'.repeat(32)}`,
  ])
    t.equal(of(other), undefined, other);
});

t.test('a statement about the component, its source package or the package suppresses with its reason', async (t) => {
  t.same(findSuppression(subject, [statement('pkg:deb/ubuntu/libssl3?distro=jammy', { impact: 'not built' })]), {
    status: 'not_affected',
    source: 'ubuntu-vex',
    reason: 'vulnerable_code_not_present: not built',
  });
  t.equal(
    statusOf(statement('pkg:deb/ubuntu/openssl@3.0.2-0ubuntu1?arch=source&distro=jammy', { status: 'fixed' })),
    'fixed',
  );
  t.equal(statusOf(statement('pkg:snap/hello')), 'not_affected');
  t.equal(statusOf(statement(`sha-256:${'a1'.repeat(32)}`)), 'not_affected');
  t.equal(
    statusOf(statement('pkg:snap/hello@2.10?revision=3', { component: 'pkg:deb/ubuntu/openssl' })),
    'not_affected',
  );
});

t.test('a statement about anything else, without a reason, or with another status suppresses nothing', async (t) => {
  for (const [about, other] of Object.entries({
    'another version': statement('pkg:deb/ubuntu/openssl@3.0.2-0ubuntu2'),
    'another release': statement('pkg:deb/ubuntu/openssl?distro=noble'),
    'another package': statement('pkg:snap/hello-world'),
    'another revision': statement('pkg:snap/hello?revision=4'),
    'another namespace': statement('pkg:charm/hello'),
    'another component': statement('pkg:snap/hello', { component: 'pkg:deb/ubuntu/zlib' }),
    'a part of the component': statement('pkg:deb/ubuntu/openssl', { component: 'pkg:deb/ubuntu/openssl' }),
    'no reason': statement('pkg:snap/hello', { justification: null }),
    'another file': statement(`sha-256:${'a2'.repeat(32)}`),
    affected: statement('pkg:snap/hello', { status: 'affected' }),
    'under investigation': statement('pkg:snap/hello', { status: 'under_investigation' }),
    'a product of another kind': statement('snap/hello'),
  }))
    t.equal(statusOf(other), undefined, about);
});

t.test('the statement about the package decides before one about the component, and then the newest', async (t) => {
  const [older, newer] = ['2026-03-01T12:00:00.000Z', '2026-03-02T12:00:00.000Z'];
  const component = 'pkg:deb/ubuntu/openssl';
  t.equal(
    statusOf(
      statement('pkg:snap/hello', { statedAt: older }),
      statement(component, { statedAt: newer, status: 'affected' }),
    ),
    'not_affected',
  );
  t.equal(
    statusOf(
      statement('pkg:snap/hello', { statedAt: older, status: 'affected' }),
      statement(component, { statedAt: newer }),
    ),
    undefined,
  );
  t.equal(
    statusOf(statement(component, { statedAt: older }), statement(component, { statedAt: newer, status: 'affected' })),
    undefined,
  );
  t.equal(
    statusOf(statement(component, { statedAt: older, status: 'affected' }), statement(component, { statedAt: newer })),
    'not_affected',
  );
});

t.test('the result does not depend on the order of statements', async () => {
  const statements = fc.array(
    fc
      .record({
        product: fc.constantFrom('pkg:snap/hello', 'pkg:deb/ubuntu/openssl', 'pkg:deb/ubuntu/zlib'),
        status: fc.constantFrom(...vexStatuses),
        justification: fc.constantFrom('vulnerable_code_not_present', null),
        statedAt: fc.constantFrom('2026-03-01T12:00:00.000Z', '2026-03-02T12:00:00.000Z'),
      })
      .map(({ product, ...more }) => statement(product, more)),
    { maxLength: 6 },
  );
  const suppresses = (list: ProductStatement[]) => statusOf(...list) !== undefined;
  fc.assert(
    fc.property(
      statements,
      fc.func(fc.integer()),
      (list, key) => suppresses(list) === suppresses(list.toSorted((first, other) => key(first) - key(other))),
    ),
    { numRuns: 2000 },
  );
});

const risk = { severity: fc.constantFrom(...severities), isExploited: fc.boolean() };
const moment = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2028-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

t.test('an acceptance covers a finding before its date, unless the risk has grown', async () => {
  fc.assert(
    fc.property(
      fc.record(risk),
      fc.record({ ...risk, until: moment }),
      moment,
      (finding, acceptance: AcceptedRisk, at) => {
        const hasGrown =
          severities.indexOf(finding.severity) < severities.indexOf(acceptance.severity) ||
          (finding.isExploited && !acceptance.isExploited);
        return isAccepted(finding, acceptance, at) === (Date.parse(at) < Date.parse(acceptance.until) && !hasGrown);
      },
    ),
    { numRuns: 2000 },
  );
});

t.test('an acceptance that has ended does not cover a finding later', async () => {
  fc.assert(
    fc.property(
      fc.record(risk),
      fc.record({ ...risk, until: moment }),
      moment,
      moment,
      (finding, acceptance, instant, other) => {
        const [first, later] = [instant, other].sort() as [string, string];
        return isAccepted(finding, acceptance, first) || !isAccepted(finding, acceptance, later);
      },
    ),
    { numRuns: 1000 },
  );
});
