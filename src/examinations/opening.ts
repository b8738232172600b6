// Why a store cannot be opened, as a fault: 'larder serve', 'larder ready', 'larder status' and 'larder doctor' say it in the same words.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

import { ForeignSiteKey } from '#macaroons/site-key.ts';
import { ConfigError } from '#src/config.ts';
import { describeFault, type Fault } from '#src/faults.ts';
import { causes } from '#src/system-errors.ts';
import { ownerFaults } from './files.ts';

/** The fault behind an error that opening the store in `data` has thrown; undefined if the error says all there is to say. */
export function openingFault(error: unknown, data: string): Fault | undefined {
  for (const cause of causes(error)) {
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

/** Whether this process may read a file, if it is there. */
export function accessTo(file: string): 'given' | 'denied' | 'none' {
  try {
    accessSync(file, constants.R_OK);
    return 'given';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'denied' : 'none';
  }
}

/** Every problem of a configuration in one clause. */
export const whyInvalid = ({ message }: ConfigError): string => message.replaceAll('\n', '; ').replace(/\.$/, '');

/** Whether the system, or SQLite, was not allowed to use a file. */
const isDenied = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(?:EACCES|EPERM|SQLITE_(?:CANTOPEN|READONLY|PERM|AUTH)\w*)$/.test(String(error.code));
