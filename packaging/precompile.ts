// Compiles the parts of the bundled program, so that the executable need not do it at each start.
//
//   node --random-seed=1 packaging/precompile.ts all.json program.parts program.json [--without-code]
//
// Without the seed the compiled code would differ each time. Functions that are compiled during a run cannot be added, because they differ
// each time even with the seed.
import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

import { layOut, scriptOf, type ProgramPart } from './program.ts';

if (import.meta.main) {
  const [, , all = '', parts = '', index = '', withoutCode] = process.argv;
  const program = layOut(JSON.parse(readFileSync(all, 'utf8')) as Record<string, ProgramPart>, (name, part) =>
    withoutCode === undefined ? compilePart(name, part) : undefined,
  );
  writeFileSync(parts, program.parts);
  writeFileSync(index, JSON.stringify(program.index));
}

/** The compiled code of a part for `scriptOf`; the engine takes it with or without the flag that is set here. */
export function compilePart(name: string, { text, compiled }: ProgramPart): Buffer | undefined {
  if (compiled === 'none') return undefined;
  if (compiled === 'all') setFlagsFromString('--no-lazy');
  const script = scriptOf(name, text);
  setFlagsFromString('--lazy');
  return script.createCachedData();
}
