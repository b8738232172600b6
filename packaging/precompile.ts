// Compiles the bundled program, so that the executable need not at each start.
//
//   node --random-seed=1 packaging/precompile.ts program.cjs program.compiled
//
// Without the seed the second file would be another one each time. It has what is compiled before anything runs: what is
// compiled while it runs would save twice as much, and is not the same each time, seed or not.
import { readFileSync, writeFileSync } from 'node:fs';

import { scriptOf } from './program.ts';

const [, , text = '', compiled = ''] = process.argv;
writeFileSync(compiled, scriptOf(readFileSync(text, 'latin1')).createCachedData());
