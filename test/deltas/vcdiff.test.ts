// Deltas between two files: ours makes the newer one of the older, so does Debian's xdelta3, and what is no delta is refused.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import { decode, NoDelta } from '#deltas/decoder.ts';
import { encode } from '#deltas/encoder.ts';
import { Source } from '#deltas/source.ts';
import { Gathered, header, instructions } from '#deltas/vcdiff.ts';

const long = process.env['LARDER_LONG'] === '1';
const missing = spawnSync('xdelta3', ['-V']).error ? { skip: 'not installed: xdelta3' } : {};

/** A folder with files that are opened for as long as something is done with them. */
function workshop(t: { testdir(files: Record<string, never>): string }) {
  const folder = t.testdir({});
  const path = (name: string): string => join(folder, name);
  const opened = <Result>(names: readonly string[], work: (...sources: Source[]) => Result): Result => {
    const files = names.map((name) => openSync(path(name), 'r'));
    try {
      return work(...files.map((file) => new Source(file)));
    } finally {
      for (const file of files) closeSync(file);
    }
  };
  return {
    path,
    put: (name: string, bytes: Uint8Array) => {
      writeFileSync(path(name), bytes);
    },
    /** The delta from `old` to `new`. */
    made: () =>
      opened(['old', 'new'], (older, newer) =>
        Buffer.concat(Array.from(encode(older, newer), (piece) => Buffer.from(piece))),
      ),
    /** What ours makes of `old` and a delta. */
    rebuilt: (delta: Uint8Array, most = Infinity) => {
      writeFileSync(path('delta'), delta);
      return opened(['old', 'delta'], (older, delta) =>
        Buffer.concat(Array.from(decode(older, delta, most), (window) => Buffer.from(window))),
      );
    },
    /** The digest of what xdelta3 makes of `old` and a delta, as snapd asks it. */
    byXdelta3: (delta: Uint8Array) => {
      writeFileSync(path('delta'), delta);
      execFileSync('xdelta3', ['-d', '-f', '-s', path('old'), path('delta'), path('rebuilt')], { stdio: 'pipe' });
      return digest(readFileSync(path('rebuilt')));
    },
  };
}

const digest = (bytes: Uint8Array): string => createHash('sha3-384').update(bytes).digest('hex');

/** What may become of a file: parts of it, parts that are new, and runs of one byte. */
const edits = fc.array(
  fc.oneof(
    fc.record({ kept: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.nat(40_000) }),
    fc.record({ added: fc.uint8Array({ maxLength: 300 }) }),
    fc.record({ repeated: fc.nat(255), times: fc.nat(2000) }),
  ),
  { maxLength: 12 },
);
type Edit = typeof edits extends fc.Arbitrary<(infer One)[]> ? One : never;

const edited = (bytes: Buffer, edits: readonly Edit[]): Buffer =>
  Buffer.concat(
    edits.map((edit) => {
      if ('added' in edit) return Buffer.from(edit.added);
      if ('repeated' in edit) return Buffer.alloc(edit.times, edit.repeated);
      const from = Math.floor(edit.kept * bytes.length);
      return bytes.subarray(from, from + edit.length);
    }),
  );

/**
 * Bytes that neither repeat nor compress, the same ones for a seed, after those that a snap begins with: a file that begins as gzip
 * has it, as one in 65,536 would, xdelta3 has unpacked first.
 */
function noise(seed: string, length: number): Buffer {
  const bytes = createHash('shake256', { outputLength: length }).update(seed).digest();
  bytes.write('hsqs');
  return bytes;
}

t.test('whatever is moved, added, repeated or cut away comes back', (t) => {
  const { put, made, rebuilt } = workshop(t);
  fc.assert(
    fc.property(fc.string(), fc.nat(100_000), edits, (seed, length, edits) => {
      const older = noise(seed, length + 1);
      const newer = edited(older, edits);
      put('old', older);
      put('new', newer);
      const delta = made();
      t.ok(rebuilt(delta, newer.length).equals(newer));
      if (newer.length > 1) t.throws(() => rebuilt(delta, newer.length - 1), { message: /more than is allowed/ });
    }),
    { numRuns: long ? 2000 : 60 },
  );
  t.end();
});

t.test("Debian's xdelta3 makes the same", missing, (t) => {
  const { put, made, byXdelta3 } = workshop(t);
  fc.assert(
    fc.property(fc.string(), fc.nat(100_000), edits, (seed, length, edits) => {
      const older = noise(seed, length + 1);
      const newer = edited(older, [{ kept: 0, length: 40 }, ...edits]);
      put('old', older);
      put('new', newer);
      t.equal(byXdelta3(made()), digest(newer));
    }),
    { numRuns: long ? 500 : 25 },
  );
  t.end();
});

t.test('what moved within a file of many windows is copied, and costs next to nothing', missing, (t) => {
  const { put, made, rebuilt, byXdelta3 } = workshop(t);
  const [a, b, c] = ['a', 'b', 'c'].map((seed) => noise(seed, 5_000_000)) as [Buffer, Buffer, Buffer];
  put('old', Buffer.concat([a, b, c]));
  const newer = Buffer.concat([c, noise('new', 1000), b.subarray(17), Buffer.alloc(3_000_000), a]);
  put('new', newer);
  const delta = made();
  t.ok(delta.length < 1500, `${String(delta.length)} bytes, of which 1000 are new`);
  t.ok(rebuilt(delta).equals(newer));
  t.equal(byXdelta3(delta), digest(newer));
  t.end();
});

