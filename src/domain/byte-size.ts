// Formats sizes in bytes for people.
import { formatCount } from './quantities.ts';

/** Formats a number of bytes. */
export function formatBytes(count: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, count)) / 10)));
  return power === 0 ? formatCount(count, 'byte') : `${(count / 2 ** (10 * power)).toFixed(1)} ${units[power]!}`;
}
