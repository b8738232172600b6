// Guides are Markdown, and are served as HTML: the permitted parts of a guide, and the treatment of others.
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import { guides } from '#documents/guides.ts';
import { asRead } from '#test/fixtures/clients/html.ts';
import { guideFolder } from '#test/fixtures/guides.ts';
import { renderGuides, writeGuides } from '../../packaging/render-guides.ts';

const render = (markdown: string): string =>
  renderGuides(
    new Map([
      ['one', `# One\n\n${markdown}\n`],
      ['two', "# Two\n\n## Bob's key, lost\n"],
    ]),
  ).get('one')!;

t.test('headings, examples, lists and tables become the HTML that the pages style', (t) => {
  t.equal(
    render('What it is for.\n\nMore.\n\n## Set up, quickly\n\n```sh\nlarder init > log\n```\n\n- a\n- `b`').trim(),
    [
      '<p class="lead">What it is for.</p>',
      '<p>More.</p>',
      '<h2 id="set-up-quickly">Set up, quickly</h2>',
      '<pre tabindex="0"><code>larder init &gt; log</code></pre>',
      '<ul>\n<li>a</li>\n<li><code>b</code></li>\n</ul>',
    ].join('\n'),
  );
  t.match(
    render('| A | B |\n|---|---|\n| 1 | `x` |'),
    /<table>\s*<thead>\s*<tr>\s*<th>A<\/th>[^]*<td><code>x<\/code><\/td>/,
  );
  t.match(
    render('1. a\n\n   ```sh\n   b\n   ```\n2. c'),
    '<pre tabindex="0"><code>b</code></pre>',
    'an example in a step',
  );
  t.end();
});

t.test('a link to a guide leads to its page, and to the address that the heading has there', (t) => {
  t.match(render('[two](two.md)'), '<a href="/docs/two">two</a>');
  t.match(render('[two](two.md#bobs-key-lost)'), '<a href="/docs/two#bob-s-key-lost">two</a>');
  t.match(render('[here](#end)\n\n## End'), '<a href="#end">here</a>');
  t.match(render('See `/docs/audit`.'), '<a href="/docs/audit"><code>/docs/audit</code></a>');
  for (const link of [
    'three.md',
    'two.md#nowhere',
    '#nowhere',
    'https://example.org',
    'javascript:alert(1)',
    '/docs/two',
    '',
  ])
    t.throws(() => render(`[link](${link})`), { message: /^one\.md links to '/ }, link);
  t.end();
});

t.test('markup in a guide is shown as text', (t) => {
  const hostile = '<script>alert(1)</script>';
  for (const written of [
    hostile,
    `a ${hostile} b`,
    `\`${hostile}\``,
    `\`\`\`sh\n${hostile}\n\`\`\``,
    `## ${hostile}`,
    `> ${hostile}`,
  ]) {
    const rendered = render(written);
    t.notMatch(rendered, /<script/i, written);
    t.match(asRead(rendered), hostile, written);
  }
  t.notMatch(render('![alt](x.png "t")'), /<img/);
  const ours =
    /^(?:<\/?(?:p|h2|h3|pre|code|em|strong|del|a|ul|ol|li|br|hr|blockquote|table|thead|tbody|tr|th|td|input)(?: (?:class|id|tabindex|href|start|align|checked|disabled|type)="[^"<>]*")*\/?>|[^<>])*$/;
  const signs = fc.string({
    unit: fc.constantFrom('<', '>', '"', '&', '`', '*', '_', '|', '\n', '#', '-', 'a', ' ', '!', '\\', '~'),
    maxLength: 60,
  });
  fc.assert(
    fc.property(signs, (written) => {
      const rendered = render(written);
      if (!ours.test(rendered)) throw new Error(rendered);
    }),
    { numRuns: 500 },
  );
  t.end();
});

t.test('every address that a heading of a guide has had still leads somewhere', (t) => {
  const texts = new Map(
    Object.keys(guides).map((name) => [name, readFileSync(join(guideFolder, `${name}.md`), 'utf8')]),
  );
  const rendered = renderGuides(texts);
  const addresses = readFileSync(join(import.meta.dirname, '../fixtures/guide-addresses.txt'), 'utf8')
    .trim()
    .split('\n');
  t.ok(addresses.length > 100);
  for (const address of addresses) {
    const [name = '', id = ''] = address.split('#');
    t.ok(rendered.get(name)?.includes(` id="${id}"`), address);
  }
  for (const [name, html] of rendered) {
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    t.equal(new Set(ids).size, ids.length, `${name}: no two headings have one address`);
  }
  t.same(renderGuides(texts), rendered, 'the same guides are the same bytes');
  t.end();
});

t.test('the HTML is written again only when its guide has changed, and goes with it', (t) => {
  const folder = t.testdir({
    md: { 'one.md': '# One\n\nText.\n', 'README.md': '# Index\n' },
    html: { 'gone.html': 'old' },
  });
  const [source, target] = [join(folder, 'md'), join(folder, 'html')];
  writeGuides(source, target);
  const file = join(target, 'one.html');
  t.equal(readFileSync(file, 'utf8'), '<p class="lead">Text.</p>\n');
  for (const name of ['gone.html', 'README.html'])
    t.throws(() => statSync(join(target, name)), { code: 'ENOENT' }, name);
  utimesSync(file, 1, 1);
  writeGuides(source, target);
  t.equal(statSync(file).mtimeMs, 1000);
  writeFileSync(join(source, 'one.md'), '# One\n\nOther.\n');
  writeGuides(source, target);
  t.match(readFileSync(file, 'utf8'), 'Other.');
  t.end();
});
