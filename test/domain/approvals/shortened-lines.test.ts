// The changes of a proposal as people read them.
import t from 'tap';

import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { shortenLines } from '#domain/approvals/shortened-lines.ts';

const line = (kind: ApprovalLine['kind'], more: Partial<ApprovalLine> = {}): ApprovalLine => ({
  kind,
  on: 'snap/hello:latest/stable',
  part: 'amd64',
  from: '1',
  to: '2',
  ...more,
});

t.test('a change that needs approvals for two reasons is listed once, with both', (t) => {
  t.strictSame(
    shortenLines([line('releases'), line('transfers'), line('transfers', { part: 'arm64' }), line('releases')]),
    [
      { on: 'snap/hello:latest/stable', part: 'amd64', from: '1', to: '2', kinds: ['releases', 'transfers'] },
      { on: 'snap/hello:latest/stable', part: 'arm64', from: '1', to: '2', kinds: ['transfers'] },
    ],
  );
  for (const other of [{ on: 'x' }, { part: null }, { from: null }, { to: '3' }]) {
    t.equal(shortenLines([line('releases'), line('releases', other)]).length, 2, 'what differs is another change');
  }
  t.end();
});

t.test('digests are cut, and two that differ in the part that is cut stay two changes', (t) => {
  const [icon, other] = ['a'.repeat(96), `${'a'.repeat(95)}b`];
  const lines = [icon, other].map((digest) =>
    line('transfers', { on: 'snap/hello', part: 'icon', to: `${digest}.png` }),
  );
  t.strictSame(
    shortenLines(lines).map(({ to }) => to),
    ['aaaaaaaaaaaa….png', 'aaaaaaaaaaaa….png'],
  );
  for (const text of ['a'.repeat(12), 'a'.repeat(63), 'a'.repeat(97), 'SHA256:abc', null]) {
    t.equal(shortenLines([line('transfers', { to: text })])[0]?.to, text);
  }
  t.end();
});
