// A disk that knows what a power cut would leave: which files and which entries of folders are durable at each moment.
import { dirname } from 'node:path';
import { onDisk, type Files } from '#files/durable-streams.ts';

export interface WatchedDisk {
  files: Files;
  /** The losses of a power cut at this moment below a folder: contents, and entries of folders. */
  atRisk(folder: string): string[];
  /** Called before each rename. */
  beforeRename?: (from: string, to: string) => void;
}

export function watchedDisk(): WatchedDisk {
  /** Files that were written and not synced since. */
  const contents = new Set<string>();
  /** Names that came into their folder and that the folder was not synced for since. */
  const entries = new Set<string>();

  const moved = (set: Set<string>, from: string, to: string): void => {
    for (const path of [...set]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue;
      set.delete(path);
      set.add(`${to}${path.slice(from.length)}`);
    }
  };
  const gone = (path: string): void => {
    for (const set of [contents, entries])
      for (const entry of [...set]) if (entry === path || entry.startsWith(`${path}/`)) set.delete(entry);
  };
  const synced = (path: string): void => {
    contents.delete(path);
    for (const entry of [...entries]) if (dirname(entry) === path) entries.delete(entry);
  };
  const watchedHandle = <Handle extends object>(handle: Handle, path: string): Handle =>
    new Proxy(handle, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (/^(?:write|append|truncate)/.test(String(name))) contents.add(path);
          const done: unknown = Reflect.apply(value, target, args);
          if (name !== 'sync' && name !== 'datasync') return done;
          return Promise.resolve(done).then(() => {
            synced(path);
          });
        };
      },
    });

  const disk: WatchedDisk = {
    atRisk: (folder) =>
      [...contents, ...entries].filter((path) => path === folder || path.startsWith(`${folder}/`)).sort(),
    files: {
      ...onDisk,
      async open(path, flags, mode) {
        const handle = await onDisk.open(path, flags, mode);
        if (flags !== 'r') entries.add(String(path));
        return watchedHandle(handle, String(path));
      },
      mkdir: (async (path: string, options: { recursive?: boolean; mode?: number }) => {
        const first = await onDisk.mkdir(path, options);
        for (let made = path; first !== undefined && made.length >= first.length; made = dirname(made))
          entries.add(made);
        return first;
      }) as Files['mkdir'],
      async rename(from, to) {
        disk.beforeRename?.(String(from), String(to));
        await onDisk.rename(from, to);
        for (const set of [contents, entries]) moved(set, String(from), String(to));
        entries.add(String(to));
      },
      async rm(path, options) {
        await onDisk.rm(path, options);
        gone(String(path));
      },
      async rmdir(path) {
        await onDisk.rmdir(path);
        gone(String(path));
      },
    },
  };
  return disk;
}

/** The same disk, with an error instead of one thing that is done to it. */
export function failing(
  files: Files,
  method: 'open' | 'rename' | 'mkdir',
  at: (path: string) => boolean,
  code: string,
): Files {
  return {
    ...files,
    [method]: async (...args: [string, ...unknown[]]) => {
      const path = args.at(method === 'rename' ? 1 : 0) as string;
      if (at(path))
        throw Object.assign(new Error(`${code}: handed in, ${method} '${path}'`), { code, path, syscall: method });
      return Reflect.apply(files[method] as (...given: unknown[]) => unknown, files, args);
    },
  };
}
