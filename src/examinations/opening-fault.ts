// Turns an error while opening a store into a fault: 'larder serve', 'larder ready', 'larder status' and 'larder doctor' show the same
// text.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

import { ForeignSiteKey } from '#macaroons/site-key.ts';
import { ConfigError } from '#configuration/config.ts';
import { describeFault, type Fault } from '#platform/faults.ts';
import { listCauses } from '#platform/system-errors.ts';
import { ownerFaults } from './files.ts';

/** The fault behind an error while opening the store in `data`; undefined if the message of the error is sufficient. */
export function openingFault(error: unknown, data: string): Fault | undefined {
  for (const cause of listCauses(error)) {
    if (cause instanceof ConfigError) {
      const access = accessTo(join(data, 'larder.toml'));
      if (access === 'given') return invalidConfiguration(cause);
      return access === 'denied' ? ownerFaults(data)[0] : undefined;
    }
    if (cause instanceof ForeignSiteKey) return describeFault('wrong-site-key', cause.facts);
    if (isDenied(cause)) return ownerFaults(data)[0];
  }
  return undefined;
}

export const invalidConfiguration = (error: ConfigError): Fault =>
  describeFault('configuration-invalid', { because: whyInvalid(error) });

/** Whether this process may read a file; 'none' if it does not exist. */
export function accessTo(file: string): 'given' | 'denied' | 'none' {
  try {
    accessSync(file, constants.R_OK);
    return 'given';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'denied' : 'none';
  }
}

/** All problems of a configuration in one clause. */
export const whyInvalid = ({ message }: ConfigError): string => message.replaceAll('\n', '; ').replace(/\.$/, '');

/** Whether the system, or SQLite, was denied access to a file. */
const isDenied = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(?:EACCES|EPERM|SQLITE_(?:CANTOPEN|READONLY|PERM|AUTH)\w*)$/.test(String(error.code));
