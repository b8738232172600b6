// The locks of a serving process on its database outlive the threads that use the same files: without them the next
// process that opens the database cuts the WAL index off under the serving one.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { runCommandThread } from '#src/appliance/commands/command-thread.ts';
import { inspectInThread, inspectOpenFile } from '#integrity/inspect-in-thread.ts';
import { processName, registerProcess } from '#shared/processes.ts';
import { startWorker, type StartWorker } from '#platform/embedded.ts';
import { startStore } from '#test/fixtures/appliance.ts';

/** The locks of this process on a file, as the kernel lists them. */
function locksOn(file: string): string[] {
  const end = `:${statSync(file).ino} `;
  const lines = readFileSync('/proc/locks', 'utf8').split('\n');
  return lines
    .filter((line) => line.includes(` ${process.pid} `) && line.includes(end))
    .map((line) => line.replace(/^\d+: /, ''))
    .sort();
}

t.test('a serving process stays registered when a thread with a command ends', async (t) => {
  const {
    directory,
    beside: { records },
  } = await startStore(t);
  const serving = await registerProcess(records, () => new Date());
  const { signal } = new AbortController();
  await runCommandThread({ name: 'test', argv: ['feed', 'match'], directory, signal });
  t.same(await records.leases.processes(new Date().toISOString()), [processName()]);
  await serving.end();
});

t.test('a serving process keeps its locks on the database when a thread that read it ends', async (t) => {
  const { directory } = await startStore(t);
  const files = ['larder.db', 'larder.db-shm', 'store.lock'].map((name) => join(directory, name));
  const held = files.map(locksOn);
  t.ok(
    held.every((locks) => locks.length > 0),
    held.flat().join('; '),
  );
  const { signal } = new AbortController();
  for (const argv of [['feed', 'match'], ['status'], ['backup', join(t.testdir(), 'all.tar')]]) {
    await runCommandThread({ name: 'test', argv, directory, signal });
    t.same(files.map(locksOn), held, argv[0]!);
  }
  const started: StartWorker = (options) => startWorker('src/integrity/database-worker.ts', options);
  t.same(await inspectInThread(started, { file: files[0]!, native: undefined }), { pages: [], rows: [] });
  t.same(files.map(locksOn), held, 'the check of the records');
  const notStarted: StartWorker = () => t.fail('a small database needs no thread') as never;
  t.same(await inspectOpenFile(notStarted, { file: files[0]!, native: undefined }), { pages: [], rows: [] });
  t.same(files.map(locksOn), held, 'the check of the records of a small store');
});
