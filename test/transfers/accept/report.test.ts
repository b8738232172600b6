// A preview and a receipt, at a terminal and on a page.
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import type { PlanLine } from '#acts/transfers/plan-types.ts';
import { openStore } from '#data/store.ts';
import { formatFittedTable, renderReportPage, renderReportText, type Report } from '#cli/transfers/report.ts';
import { offered, twoSites } from '../sites.ts';

t.setTimeout(600_000);

const line = (of: Partial<PlanLine>): PlanLine => ({
  package: 'snap/hello',
  kind: 'revision',
  what: 'revision 12',
  from: null,
  to: '1.0',
  word: 'source',
  notes: [],
  ...of,
});
const report = (of: Partial<Report>): Report => ({ title: 'Transfer', sentences: [], changes: [], lists: [], ...of });

t.test('long names are cut at a terminal, notes never, and the page has all of it', (t) => {
  const name = `snap/${'n'.repeat(128)}`;
  const version = 'v'.repeat(128);
  const note = `broken ${'x'.repeat(300)}`;
  const long = report({
    changes: [line({ package: name, to: version, notes: ['downgrade', note] })],
    lists: [{ heading: 'Left out:', items: [`${name}: ${note}`] }],
  });
  const text = renderReportText(long);
  for (const row of text.split('\n')) t.ok(row.length <= 100, row);
  t.match(text, /snap\/n+…/);
  t.match(text, /\n {4}downgrade; broken\n {6}x+\n {6}x+/);
  t.match(renderReportText(report({ changes: [line({ notes: ['new publisher'] })] })), / source {2}new publisher\n/);
  t.equal(text.match(/x/g)?.length, 600, 'nothing of a note is lost');
  const page = renderReportPage(long);
  for (const expected of [name, version, `downgrade; ${note}`, `${name}: ${note}`]) t.ok(page.includes(expected));
  t.end();
});

t.test('any text of others fits into 100 columns, and each line is one line', (t) => {
  const text = fc.string({ unit: 'grapheme', maxLength: 140 });
  const lines = fc.array(fc.tuple(text, text, text, fc.array(text, { maxLength: 2 })), { maxLength: 5 });
  fc.assert(
    fc.property(lines, text, (some, reason) => {
      const changes = some.map(([of, object, to, notes]) => line({ package: of, what: object, to, notes }));
      const shown = renderReportText(
        report({ changes, sentences: [reason], lists: [{ heading: 'Left out:', items: [reason] }] }),
      );
      if (shown.split('\n').some((row) => row.length > 100)) throw new Error(shown);
      t.equal(formatFittedTable(['A', 'B'], [[reason, reason]]).split('\n').length, 2);
    }),
    { numRuns: 300 },
  );
  t.end();
});

t.test('nothing that others wrote runs, loads, leads somewhere or forges a line', (t) => {
  const evil = '</td><script>alert(1)</script><a href="https://evil.example">x</a>\u202e\n<img src=x onerror=y> &amp;';
  const hostile = report({
    title: evil,
    sentences: [evil],
    changes: [line({ package: evil, what: evil, from: evil, to: evil, notes: [evil] })],
    lists: [{ heading: 'Left out:', items: [evil] }],
  });
  const page = renderReportPage(hostile);
  const bare = renderReportPage(
    report({ title: 'x', sentences: ['x'], changes: [line({})], lists: [{ heading: 'x', items: ['x'] }] }),
  );
  const tags = (html: string): string[] => html.match(/<[^>]*>/g) ?? [];
  t.same(tags(page), tags(bare), 'the tags are those of the template');
  t.notMatch(page, /\u202e/);
  t.match(page, /default-src 'none'/);
  t.match(page, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
  t.equal(page.split('\\u202e\\u000a&lt;img').length, 10, 'each of the nine places shows it as it is');
  t.notMatch(renderReportText(hostile), /\u202e|^<img/m);
  t.end();
});

t.test('the page has the content of the terminal and of the JSON, for a preview and a receipt', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  await carry(offered('other-on', 3));
  const { id } = await depot.done(`transfer make ${join(stick, 'in.tar')} --reason monthly`);
  await receiver.done(`transfer receive ${join(stick, 'in.tar')}`);
  const file = join(stick, 'preview.html');
  const seen = await receiver.done(`transfer preview ${id} --without snap/other-on --html ${file}`);
  const { out } = await receiver.larder(`transfer preview ${id} --without snap/other-on`);
  const page = readFileSync(file, 'utf8');
  const { site } = (await depot.done('site show')) as { site: { fingerprints: string[] } };
  t.same(seen.signatures, [{ fingerprint: site.fingerprints[0], 'is-of-source': true }]);
  const words = seen.lines.flatMap((planLine: PlanLine) => [
    planLine.package,
    planLine.what,
    planLine.to ?? '-',
    planLine.word,
    ...planLine.notes,
  ]);
  const all = [...words, id, seen.digest, site.fingerprints[0], 'monthly', 'The administrator left it out.'];
  for (const word of all) t.ok(page.includes(word) && out.replaceAll('\n', ' ').includes(word), word);
  t.equal(page.match(/<tr>/g)?.length, (seen.lines as unknown[]).length + 1);
  const again = await receiver.larder(`transfer preview ${id} --html ${file}`);
  t.match(again.err, /cannot write .*preview\.html/, 'nothing is written over');
  await receiver.done(`transfer accept ${id} --without snap/other-on --yes`);
  await receiver.done(`transfer receipt ${id} ${join(stick, 'receipt.html')} --html`);
  await receiver.done(`transfer receipt ${id} ${join(stick, 'receipt.json')}`);
  const receipt = readFileSync(join(stick, 'receipt.html'), 'utf8');
  const { payload } = JSON.parse(readFileSync(join(stick, 'receipt.json'), 'utf8')) as { payload: string };
  const statement = JSON.parse(Buffer.from(payload, 'base64').toString()) as Record<string, string>;
  for (const word of [
    id,
    statement['accepted-at']!,
    statement['accepted-by']!,
    'snap/other-on: The administrator left it out',
    'latest/stable',
  ])
    t.ok(receipt.includes(word), word);
  t.notOk('undo' in statement);
  const refused = await receiver.larder(`transfer receipt ${id} ${join(stick, 'receipt.json')}`);
  t.match(refused, { code: 1, err: /cannot write .*receipt\.json/ });
  const { records, close } = await openStore({ directory: receiver.data });
  const left = await records.exports.list('', '9999', 1e9, 10);
  await close();
  const digests = ['receipt.json', 'receipt.html'].map((name) => hash('sha256', readFileSync(join(stick, name))));
  t.match(
    left,
    digests.map((sha256) => ({ what: 'receipt', name: id, sha256 })),
    'what leaves is in the list of that',
  );
  t.equal(left.length, 2);
  await receiver.done('site distrust depot --yes');
  t.match((await receiver.json(`transfer preview ${id}`)).signatures, [{ 'is-of-source': false }]);
  t.notOk(existsSync(join(stick, '.preview.html.partial')));
});
