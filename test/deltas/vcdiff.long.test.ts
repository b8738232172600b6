// Deltas of files that are longer than four gigabytes.
import { closeSync, openSync, truncateSync, writeSync } from 'node:fs';

import t from 'tap';

import { withoutPrograms } from '#test/fixtures/programs.ts';
import { noise, workshop } from './vcdiff-world.ts';
import { byXdelta3, digest } from './xdelta3.ts';

const skip = withoutPrograms('xdelta3');

t.test('places beyond four gigabytes are found and named', { skip }, (t) => {
  const { path, put, made, rebuilt } = workshop(t);
  const bytes = noise('far', 3_000_000);
  put('old', bytes);
  truncateSync(path('old'), 4_500_000_000);
  const file = openSync(path('old'), 'r+');
  writeSync(file, noise('farther', 3_000_000), 0, 3_000_000, 4_400_000_123);
  closeSync(file);
  const newer = Buffer.concat([noise('farther', 3_000_000), bytes]);
  put('new', newer);
  const delta = made();
  // The window that both are in copies of one of them.
  t.ok(delta.length < 1_200_000, `${String(delta.length)} bytes`);
  t.ok(rebuilt(delta).equals(newer));
  t.equal(byXdelta3(path, delta), digest(newer));
  t.end();
});
