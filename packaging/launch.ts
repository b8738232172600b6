// The main program of the executable: runs the bundled one, which is embedded beside it.
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { getRawAsset } from 'node:sea';

import { scriptOf, textFor, type Program } from './program.ts';

const embedded = (name: string): Buffer => Buffer.from(getRawAsset(name));
const name = textFor(process.argv.slice(2));
const script = scriptOf(embedded(`${name}.cjs`).toString('latin1'), embedded(`${name}.compiled`));
const { execPath } = process;
(script.runInThisContext() as Program)(createRequire(import.meta.url), { exports: {} }, execPath, dirname(execPath));
