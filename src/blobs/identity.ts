import type { BigIntStats } from 'node:fs';

/** What changes with every write to a file. */
export const identityIn = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(' ');
