// Decides which operations exist: the configuration turns some of them on.
import { isOffline, type Config } from '#configuration/config.ts';
import type { Operation } from './operation.ts';

/** Whether the configuration turns an operation on. */
export const isEnabled = ({ enabledBy }: Operation, config: Config): boolean =>
  enabledBy === undefined || switches[enabledBy](config);

/** The switches of operations; the compiler requires an entry for each switch in a record. */
const switches: Record<NonNullable<Operation['enabledBy']>, (config: Config) => boolean> = {
  'devices.charm': ({ devices }) => devices.charm,
  'devices.snap': ({ devices }) => devices.snap,
  'http.console': ({ http }) => http.console,
  'http.documents': ({ http }) => http.documents,
  'http.metrics': ({ http }) => http.metrics,
  'internal.build_records': ({ internal }) => internal.build_records,
  'internal.package_permissions': ({ internal }) => internal.package_permissions,
  // Without an administrator's credential there is nothing to exchange.
  'store.offline_mode': isOffline,
};