t.test('a source is larger than what one window may copy from', missing, (t) => {
  const { put, made, rebuilt, byXdelta3 } = workshop(t);
  const parts = Array.from({ length: 16 }, (_, at) => randomBytes(6_000_000 + at));
  put('old', Buffer.concat(parts));
  // One window that wants the first and the last of 96 MB, and windows that want one of them.
  const newer = Buffer.concat([parts[15]!.subarray(0, 900_000), parts[0]!.subarray(0, 900_000), parts[14]!, parts[1]!]);
  put('new', newer);
  const delta = made();
  t.ok(delta.length < 2_000_000, `${String(delta.length)} bytes`);
  t.ok(rebuilt(delta).equals(newer));
  t.equal(byXdelta3(delta), digest(newer));
  t.end();
});

t.test('places beyond four gigabytes are found and named', long ? missing : { skip: 'LARDER_LONG=1 runs it' }, (t) => {
  const { path, put, made, rebuilt, byXdelta3 } = workshop(t);
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
  t.equal(byXdelta3(delta), digest(newer));
  t.end();
});

t.test('what xdelta3 writes is read, checksums and all', missing, (t) => {
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

t.test('a delta that was changed anywhere is refused, or makes no more than is allowed', (t) => {
  const { put, made, rebuilt } = workshop(t);
  const older = noise('older', 30_000);
  const newer = edited(older, [
    { kept: 0.5, length: 9000 },
    { added: Uint8Array.from(noise('added', 200)) },
    { repeated: 0, times: 500 },
    { kept: 0, length: 20_000 },
    { kept: 0.9, length: 100 },
  ]);
  put('old', older);
  put('new', newer);
  const delta = made();
  const changes = fc.array(fc.record({ at: fc.nat(delta.length - 1), to: fc.nat(255) }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(changes, fc.nat(delta.length), (changes, length) => {
      const bad = Uint8Array.from(delta);
      for (const { at, to } of changes) bad[at] = to;
      for (const one of [bad, delta.subarray(0, length)]) {
        try {
          t.ok(rebuilt(one, newer.length).length <= newer.length);
        } catch (error) {
          if (!(error instanceof NoDelta)) throw error;
        }
      }
    }),
    { numRuns: long ? 50_000 : 800 },
  );
  t.end();
});

/** A delta of one window, as its numbers and bytes say. */
function written(...said: readonly (number | Uint8Array | { byte: number })[]): Buffer {
  const gathered = new Gathered();
  gathered.all(header);
  for (const one of said) {
    if (typeof one === 'number') gathered.number(one);
    else if (one instanceof Uint8Array) gathered.all(one);
    else gathered.byte(one.byte);
  }
  return Buffer.from(gathered.bytes);
}

t.test('lies about sizes cost no memory', (t) => {
  const { put, rebuilt } = workshop(t);
  put('old', noise('older', 1000));
  const [plain, copies] = [{ byte: 0 }, { byte: 1 }];
  const lies: Record<string, [Buffer, RegExp]> = {
    'a window of a terabyte': [written(plain, 20, 2 ** 40, plain, 0, 0, 0), /more than is allowed/],
    'sections of a terabyte': [written(plain, 2 ** 40 + 10, 8, plain, 2 ** 40, 0, 0), /do not add up/],
    'a section that is not there': [written(plain, 8_000_008, 8, plain, 8_000_000, 1, 1), /./],
    'a source that ends before': [written(copies, 900, 101, 5, 1, plain, 0, 0, 0), /beyond the source/],
    'a number without an end': [written(plain, Buffer.alloc(64, 0x80)), /number is too large/],
    'a window that copies from the target': [written({ byte: 2 }, 0, 0, 5, 0, plain, 0, 0, 0), /not spoken/],
    'an addition that is not there': [written(plain, 6, 5, plain, 0, 1, 0, { byte: 6 }), /ends too early/],
    'a copy of what comes': [written(plain, 7, 4, plain, 0, 1, 1, { byte: 20 }, 0), /not there/],
    'a run beyond its window': [written(plain, 8, 4, plain, 1, 2, 0, { byte: 1 }, { byte: 0 }, 5), /more than it says/],
    'a window that is not filled': [written(plain, 5, 4, plain, 0, 0, 0), /does not make/],
  };
  for (const [name, [delta, why]] of Object.entries(lies)) {
    const before = process.memoryUsage().arrayBuffers;
    t.throws(() => rebuilt(delta), { message: why }, name);
    t.ok(process.memoryUsage().arrayBuffers - before < 20_000_000, `${name} took no memory`);
  }
  t.throws(() => rebuilt(Buffer.from('squashfs')), { message: 'it does not begin as a delta does' });
  t.end();
});

t.test('the table of instructions is the standard one', (t) => {
  t.equal(instructions.length, 256);
  // RFC 3284, 5.6: the first and the last of each of its groups.
  const said = (number: number): string =>
    instructions[number]!.map(({ kind, size, mode }) => `${kind} ${String(size)} ${String(mode)}`).join(', ');
  t.strictSame([0, 1, 18, 19, 34, 35, 162, 163, 174, 234, 235, 246, 247, 255].map(said), [
    'run 0 0, none 0 0',
    'add 0 0, none 0 0',
    'add 17 0, none 0 0',
    'copy 0 0, none 0 0',
    'copy 18 0, none 0 0',
    'copy 0 1, none 0 0',
    'copy 18 8, none 0 0',
    'add 1 0, copy 4 0',
    'add 4 0, copy 6 0',
    'add 4 0, copy 6 5',
    'add 1 0, copy 4 6',
    'add 4 0, copy 4 8',
    'copy 4 0, add 1 0',
    'copy 4 8, add 1 0',
  ]);
  t.end();
});
