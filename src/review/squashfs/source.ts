// Where an image's bytes come from: small reads at known places, so that an image of any size costs little memory.
import { fstatSync, readSync } from 'node:fs';

export interface Source {
  readonly size: number;
  /** Exactly `length` bytes from `position`, in memory of their own; the caller keeps within `size`. */
  read(position: number, length: number): Uint8Array<ArrayBuffer>;
}

/** No part of an image that is read at once is longer: a block is at most 1 MiB, packed or not. */
const longestRead = 1 << 20;

export function fileSource(file: number): Source {
  const { size } = fstatSync(file);
  return {
    size,
    read(position, length) {
      if (length > longestRead) throw new Error(`cannot read ${String(length)} bytes at once`);
      const bytes = new Uint8Array(length);
      for (let done = 0; done < length;) {
        const count = readSync(file, bytes, done, length - done, position + done);
        if (count === 0) throw new Error('cannot read the uploaded file to its end: it has become shorter');
        done += count;
      }
      return bytes;
    },
  };
}
