// The world that the tests of xz.test.ts and xz.tools.test.ts share.
import { unpackXz } from '#review/squashfs/xz.ts';
import { Unacceptable } from '#review/unacceptable.ts';

export const limit = 1 << 20;

export function unpacked(packed: Uint8Array, maximum = limit, window = limit): Uint8Array | string {
  try {
    return unpackXz(packed, maximum, window);
  } catch (error) {
    if (error instanceof Unacceptable) return error.message;
    throw error;
  }
}
