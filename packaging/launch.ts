// The main program of the executable: runs the bundled one, which is embedded beside it.
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { getRawAsset } from 'node:sea';

import { scriptOf, type Program } from './program.ts';

const embedded = (name: string): Buffer => Buffer.from(getRawAsset(name));
const script = scriptOf(embedded('program.cjs').toString('latin1'), embedded('program.compiled'));
const { execPath } = process;
(script.runInThisContext() as Program)(createRequire(import.meta.url), { exports: {} }, execPath, dirname(execPath));
