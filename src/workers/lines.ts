// What a worker writes, in whole lines: those of several workers would mix if each wrote to the same place.

/** A line that is longer is passed on in pieces. */
const longest = 1024 * 1024;

/** Takes what comes as it comes; `pass` is given whole lines. */
export function wholeLines(pass: (lines: Buffer) => void): { take(bytes: Buffer): void; end(): void } {
  let begun: Buffer[] = [];
  let length = 0;
  const give = (bytes: Buffer): void => {
    pass(begun.length === 0 ? bytes : Buffer.concat([...begun, bytes]));
    begun = [];
    length = 0;
  };
  return {
    take(bytes) {
      const end = bytes.lastIndexOf(0x0a) + 1;
      if (end > 0) give(bytes.subarray(0, end));
      if (end === bytes.length) return;
      begun.push(bytes.subarray(end));
      length += bytes.length - end;
      if (length > longest) give(Buffer.alloc(0));
    },
    /** What was begun last has come to its end, however it did. */
    end() {
      if (begun.length > 0) give(Buffer.from('\n'));
    },
  };
}
