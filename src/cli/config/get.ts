// larder config get
import type { Value } from '#src/configuration/edit.ts';
import { findKey } from '#src/configuration/keys.ts';
import { command } from '../frame/command.ts';
import { becomeOwner } from '../frame/owner.ts';
import { columns } from '../frame/terminal.ts';
import { refuseSecret, settingNames, settingOf, settingsIn, shownValue } from './values.ts';

export const configGet = command({
  name: 'config get',
  summary: 'Show a setting of the configuration, or all of them.',
  description: 'Secrets are not shown. A setting that larder.toml does not set has its default.',
  positionals: [
    { name: 'key', summary: 'The setting, such as devices.snap; without it, all settings.', optional: true },
  ],
  examples: ['larder config get devices.snap', 'larder config get', 'larder config get uploads.max_size --json'],

  run({ positionals: { key: name }, data }) {
    if (name !== undefined) refuseSecret(name, settingOf(name));
    becomeOwner(data);
    const set = settingsIn(data);
    if (name !== undefined) {
      const setting = describe(name, set);
      return { text: shownValue(setting.value ?? undefined), json: setting };
    }
    const all = settingNames()
      .filter((each) => findKey(each)?.secret === false)
      .map((each) => describe(each, set));
    return {
      text: columns(
        all.map(({ key, value, 'is-default': isDefault }) => [
          key,
          `${shownValue(value ?? undefined)}${isDefault && value !== null ? ' (default)' : ''}`,
        ]),
      ).trimEnd(),
      json: { settings: all },
    };
  },
});

function describe(name: string, set: ReadonlyMap<string, Value>): SettingShown {
  const key = findKey(name);
  return {
    key: name,
    value: set.get(name) ?? (key?.default as Value | undefined) ?? null,
    'is-default': !set.has(name),
    description: key?.description ?? '',
  };
}

interface SettingShown {
  key: string;
  value: Value | null;
  'is-default': boolean;
  description: string;
}
