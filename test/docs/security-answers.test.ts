// The pages below docs/security/ are made of docs/security/answers.json, and each control names tests that exist.
// `LARDER_KEEP=1 node test/docs/security-answers.test.ts` writes the pages again.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

type Status = 'met' | 'not applicable' | 'duty of the site' | 'open';

interface Requirement {
  id: string;
  title: string;
  status: Status;
  /** For a requirement that is met. */
  controls?: string[];
  /** For all others: why, or what to do. */
  text?: string;
}

interface Answers {
  /** Each test is `FILE: NAME`. */
  controls: Record<string, { text: string; tests: string[]; off: { file: string; text: string; defect: string } }>;
  threats: { who: string; does: string; controls: string[] }[];
  lists: { file: string; title: string; about: string; rows: Requirement[] }[];
}

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'docs/security');
const { controls, threats, lists } = JSON.parse(readFileSync(join(folder, 'answers.json'), 'utf8')) as Answers;

const made = 'It is made of `docs/security/answers.json`; `test/docs/security-answers.test.ts` checks it.';
const table = (heads: string[], rows: string[][]): string =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
const links = (names: readonly string[]): string => names.map((name) => `[${name}](controls.md#${name})`).join(', ');

function listPage({ title, about, rows }: Answers['lists'][number]): string {
  const cells = rows.map(({ id, title: of, status, controls: controlIds = [], text = '' }) => {
    return [id, of, status, controlIds.length > 0 ? links(controlIds) : text];
  });
  return `# ${title}\n\n${about}\n\n${made}\n\n${table(['Id', 'Requirement', 'Answer', 'Control, reason or duty'], cells)}\n`;
}

const controlsPage = `# Controls

Each control names the tests that show it. ${made} \`test/docs/controls-off.long.test.ts\` switches controls off in a copy of the sources,
those of 40 random requirements in each run, and demands that a test notices. With \`LARDER_CONTROLS=all\` it runs all ${String(Object.keys(controls).length)} controls.

${Object.entries(controls)
  .map(([name, { text, tests }]) => `## ${name}\n\n${text}\n\n${tests.map(testLine).join('\n')}`)
  .join('\n\n')}
`;

function testLine(test: string): string {
  const [file, name] = splitTest(test);
  return `- \`${file}\`: ${name}`;
}

const threatsPage = `# Threat model

larder is one process on a host without internet. It trusts the operating system, the administrator of the host as far as the audit log can
show, and the keys that the site has accepted. ${made}

${table(
  ['Who', 'Does', 'Controls'],
  threats.map(({ who, does, controls: controlIds }) => [who, does, links(controlIds)]),
)}

Not covered: an administrator of the host who replaces the program itself; attacks on the hardware; a stolen release key before its rotation
reaches the site.
`;

const counted = (rows: readonly Requirement[]): string[] =>
  (['met', 'not applicable', 'duty of the site', 'open'] as const).map((status) =>
    String(rows.filter((row) => row.status === status).length),
  );

const index = `# Security answers

For auditors: who may attack a store, what holds against it, and which test shows it. ${made}

${table(
  ['List', 'Met', 'Not applicable', 'Duty of the site', 'Open'],
  lists.map(({ file, title, rows }) => [`[${title}](${file})`, ...counted(rows)]),
)}

Requirements that a page leaves out are open; each page says which. [The threat model](threats.md) and [the controls](controls.md) stand
behind the lists. [SECURITY.md](../../SECURITY.md) has reports and times for fixing, and [the inventory](../reference/cryptography.md) the
cryptography. A third party has not assessed these answers yet.

\`larder prove\` tries the promises of durability and integrity on the machine of a site, beside the store that it serves, and writes a signed
report; [the administrator's guide](../guides/administrator.md#prove-it-on-your-machine) lists its trials and their controls. An auditor needs
the report and \`larder prove --check signed.json\`, and compares the fingerprint of the key with \`larder site show\`.
`;

const pages = new Map([
  ['README.md', index],
  ['controls.md', controlsPage],
  ['threats.md', threatsPage],
  ...lists.map((list) => [list.file, listPage(list)] as const),
]);

function splitTest(test: string): [string, string] {
  const at = test.indexOf(': ');
  return [test.slice(0, at), test.slice(at + 2)];
}

t.test('the pages are those of the answers', (t) => {
  for (const [file, page] of pages) {
    if (process.env['LARDER_KEEP'] === '1') writeFileSync(join(folder, file), page);
    t.equal(readFileSync(join(folder, file), 'utf8'), page, file);
  }
  t.same(readdirSync(folder).sort(), ['answers.json', ...pages.keys()].sort(), 'and no others');
  t.end();
});

t.test('each control names tests that exist, by file and name', (t) => {
  for (const [control, { tests, off }] of Object.entries(controls)) {
    t.ok(tests.length > 0, control);
    for (const test of tests) {
      const [file, name] = splitTest(test);
      const text = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '';
      t.ok(/t\.test\(\s*'/.test(text) && text.includes(`'${name}'`), `${control}: ${test}`);
    }
    const places = readFileSync(join(root, off.file), 'utf8').split(off.text).length - 1;
    t.equal(places, 1, `${control}: the text that is switched off is in ${off.file} once`);
  }
  t.end();
});

t.test('each requirement has one answer, with a control or a sentence', (t) => {
  for (const { file, rows } of lists) {
    t.equal(new Set(rows.map(({ id }) => id)).size, rows.length, file);
    for (const { id, status, controls: controlIds = [], text } of rows) {
      t.equal(controlIds.length > 0, status === 'met', id);
      t.equal(text === undefined, status === 'met', id);
    }
  }
  const used = [
    ...lists.flatMap(({ rows }) => rows.flatMap((row) => row.controls ?? [])),
    ...threats.flatMap((threat) => threat.controls),
  ];
  t.same([...new Set(used)].sort(), Object.keys(controls).sort(), 'each control answers something');
  t.end();
});
