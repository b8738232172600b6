// Reads an image's bytes: small reads at known positions, so that an image of any size needs little memory.
import { fstatSync, readSync } from 'node:fs';

export interface UploadBytes {
  readonly size: number;
  /** Exactly `length` bytes from `position`, in their own memory; the caller must stay within `size`. */
  read(position: number, length: number): Uint8Array<ArrayBuffer>;
}

/** The maximum bytes of one read. A block has at most 1 MiB, packed or not. */
const maxReadBytes = 1 << 20;

export function fileSource(file: number): UploadBytes {
  const { size } = fstatSync(file);
  return {
    size,
    read(position, length) {
      if (length > maxReadBytes) throw new Error(`cannot read ${String(length)} bytes at once`);
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
