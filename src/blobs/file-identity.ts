import type { BigIntStats } from 'node:fs';

/** Identifies a version of a file: the text changes with every write. */
export const identityIn = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(' ');
