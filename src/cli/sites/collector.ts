// Finds the folder of a collector: the folder that --data names, or a folder in the user's home directory.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { isCollector, readCollector, type Collector } from '#transfers/make/collector.ts';
import { Failure, type CommandCall } from '../frame/command.ts';

type CollectorLocation = Pick<CommandCall, 'data' | 'world'>;

const standard = '/var/lib/larder';

/** Whether the user chose the folder, with --data or LARDER_DATA. LARDER_DATA does not count if it names the folder of a store. */
const isNamed = ({ data, world }: CollectorLocation): boolean =>
  data !== standard && !(data === world.env['LARDER_DATA'] && existsSync(join(data, 'larder.toml')));

/** The folder of the collector, which need not exist. */
export function collectorFolder(where: CollectorLocation): string {
  const { data, world } = where;
  if (isNamed(where) || isCollector(data)) return data;
  const home = world.env['XDG_DATA_HOME'] ?? join(world.env['HOME'] ?? homedir(), '.local/share');
  return join(home, 'larder-collector');
}

/** The collector, if there is one and the data directory has no store. */
export function findCollector(where: CollectorLocation): Collector | undefined {
  const folder = collectorFolder(where);
  if (existsSync(join(where.data, 'larder.toml')) || !isCollector(folder)) return undefined;
  return readCollector(folder);
}

/** The collector, for commands that do not exist for stores. Unlike `findCollector`, also finds it on a host that has a store. */
export function requireCollector(where: CollectorLocation): Collector {
  const folder = collectorFolder(where);
  if (isCollector(folder)) return readCollector(folder);
  throw new Failure("there is no collector here; 'larder site init NAME --collector' makes one, and needs no store");
}
