// The table of faults is complete: every fault that a store can have is produced for real by a row of a test, in whichever lane that is.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { describeFault, faultKinds } from '#platform/faults.ts';

/** The files with rows of the table: this folder, and tests that need a booted system. */
const files = [
  ...readdirSync(import.meta.dirname)
    .filter((name) => /\.(?:servers\.|tools\.|long\.)?test\.ts$/.test(name))
    .map((name) => join(import.meta.dirname, name)),
  join(import.meta.dirname, '../packaging/system/stopped-service.ts'),
];

/** The codes of the rows in a test; each of them is typed as one of a fault. */
const codesIn = (text: string): string[] =>
  [...text.matchAll(/\bcode: (?:FaultCode = )?'([\w-]+)'/g)].map(([, code]) => code!);

t.test('jobs that fail for one reason are named together, and the reason once', async (t) => {
  const problem = 'The database does not answer.';
  const jobs = Array.from({ length: 23 }, (_, at) => ({ name: `job-${String(at)}`, problem }));
  t.equal(
    describeFault('jobs-fail', { jobs: [...jobs, { name: 'other', problem: 'No room.' }] }).says,
    '24 jobs fail: job-0, job-1, job-2 and 20 more (The database does not answer); other (No room)',
  );
});

t.test('a row of the table produces each fault', async (t) => {
  const rows = new Map(files.map((file) => [file, new Set(codesIn(readFileSync(file, 'utf8')))]));
  const produced = new Set([...rows.values()].flatMap((codes) => [...codes]));
  t.same(
    Object.keys(faultKinds).filter((code) => !produced.has(code)),
    [],
    'each fault of src/platform/fault-kinds.ts has a row in test/faults',
  );
  t.same(
    [...produced].filter((code) => !Object.hasOwn(faultKinds, code)),
    [],
    'and no row is about a fault that there is no more',
  );
});

t.test('each fault has one severity, a sentence without a full stop, and a remedy in whole sentences', async (t) => {
  for (const [code, { severity, about, remedy }] of Object.entries(faultKinds)) {
    t.match(severity, /^(?:problem|notice)$/, code);
    t.match(about, /^[A-Z]/, code);
    t.type(remedy, 'function', code);
  }
});
