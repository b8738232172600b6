// A disk that records the order of writes, renames and syncs of small files.
import * as fs from 'node:fs';
import { basename } from 'node:path';

import type { Disk } from '#files/durable.ts';

/** A disk that records the order of its calls; the call `fails` throws. */
export function watched(fails?: string): { disk: Disk; did: string[] } {
  const did: string[] = [];
  const names = new Map<number, string>();
  const plain = (path: fs.PathLike): string => basename(String(path)).replace(/^\.(.+)\.[0-9a-f]{12}$/, 'new $1');
  const note = (step: string): void => {
    if (step === fails) throw Object.assign(new Error('EIO: injected'), { code: 'EIO' });
    did.push(step);
  };
  const disk: Disk = {
    ...fs,
    openSync: (path, ...rest) => {
      const handle = fs.openSync(path, ...rest);
      names.set(handle, plain(path));
      return handle;
    },
    writeFileSync: (file, ...rest) => {
      note(`write ${names.get(file as number)!}`);
      fs.writeFileSync(file, ...rest);
    },
    fsyncSync: (handle) => {
      note(`sync ${names.get(handle)!}`);
      fs.fsyncSync(handle);
    },
    fsync: Object.assign(
      (handle: number, done: fs.NoParamCallback) => {
        try {
          note(`sync ${names.get(handle)!}`);
        } catch (error) {
          done(error as NodeJS.ErrnoException);
          return;
        }
        fs.fsync(handle, done);
      },
      { __promisify__: fs.fsync.__promisify__ },
    ),
    linkSync: (from, to) => {
      note(`link ${plain(from)} to ${plain(to)}`);
      fs.linkSync(from, to);
    },
    renameSync: (from, to) => {
      note(`rename ${plain(from)} to ${plain(to)}`);
      fs.renameSync(from, to);
    },
  };
  return { disk, did };
}
