// The changelog can be read by an operator before an upgrade, and by the program that writes Debian's.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

t.test('the changelog has one line a change, and a day for each release', (t) => {
  const [, ...sections] = text.split(/^## /m);
  const headings = sections.map((section) => section.slice(0, section.indexOf('\n')));
  t.equal(headings[0], '[Unreleased]');
  for (const heading of headings.slice(1)) t.match(heading, /^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/);
  t.ok(
    headings.some((heading) => heading.startsWith(`[${version}] - `)),
    `${version} has a section`,
  );
  const lines = sections.flatMap((section) => section.split('\n').slice(1));
  const others = lines.filter((line) => !/^(?:|### \S.*|- \S.{0,180}[.)])$/.test(line));
  t.same(others, [], 'each change is one line that ends with a full stop');
  t.ok(text.split('\n').length <= 151, 'it names notable changes alone');
  t.end();
});
