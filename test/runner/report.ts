// The output of a test run: a line for each file, failures in full, and at the end the skipped tests and the sums.
import type { FileResult } from './process.ts';

/** The reason of a test that Debian packages would enable begins with this; see test/fixtures/programs.ts. */
const notInstalled = 'not installed: ';
/** Enough to see the cause; the rest of the output is that of the passing tests. */
const maxFailureLines = 400;

const seconds = (value: number): string => value.toFixed(1).padStart(6);

export function printFile(result: FileResult): void {
  const { file, passed, failed, skipped, wallSeconds, cpuSeconds, text } = result;
  const skips = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  console.log(
    `${failed > 0 ? 'FAILED' : 'passed'} ${seconds(wallSeconds)} s ${seconds(cpuSeconds)} s CPU  ${file} (${passed + failed}${skips})`,
  );
  if (failed > 0) console.log(failuresOf(text));
}

/** The output of the failing tests, without the top-level tests that pass, and the text between them. */
function failuresOf(text: string): string {
  const tests: string[][] = [[]];
  for (const line of text.split('\n')) {
    if (line.startsWith('# Subtest: ')) tests.push([]);
    tests.at(-1)!.push(line);
  }
  const failing = tests.filter((test) => test.some((line) => line.startsWith('not ok'))).flat();
  // A file without any result fails too: all that it printed may say why.
  if (failing.length === 0)
    return ['No test has run. Its output:', ...text.split('\n').slice(-maxFailureLines)].join('\n');
  const lines = failing.filter((line) => !/^ +ok \d/.test(line));
  return [...lines.slice(0, maxFailureLines), ...(lines.length > maxFailureLines ? ['…'] : [])].join('\n');
}

/** The cost of each file in seconds of processor time. */
export function printTimings(results: readonly FileResult[]): void {
  console.log('\nSeconds of processor time and of the clock, by file:');
  for (const { cpuSeconds, wallSeconds, file } of results.toSorted((a, b) => b.cpuSeconds - a.cpuSeconds))
    console.log(`${seconds(cpuSeconds)} ${seconds(wallSeconds)}  ${file}`);
  const sum = results.reduce((total, { cpuSeconds }) => total + cpuSeconds, 0);
  console.log(`${seconds(sum)} in all, in ${results.length} files; starting the processes comes on top`);
}

/** The skipped tests with the one command that enables them, the files that failed, and the sums. */
export function printSummary(results: readonly FileResult[]): void {
  const skipped = results.flatMap(({ file, skipped }) => skipped.map((test) => ({ file, ...test })));
  if (skipped.length > 0) console.log(`\nSkipped:`);
  for (const { file, title, reason } of skipped) console.log(`  ${file}: ${title} (${reason})`);
  const packages = skipped
    .filter(({ reason }) => reason.startsWith(notInstalled))
    .flatMap(({ reason }) => reason.slice(notInstalled.length).split(' '));
  if (packages.length > 0)
    console.log(
      `\nTo enable those that need programs: apt install --no-install-recommends ${[...new Set(packages)].sort().join(' ')}`,
    );
  const failures = results.filter(({ failed }) => failed > 0);
  if (failures.length > 0) console.log(`\nFailed:\n${failures.map(({ file }) => `  ${file}`).join('\n')}`);
  const sum = (count: (result: FileResult) => number): number =>
    results.reduce((total, result) => total + count(result), 0);
  const [pass, fail] = [sum(({ passed }) => passed), sum(({ failed }) => failed)];
  const total = pass + fail + skipped.length;
  console.log(`\n# { total: ${total}, pass: ${pass}, fail: ${fail}, skip: ${skipped.length} }`);
  if (fail > 0 || total === 0) process.exitCode = 1;
}
