// Repeats the failures of the steps of .ci/run in short form at the end of its output:
//   node failures.mjs LIST
// Each line of LIST is a failed step: its exit code, the file of its output and its title, separated by tabs. It runs on any Node from 18 on,
// because `npm ci` may be the failed step.
import { readFileSync } from 'node:fs';

const linesInAll = 200;
const linesOfOne = 25;
const lastLines = 30;
/** Exit codes of `timeout`, and of a step that it had to kill. */
const tookTooLong = [124, 137];
/** Diagnostics that repeat the head of a failure, or are the same for every file. */
const keptBack = new Set(['at', 'source', 'stdio', 'cwd', 'externalID', 'command', 'args', 'jobId']);

const indentOf = (line) => line.length - line.trimStart().length;

/** The diagnostics that follow a result of TAP, and how many lines they take with their fences. */
function diagnosticsAfter(lines, at) {
  const start = at + 1;
  if (lines[start]?.trim() !== '---') return { text: [], taken: 0 };
  const indent = indentOf(lines[start]);
  const found = lines.slice(start).findIndex((line) => line.trim() === '...' && indentOf(line) === indent);
  const end = found === -1 ? lines.length : start + found;
  return { text: lines.slice(start + 1, end).map((line) => line.slice(indent)), taken: end - at };
}

/** The place of a result in the sources, from its diagnostics. */
function placeOf(diagnostics) {
  const [file, line] = ['fileName', 'lineNumber'].map((key) => {
    const found = diagnostics.find((text) => text.trimStart().startsWith(`${key}: `));
    return found?.slice(found.indexOf(': ') + 2);
  });
  return file ? ` (${file}:${line ?? '?'})` : '';
}

/** The other diagnostics, without the lines below the repeated ones. */
function worthTelling(diagnostics) {
  let leftOut = false;
  return diagnostics.filter((text) => {
    const key = /^(\w+):/.exec(text)?.[1];
    if (key) leftOut = keptBack.has(key);
    return !leftOut;
  });
}

/** Each `not ok` that is not only the sum of one below it, with its parent tests and the first lines of its diagnostics. */
function notOk(lines) {
  const failures = [];
  const tests = []; // open tests by depth
  let failedAt = []; // depths with a failure
  for (let at = 0; at < lines.length; at += 1) {
    const depth = indentOf(lines[at]) / 4;
    if (!Number.isInteger(depth)) continue;
    const begun = /^ *# Subtest: (.*)$/.exec(lines[at]);
    if (begun) {
      tests.splice(depth, Infinity, begun[1]);
      failedAt = failedAt.filter((deep) => deep <= depth);
    }
    const result = /^ *(not )?ok \d+(?: - )?(.*)$/.exec(lines[at]);
    if (!result) continue;
    const [, failed, title] = result;
    const diagnostics = diagnosticsAfter(lines, at);
    at += diagnostics.taken;
    const sum = failedAt.some((deep) => deep > depth);
    failedAt = failedAt.filter((deep) => deep <= depth);
    if (!failed || /# (todo|skip)\b/i.test(title)) continue;
    failedAt.push(depth);
    if (sum) continue;
    const head = [...tests.slice(0, depth), title].join(' > ') + placeOf(diagnostics.text);
    const why = worthTelling(diagnostics.text).slice(0, linesOfOne);
    failures.push([`not ok: ${head}`, ...why.map((text) => `  ${text}`)]);
  }
  return failures;
}

/** The report of a failed step: every `not ok`, or else the end of its output. */
function tell({ code, log, title }) {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  const failures = notOk(lines);
  const end = () => ['its last lines:', ...lines.slice(-lastLines).map((text) => `  ${text}`)];
  const late = tookTooLong.includes(code);
  return [
    `== ${title}: failed${late ? ', because it took too long' : ''}, exit code ${code}`,
    ...failures.flat(),
    ...(late || failures.length === 0 ? end() : []),
  ];
}

const steps = readFileSync(process.argv[2], 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => line.split('\t'))
  .map(([code, log, title]) => ({ code: Number(code), log, title }));
const said = steps.flatMap(tell);
const left = said.length - linesInAll;
process.stdout.write(
  [...said.slice(0, linesInAll), ...(left > 0 ? [`… and ${left} lines more, above.`] : [])].join('\n') + '\n',
);
