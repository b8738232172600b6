// larder config get
import type { ConfigValue } from '#configuration/edit.ts';
import { findKey } from '#configuration/keys.ts';
import { command } from '../../frame/command.ts';
import { becomeOwner } from '../../frame/owner.ts';
import { columns } from '../../frame/terminal.ts';
import { refuseSecret, settingNames, findSetting, readSettings, formatSetting } from './values.ts';

export const configGet = command({
  name: 'config get',
  summary: 'Show a setting of the configuration, or all of them.',
  description: 'Secrets are not shown. A setting that larder.toml does not set has its default.',
  positionals: [
    { name: 'key', summary: 'The setting, such as devices.snap; without it, all settings.', optional: true },
  ],
  examples: ['larder config get devices.snap', 'larder config get', 'larder config get uploads.max_size --json'],

  run({ positionals: { key: name }, data }) {
    if (name !== undefined) refuseSecret(name, findSetting(name));
    becomeOwner(data);
    const set = readSettings(data);
    if (name !== undefined) {
      const setting = describe(name, set);
      return { text: formatSetting(setting.value ?? undefined), json: setting };
    }
    const all = settingNames()
      .filter((each) => findKey(each)?.secret === false)
      .map((each) => describe(each, set));
    return {
      text: columns(
        all.map(({ key, value, 'is-default': isDefault }) => [
          key,
          `${formatSetting(value ?? undefined)}${isDefault && value !== null ? ' (default)' : ''}`,
        ]),
      ).trimEnd(),
      json: { settings: all },
    };
  },
});

function describe(name: string, set: ReadonlyMap<string, ConfigValue>): SettingShown {
  const key = findKey(name);
  return {
    key: name,
    value: set.get(name) ?? (key?.default as ConfigValue | undefined) ?? null,
    'is-default': !set.has(name),
    description: key?.description ?? '',
  };
}

interface SettingShown {
  key: string;
  value: ConfigValue | null;
  'is-default': boolean;
  description: string;
}
