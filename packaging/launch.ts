// The main program of the executable, and of a thread that runs a command: runs the bundled program, which is embedded beside it. A part
// is read when it is first required, so that a command has only its own parts in memory: `larder status` a fifth of the program, the
// server three fifths (`npm run bench -- memory`).
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { getAsset } from 'node:sea';

import { openAsset } from '#platform/executable-file.ts';
import { releaseBuffer } from '#platform/small-heap.ts';
import { assetsOfProgram, scriptOf, type Part, type ProgramIndex } from './program.ts';

const readParts = openAsset(assetsOfProgram.parts);
const index = JSON.parse(getAsset(assetsOfProgram.index, 'utf8')) as ProgramIndex;
const { execPath } = process;
const requireBuiltin = createRequire(import.meta.url);
const requirePart = Object.assign(
  (name: string): unknown =>
    name.startsWith('./') ? load(name.slice(2)) : rare.has(name) ? loadedAtUse(name) : requireBuiltin(name),
  requireBuiltin,
);
/**
 * Modules that few processes use. Those of TLS start a thread for the root certificates: 1 MB, which a store without TLS does not need. That of
 * child processes is 4 % of the time of `larder status`.
 */
const rare: ReadonlySet<string> = new Set(['https', 'node:https', 'node:tls', 'node:child_process']);
const loadedAtUse = (name: string): object => {
  const builtin = (): object => requireBuiltin(name) as object;
  return new Proxy(
    {},
    {
      get: (_, key): unknown => Reflect.get(builtin(), key),
      has: (_, key) => Reflect.has(builtin(), key),
      ownKeys: () => Reflect.ownKeys(builtin()),
      getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(builtin(), key),
    },
  );
};
const loaded = new Map<string, { exports: object }>();

load('main.js');

function load(name: string): object {
  const former = loaded.get(name);
  if (former !== undefined) return former.exports;
  const place = index[name];
  if (place === undefined) throw new Error(`cannot find the part '${name}' of the program`);
  const [from, compiledFrom, to] = place;
  const bytes = readParts(from, to);
  const textLength = compiledFrom - from;
  const script = scriptOf(name, bytes.toString('latin1', 0, textLength), bytes.subarray(textLength));
  // The engine has copied both. The next garbage collection would come too late: the parts of a command are read within 100 ms.
  releaseBuffer(bytes);
  const module = { exports: {} };
  loaded.set(name, module);
  const part = script.runInThisContext() as Part;
  part(requirePart, module, execPath, dirname(execPath));
  return module.exports;
}
