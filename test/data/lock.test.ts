// The lock of a data directory, and the processes that wait for it.
import { existsSync, writeFileSync } from 'node:fs';

import t from 'tap';

import { DataDirectoryInUse, lockDirectory, lockToServe } from '#data/lock.ts';
import { stateFile } from '#data/state-file.ts';

t.test('a server waits a moment for a command with the lock, and not for another server', async (t) => {
  const directory = t.testdir();
  writeFileSync(stateFile(directory), '{}');
  const command = lockDirectory(directory);
  const waiting = lockToServe(directory);
  t.throws(() => lockDirectory(directory), DataDirectoryInUse, 'a second command is told at once');
  command.close();
  const server = await waiting;
  t.teardown(() => server.close());
  t.notOk(existsSync(stateFile(directory)), 'what one that was killed has said is so no more');
  await t.rejects(lockToServe(directory), DataDirectoryInUse);
});
