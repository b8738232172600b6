import t from 'tap';
import fc from 'fast-check';
import { unpackLzo } from '#review/squashfs/lzo.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { long, noise } from '../packed.ts';

if (long) t.setTimeout(600_000);

const limit = 1 << 20;
const bytes = (text: string) => new TextEncoder().encode(text);

function unpacked(packed: Uint8Array, maximum = limit): Uint8Array | 'refused' {
  try {
    return unpackLzo(packed, maximum);
  } catch (error) {
    if (error instanceof Unacceptable) return 'refused';
    throw error;
  }
}

t.test('a stream is what its instructions say', async (t) => {
  t.same(unpackLzo(Uint8Array.of(17, 0, 0), limit), bytes(''));
  t.same(unpackLzo(Uint8Array.of(17 + 5, ...bytes('hello'), 17, 0, 0), limit), bytes('hello'));
  // One literal, then a match of 5 + 3 bytes at distance 1.
  t.same(unpackLzo(Uint8Array.of(18, ...bytes('a'), 0b11100000, 0, 17, 0, 0), limit), bytes('aaaaaaaaa'));
});

t.test('a stream that does not keep to its bounds is refused', async (t) => {
  const hello = Uint8Array.of(17 + 5, ...bytes('hello'), 17, 0, 0);
  for (let end = 0; end < hello.length; end++) t.equal(unpacked(hello.subarray(0, end)), 'refused');
  t.equal(unpacked(Uint8Array.of(...hello, 0)), 'refused', 'bytes after its end');
  t.equal(unpacked(hello, 4), 'refused', 'longer than allowed');
  t.equal(unpacked(Uint8Array.of(18, 97, 0b11100100, 0, 17, 0, 0)), 'refused', 'a match from before the beginning');
  t.equal(unpacked(Uint8Array.of(18, 97, 0b11100000, 0, 17, 0, 0), 8), 'refused', 'a match beyond the end');
  t.equal(unpacked(new Uint8Array(1 << 20)), 'refused', 'a length that never ends');
  t.equal(unpacked(Uint8Array.of(18, 97, 16, 0, 0)), 'refused', 'an end with the wrong length');
});

/** A stream of any instructions with its expected output, both made from arbitrary numbers. */
function streamOf(steps: number[][]): { packed: Uint8Array; plain: number[] } {
  const packed: number[] = [];
  const plain: number[] = [];
  let seed = 1;
  const literals = (count: number) => {
    for (const byte of noise(count, seed++)) {
      packed.push(byte);
      plain.push(byte);
    }
  };
  const rest = (length: number) => {
    for (; length > 255; length -= 255) packed.push(0);
    packed.push(length);
  };
  const copy = (distance: number, length: number) => {
    for (let index = 0; index < length; index++) plain.push(plain[plain.length - distance] ?? 0);
  };
  packed.push(0);
  rest(20_000 - 18);
  literals(20_000);
  let state = 4;
  for (const [kind = 0, a = 0, b = 0, c = 0] of steps) {
    const trailing = c % 4;
    switch (kind % 6) {
      case 0: {
        const [distance, length] = [1 + (a % 2048), 3 + (b % 6)];
        const low = (((distance - 1) & 7) << 2) | trailing;
        packed.push(length < 5 ? 64 | ((length - 3) << 5) | low : 128 | ((length - 5) << 5) | low, (distance - 1) >> 3);
        copy(distance, length);
        break;
      }
      case 1:
      case 2: {
        const far = kind % 6 === 2 && plain.length > 16_385;
        const distance = far ? 16_385 + (a % Math.min(32_767, plain.length - 16_385)) : 1 + (a % 16_384);
        const inline = far ? 7 : 31;
        const length = 3 + (b % 1000);
        const value = far ? distance - 16_384 : distance - 1;
        const opcode = far ? 16 | ((value >> 14) << 3) : 32;
        if (length - 2 <= inline) packed.push(opcode | (length - 2));
        else {
          packed.push(opcode);
          rest(length - 2 - inline);
        }
        packed.push(((value & 63) << 2) | trailing, (value >> 6) & 255);
        copy(distance, length);
        break;
      }
      case 3: {
        if (state !== 0) continue;
        const count = 4 + (b % 600);
        if (count <= 18) packed.push(count - 3);
        else {
          packed.push(0);
          rest(count - 18);
        }
        literals(count);
        state = 4;
        continue;
      }
      default: {
        if (state === 0) continue;
        const near = a % 1024;
        packed.push(((near & 3) << 2) | trailing, near >> 2);
        if (state === 4) copy(near + 2049, 3);
        else copy(near + 1, 2);
      }
    }
    literals(trailing);
    state = trailing;
  }
  packed.push(17, 0, 0);
  return { packed: Uint8Array.from(packed), plain };
}

t.test('every kind of instruction works as in the format, in any order', async () => {
  const step = fc.array(fc.nat(100_000), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { packed, plain } = streamOf(steps);
      return Buffer.compare(unpackLzo(packed, plain.length), Uint8Array.from(plain)) === 0;
    }),
    { numRuns: long ? 2000 : 100 },
  );
});

t.test('any bytes at all come to an end, within the limit', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(5000), (packed, maximum) => {
      const result = unpacked(packed, maximum);
      return result === 'refused' || result.length <= maximum;
    }),
    { numRuns: long ? 200_000 : 2000 },
  );
});
