// Runs the files of tests of one lane, several files to a process, and prints a line for each, what failed, and the sums.
//   node test/run.ts                      the lane "tests": every x.test.ts
//   node test/run.ts --lane tools         x.tools.test.ts, or the lane servers; long also runs the files that have more tests there
//   node test/run.ts FILE|FOLDER…         these, of any lane; a folder's of the chosen lane
//   node test/run.ts --changed            those of the lane that a change since HEAD affects most, for half a minute
//   node test/run.ts --timings            and what each has cost, the most expensive first
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { chooseChanged } from './runner/changed.ts';
import { keepCosts } from './runner/costs.ts';
import { isLane, laneOf, lanes, needsOwnProcess, selectFiles, type Lane } from './runner/lanes.ts';
import { makeMemoryFolder } from './runner/memory-folder.ts';
import { runGroup, type FileResult } from './runner/process.ts';
import { printFile, printSummary, printTimings } from './runner/report.ts';

/** To load the store takes as long as several files of tests, so at least so many share a process. */
const minFilesPerProcess = 20;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    lane: { type: 'string', default: 'tests' },
    changed: { type: 'boolean', default: false },
    timings: { type: 'boolean', default: false },
    // One more than processors: tests wait for the disk and for processes that they start. LARDER_JOBS is for runs beside others.
    jobs: { type: 'string', default: process.env['LARDER_JOBS'] ?? String(Math.min(availableParallelism() + 1, 8)) },
  },
});

/** Files that share a process, in an order that is always the same. Later groups are smaller, so that all processes end together. */
function groupFiles(files: readonly string[], processCount: number): string[][] {
  const groups = files.filter(needsOwnProcess).map((file) => [file]);
  let left = files.filter((file) => !needsOwnProcess(file));
  while (left.length > 0) {
    const size = Math.max(minFilesPerProcess, Math.ceil(left.length / (processCount * 1.1)));
    groups.push(left.slice(0, size));
    left = left.slice(size);
  }
  return groups;
}

/** Runs the groups, so many at a time; resolves to the results of all files. */
async function runGroups(groups: readonly string[][], processCount: number): Promise<FileResult[]> {
  const results: FileResult[] = [];
  const waiting = [...groups];
  const runNext = async (): Promise<void> => {
    for (let group = waiting.shift(); group; group = waiting.shift()) {
      await runGroup(group, lane, (result) => {
        results.push(result);
        printFile(result);
      });
    }
  };
  await Promise.all(Array.from({ length: processCount }, runNext));
  return results;
}

function readLane(name: string): Lane {
  if (!isLane(name)) throw new Error(`There is no lane '${name}'. Choose one of ${lanes.join(', ')}.`);
  return name;
}

const lane = readLane(values.lane);
const selected = selectFiles(lane, positionals);
const { chosen: files, leftOut } = values.changed ? chooseChanged(selected) : { chosen: selected, leftOut: 0 };
if (values.changed && files.length === 0) {
  console.log('No test of this lane is affected.');
  process.exit();
}
// Other lanes write more, fill disks, and start servers that keep their data there.
const isSmall = lane === 'tests' && files.every((file) => laneOf(file) === 'tests');
const memoryFolder = isSmall ? makeMemoryFolder() : undefined;
if (memoryFolder !== undefined) process.env['TMPDIR'] = memoryFolder;
const processCount = Math.max(1, Number(values.jobs));
const results = await runGroups(groupFiles(files, processCount), processCount);
keepCosts(results);
if (values.timings) printTimings(results);
if (leftOut > 0) console.log(`\nThe change can affect ${leftOut} further files; npm test runs them.`);
printSummary(results);
