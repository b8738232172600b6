// Compiles the bundled program, so that the executable need not do it at each start.
//
//   node --random-seed=1 packaging/precompile.ts program.cjs program.compiled
//
// Without the seed the second file would differ each time. It contains the functions that are compiled before the program
// runs. Functions that are compiled during a run would save twice as much, but differ each time, even with the seed.
import { readFileSync, writeFileSync } from 'node:fs';

import { scriptOf } from './program.ts';

const [, , text = '', compiled = ''] = process.argv;
writeFileSync(compiled, scriptOf(readFileSync(text, 'latin1')).createCachedData());
