// The controls of the security answers are switched off in a copy of the sources, one after the other: a test that a control names must
// fail. The requirements are chosen at random; LARDER_SEED repeats a run.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { SourceCopy } from '#test/histories/defects.ts';
import { chooseSeed, seededChoices } from '#test/histories/random.ts';

interface Control {
  tests: string[];
  /** The text in a file, which must be there once, and the text in its place that switches the control off. */
  off?: { file: string; text: string; defect: string };
}

interface Answers {
  controls: Record<string, Control>;
  lists: { rows: { id: string; controls?: string[] }[] }[];
}

const root = join(import.meta.dirname, '../..');
const answers = JSON.parse(readFileSync(join(root, 'docs/security/answers.json'), 'utf8')) as Answers;
const copied = [
  ...['src', 'schemas', 'config', 'test', 'packaging', 'docs'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE'],
];
const requirements = 40;

t.setTimeout(0);

t.test('of each control that a random requirement names a test fails without it', async (t) => {
  const seed = chooseSeed();
  t.comment(`LARDER_SEED=${String(seed)}`);
  const choices = seededChoices(seed);
  const met = answers.lists.flatMap(({ rows }) => rows).filter(({ controls = [] }) => controls.length > 0);
  const chosen = Array.from({ length: requirements }, () => choices.pick(met));
  const names = new Set(chosen.flatMap(({ controls = [] }) => controls));
  const copy = new SourceCopy(copied);
  t.teardown(() => copy.remove());
  const switched = Object.entries(answers.controls).filter(([name, { off }]) => names.has(name) && off !== undefined);
  if (!t.not(switched.length, 0)) return;
  const untouched = await copy.run(['test/run.ts', ...filesOf(switched.flatMap(([, { tests }]) => tests))]);
  t.ok(untouched.isGood, `the tests of the copy pass: ${untouched.output.slice(0, 2000)}`);
  for (const [name, { tests, off }] of switched) {
    const files = filesOf(tests);
    copy.patch({ ...off!, name });
    const without = await copy.run(['test/run.ts', ...files]);
    copy.restore(off!);
    t.notOk(without.isGood, `${name}: its tests fail without it`);
    t.ok(
      tests.some((test) => hasFailed(without.output, test)),
      `${name}: ${without.output.slice(0, 2000)}`,
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
