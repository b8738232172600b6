// The controls of the security answers are switched off in a copy of the sources, one after the other: a test that a control names must
// fail. The requirements are chosen at random; LARDER_SEED repeats a run. LARDER_CONTROLS=all runs every control, or names some: `tls,totp`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { SourceCopy } from '#test/histories/defects.ts';
import { chooseSeed, seededChoices } from '#test/histories/random.ts';

interface Control {
  tests: string[];
  /** The text in a file, which must be there once, and the text in its place that switches the control off. */
  off: { file: string; text: string; defect: string };
}

interface Answers {
  controls: Record<string, Control>;
  lists: { rows: { id: string; controls?: string[] }[] }[];
}

const root = join(import.meta.dirname, '../..');
const answers = JSON.parse(readFileSync(join(root, 'docs/security/answers.json'), 'utf8')) as Answers;
const copied = [
  ...['src', 'schemas', 'config', 'test', 'packaging', 'docs'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE', 'README.md', 'SECURITY.md', 'CHANGELOG.md'],
  '.dependency-cruiser.cjs',
];
const requirements = 40;

t.setTimeout(0);
// In the copy the short forms of the tests are enough.
process.env['LARDER_LONG'] = '0';

/** The names of the controls of random requirements, or those that LARDER_CONTROLS lists. */
function chooseControls(seed: number): Set<string> {
  const list = process.env['LARDER_CONTROLS'];
  if (list === 'all') return new Set(Object.keys(answers.controls));
  if (list !== undefined) return new Set(list.split(','));
  const choices = seededChoices(seed);
  const met = answers.lists.flatMap(({ rows }) => rows).filter(({ controls = [] }) => controls.length > 0);
  return new Set(
    Array.from({ length: requirements }, () => choices.pick(met)).flatMap(({ controls = [] }) => controls),
  );
}

t.test('of each control that a random requirement names a test fails without it', async (t) => {
  const seed = chooseSeed();
  const names = chooseControls(seed);
  t.comment(`LARDER_SEED=${String(seed)}, ${String(names.size)} controls`);
  const copy = new SourceCopy(copied);
  t.teardown(() => copy.remove());
  const chosen = Object.entries(answers.controls).filter(([name]) => names.has(name));
  if (!t.equal(chosen.length, names.size, [...names].join())) return;
  const untouched = await copy.run(['test/run.ts', ...filesOf(chosen.flatMap(([, { tests }]) => tests))]);
  t.ok(untouched.isGood, `the tests of the copy pass: ${untouched.output.slice(0, 2000)}`);
  for (const [name, { tests, off }] of chosen) {
    const files = filesOf(tests);
    copy.patch({ ...off, name });
    const without = await copy.run(['test/run.ts', ...files]);
    copy.restore(off);
    t.ok(
      !without.isGood && tests.some((test) => hasFailed(without.output, test)),
      `without the control '${name}' one of its tests fails: ${without.output.slice(0, 2000)}`,
    );
  }
});

function filesOf(tests: readonly string[]): string[] {
  return [...new Set(tests.map((test) => test.slice(0, test.indexOf(': '))))];
}

/** The runner prints the tests that failed, and no other. */
function hasFailed(output: string, test: string): boolean {
  return output.includes(`# Subtest: ${test.slice(test.indexOf(': ') + 2)}\n`);
}
