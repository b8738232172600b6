// What is there at all: some operations are only where the configuration says so.
import { isOffline, type Config } from '#src/config.ts';
import type { Operation } from './operation.ts';

/** Whether an operation is there, as the store is configured. */
export const isOn = ({ enabledBy }: Operation, config: Config): boolean =>
  enabledBy === undefined || switches[enabledBy](config);

/** What turns operations on; the compiler asks for an entry for each that a record names. */
const switches: Record<NonNullable<Operation['enabledBy']>, (config: Config) => boolean> = {
  'devices.charm': ({ devices }) => devices.charm,
  'devices.snap': ({ devices }) => devices.snap,
  'http.console': ({ http }) => http.console,
  'http.documents': ({ http }) => http.documents,
  'http.metrics': ({ http }) => http.metrics,
  'internal.build_records': ({ internal }) => internal.build_records,
  'internal.package_permissions': ({ internal }) => internal.package_permissions,
  // Without an administrator's credential there would be nothing to exchange.
  'store.offline_mode': isOffline,
};
