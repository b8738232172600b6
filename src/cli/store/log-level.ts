// larder log-level
import { join } from 'node:path';
import { setLogLevel } from '#acts/store/appliance.ts';
import { changeConfig } from '#configuration/config.ts';
import { findKey } from '#configuration/keys.ts';
import { command, UsageError } from '../frame/command.ts';
import { signalReload } from '../frame/reload.ts';
import { withStore } from '../frame/store.ts';

export const logLevel = command({
  name: 'log-level',
  summary: 'Change how much the server logs, at once and for later starts.',
  positionals: [{ name: 'level', summary: 'One of trace, debug, info, warn, error and fatal.' }],
  examples: ['larder log-level debug', 'larder log-level info'],

  run(call) {
    const { level } = call.positionals;
    const words = findKey('log.level')?.words ?? [];
    if (!words.includes(level)) throw new UsageError(`LEVEL is one of ${words.join(', ')}, not '${level}'`);
    return withStore(call, async ({ directory, acts, person }) => {
      await acts.do(setLogLevel, person, { level });
      changeConfig(join(directory, 'larder.toml'), { 'log.level': level });
      const serving = signalReload(directory);
      return {
        text: `The log level is ${level}${serving ? '; the serving process has been told' : ' from the next start on'}.`,
        json: { level, told: serving !== undefined },
      };
    });
  },
});
