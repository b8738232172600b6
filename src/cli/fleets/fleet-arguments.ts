// The arguments that name fleets and devices.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { Failure } from '../frame/command.ts';
import { toReadFailure } from '../frame/outside-files.ts';

export const fleetArgument = {
  name: 'fleet',
  value: 'FLEET',
  summary: "The fleet, as 'larder fleet list' shows it.",
} as const;

export const listOption = {
  type: 'string',
  value: 'FILE',
  summary: 'A file with one device per line: BRAND/MODEL/SERIAL. Empty lines and lines that begin with # are skipped.',
} as const;

/** Maximum size of a list in bytes: 10,000 devices with long serials. */
const maxListBytes = 4 * 1024 * 1024;

/** Reads the devices of a file. Call it before the process gives up the rights of the caller. */
export function readDeviceList(file: string | undefined): string[] {
  if (file === undefined) return [];
  let bytes: Buffer;
  try {
    bytes = readFileSync(resolve(file));
  } catch (error) {
    throw toReadFailure(file, error);
  }
  if (bytes.length > maxListBytes) throw new Failure(`${file} has more than 4 MiB; divide the list`);
  const lines = bytes
    .toString('utf8')
    .split('\n')
    .map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== '' && !line.startsWith('#')))];
}
