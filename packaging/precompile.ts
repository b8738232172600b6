// Compiles the parts of the bundled program, so that the executable need not do it at each start.
//
//   node --random-seed=1 packaging/precompile.ts texts.json program.parts program.json [--without-code]
//
// Without the seed the compiled code would differ each time. It contains the functions that are compiled before a part runs.
// Functions that are compiled during a run would save twice as much, but differ each time, even with the seed.
import { readFileSync, writeFileSync } from 'node:fs';

import { layOut, scriptOf } from './program.ts';

const [, , texts = '', parts = '', index = '', withoutCode] = process.argv;
const program = layOut(JSON.parse(readFileSync(texts, 'utf8')) as Record<string, string>, (name, text) =>
  withoutCode === undefined ? scriptOf(name, text).createCachedData() : undefined,
);
writeFileSync(parts, program.parts);
writeFileSync(index, JSON.stringify(program.index));
