// Debian's xdelta3 makes the new file of our deltas, and we of its deltas.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import fc from 'fast-check';
import t from 'tap';
import { edited, edits, long, noise, reordered, scattered, workshop } from './vcdiff-world.ts';
import { byXdelta3, digest } from './xdelta3.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';

const skip = withoutPrograms('xdelta3');

t.test("Debian's xdelta3 makes the same", { skip }, (t) => {
  const { path, put, made } = workshop(t);
  fc.assert(
    fc.property(fc.string(), fc.nat(100_000), edits, (seed, length, edits) => {
      const older = noise(seed, length + 1);
      const newer = edited(older, [{ kept: 0, length: 40 }, ...edits]);
      put('old', older);
      put('new', newer);
      t.equal(byXdelta3(path, made()), digest(newer));
    }),
    { numRuns: long ? 500 : 25 },
  );
  t.end();
});

for (const [name, pair] of Object.entries({ reordered, scattered })) {
  t.test(`xdelta3 makes the same of files that are ${name}`, { skip }, (t) => {
    const { path, put, made } = workshop(t);
    const { older, newer } = pair();
    put('old', older);
    put('new', newer);
    t.equal(byXdelta3(path, made()), digest(newer));
    t.end();
  });
}

t.test('deltas of xdelta3 are read, with checksums', { skip }, (t) => {
  const { path, put, rebuilt } = workshop(t);
  const text = Array.from({ length: 20_000 }, (_, at) => `line ${String(at * 7919)}: ${'-'.repeat(at % 40)}\n`).join(
    '',
  );
  const newer = Buffer.from(text.replaceAll('99', '101') + text.slice(5000, 90_000));
  put('old', Buffer.from(text));
  put('new', newer);
  for (const checksum of [[], ['-n']]) {
    const options = ['-e', '-f', '-S', 'none', '-A', ...checksum, '-s', path('old'), path('new'), path('theirs')];
    execFileSync('xdelta3', options);
    t.ok(rebuilt(readFileSync(path('theirs')), newer.length).equals(newer));
  }
  t.end();
});
