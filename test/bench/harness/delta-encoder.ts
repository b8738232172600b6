// Makes one delta in a process of its own, and says how long that took and how much memory: delta-encoder.ts OLDER NEWER DELTA.
import { closeSync, openSync, writeSync } from 'node:fs';

import { encode } from '#deltas/encoder.ts';
import { RandomAccessFile } from '#deltas/random-access-file.ts';

const [older = '', newer = '', delta = ''] = process.argv.slice(2);
const file = openSync(delta, 'w');
const began = performance.now();
for (const piece of encode(new RandomAccessFile(openSync(older, 'r')), new RandomAccessFile(openSync(newer, 'r'))))
  writeSync(file, piece);
const seconds = (performance.now() - began) / 1000;
closeSync(file);
process.stdout.write(JSON.stringify({ seconds, megabytes: process.resourceUsage().maxRSS / 1024 }));
