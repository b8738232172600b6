// The digest thread on a failing disk: its reads fail as `workerData` says. The thread and its messages are the real
// ones.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { workerData } from 'node:worker_threads';

export interface Faults {
  /**
   * Whether opening fails, reading fails, reading gives a byte that is not on the disk, syncing fails, or the thread ends when
   * something is to be made durable.
   */
  call: 'open' | 'read' | 'flip' | 'sync' | 'die';
  code?: string;
  /** How many more of the calls fail; shared, so that a test may change it. */
  left: Int32Array<SharedArrayBuffer>;
  /** How many files were opened to be read past the page cache. */
  direct: Int32Array<SharedArrayBuffer>;
  /** Whether this file system refuses that. */
  refusesDirect?: boolean;
}

const { call, code = 'EIO', left, direct, refusesDirect } = workerData as Faults;
const { fsync, openSync, readSync } = fs;
/** The thread's own code is read by the same calls. */
let loaded = false;
const failing = (): boolean => loaded && Atomics.load(left, 0) > 0 && Atomics.sub(left, 0, 1) > 0;
const failure = (errno: string): Error => Object.assign(new Error(`${errno}: injected`), { code: errno });

fs.openSync = (...args) => {
  if (Number(args[1]) & fs.constants.O_DIRECT) {
    if (refusesDirect === true) throw failure('EINVAL');
    Atomics.add(direct, 0, 1);
  }
  if (call === 'open' && failing()) throw failure(code);
  return openSync(...args);
};

fs.readSync = ((...args: Parameters<typeof readSync>) => {
  if (call === 'read' && failing()) throw failure(code);
  const length = readSync(...args);
  if (call === 'flip' && length > 0 && failing()) (args[1] as Uint8Array)[0]! ^= 1;
  return length;
}) as typeof readSync;

fs.fsync = ((file, done) => {
  if (call === 'die' && failing()) process.exit(1);
  if (call === 'sync' && failing()) done(Object.assign(failure(code), { syscall: 'fsync' }));
  else fsync(file, done);
}) as typeof fsync;

syncBuiltinESMExports();
await import('#blobs/digest-worker.ts');
loaded = true;
