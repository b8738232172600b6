// The templates of the pages: inserted values stay text, and a template within a template stays markup.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import { html, joined, markup, nothing } from '#http/pages/html.ts';
import { asRead } from '#test/fixtures/clients/html.ts';

t.test('any text between tags or in an attribute is read back unchanged', (t) => {
  const signs = fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '/', '`', '$', '{', 'a', 'ü', '\n') });
  fc.assert(
    fc.property(signs, signs, (title, words) => {
      const made = html`<p title="${title}">${[words]}</p>`.toString();
      const [, first = '', second = ''] = /^<p title="([^"<>]*)">([^<>]*)<\/p>$/.exec(made) ?? [];
      if (asRead(first) !== title || asRead(second) !== words) throw new Error(made);
    }),
  );
  t.end();
});

t.test('templates are combined, and an absent part leaves nothing', (t) => {
  const item = (text: string) => html`<b>${text}</b>`;
  t.equal(html`${['<', '>'].map(item)}`.toString(), '<b>&lt;</b><b>&gt;</b>');
  t.equal(html`${undefined}${null}${false}${true}${nothing}${0}`.toString(), '0');
  t.equal(html`${joined([item('a'), 'b & c'], ', ')}`.toString(), '<b>a</b>, b &amp; c');
  t.equal(html`${markup('<i>ours</i>')}`.toString(), '<i>ours</i>');
  t.end();
});

t.test('only templates write markup, and raw markup comes from files of the project', (t) => {
  const src = join(import.meta.dirname, '../../../src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const tag = '<(?:!doctype|[a-z][a-z0-9]*)[ >]';
  const wrong = [
    /'hono\b/,
    /&(?:lt|gt|amp|quot|#39);/,
    new RegExp(`(?<!\\bhtml)\`\\s*${tag}`, 'i'),
    new RegExp(`['"]${tag}`, 'i'),
  ];
  const findings: string[] = [];
  const taken: string[] = [];
  for (const file of files.filter((name) => !['http/pages/html.ts', 'http/pages/visible-text.ts'].includes(name))) {
    const text = readFileSync(join(src, file), 'utf8').replace(/^\s*(?:\/?\*|\/\/).*$/gm, '');
    for (const pattern of wrong)
      for (const [match] of text.matchAll(new RegExp(pattern, 'gi'))) findings.push(`${file}: ${match}`);
    if (/\bmarkup\(/.test(text)) taken.push(file);
  }
  t.same(findings, []);
  const ours = [
    'cli/audit/report-page.ts',
    'cli/transfers/report.ts',
    'console/icons.ts',
    'documents/contents.ts',
    'documents/guides.ts',
  ];
  t.same(taken.sort(), ours, 'a page as a template has made it, icons of a package, guides and style sheets');
  t.end();
});
