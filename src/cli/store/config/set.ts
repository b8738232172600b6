// larder config set, larder config unset
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { changeSetting } from '#acts/store/appliance.ts';
import { needsRestart } from '#appliance/reload.ts';
import { prepareFile } from '#files/durable.ts';
import { prepareConfig, readConfig } from '#configuration/config.ts';
import type { ConfigValue } from '#configuration/edit.ts';
import { findKey } from '#configuration/keys.ts';
import { command, Failure, UsageError, type CommandResult, type CommandCall } from '../../frame/command.ts';
import { describeReload, reloadServing } from '../../frame/reload.ts';
import { withStore, type OpenStore } from '../../frame/store.ts';
import { configurationText, readValue, refuseSecret, findSetting, readSettings, formatSetting } from './values.ts';

const keyPlace = { name: 'key', summary: 'The setting, such as devices.snap.' } as const;

export const configSet = command({
  name: 'config set',
  summary: 'Change a setting of the configuration, at once.',
  description:
    'Writes the value into larder.toml, where comments and order stay, and makes the serving process read it. A value ' +
    'that the schema or the serving process refuses changes nothing. The change is in the audit log.',
  positionals: [
    keyPlace,
    { name: 'value', summary: 'The value; several for a setting that is a list.', repeated: true },
  ],
  examples: [
    'larder config set devices.snap true',
    "larder config set uploads.max_size '8 GiB'",
    'larder config set http.monitors 10.0.0.5 10.0.1.0/24',
  ],

  run(call) {
    const { key, value } = call.positionals;
    const setting = findSetting(key);
    refuseSecret(key, setting);
    if (value.length === 0 || value.includes('')) {
      throw new UsageError(`'config set' needs a VALUE for ${key}: ${setting.expected}`);
    }
    return change(call, key, readValue(key, setting, value));
  },
});

export const configUnset = command({
  name: 'config unset',
  summary: 'Give a setting of the configuration its default again.',
  positionals: [keyPlace],
  examples: ['larder config unset devices.snap'],

  run(call) {
    const { key } = call.positionals;
    refuseSecret(key, findSetting(key));
    return change(call, key, undefined);
  },
});

function change(
  call: Pick<CommandCall, 'data' | 'world'>,
  key: string,
  after: ConfigValue | undefined,
): Promise<CommandResult> {
  return withStore(call, async (store) => {
    const before = readSettings(store.directory).get(key);
    if (isDeepStrictEqual(before, after)) return unchanged(key, before);
    const running = readConfig(join(store.directory, 'larder.toml'));
    const old = configurationText(store.directory);
    await writeSetting(store, key, { before, after });
    const reload = await reloadServing(store.directory);
    if (reload.state === 'refused') {
      await restoreSetting(store, old, key, { before, after });
      throw new Failure(`the serving process refused the change, and ${key} is as it was: ${reload.problem}`);
    }
    const waits = needsRestart(running, readConfig(join(store.directory, 'larder.toml'))).includes(key);
    const isDefault = after === undefined ? ' (default)' : '';
    const defaultValue = findKey(key)?.default as ConfigValue | undefined;
    return {
      text:
        `${key}: ${formatSetting(before ?? defaultValue)} -> ${formatSetting(after ?? defaultValue)}${isDefault}\n` +
        (waits && reload.state !== 'not serving' ? 'It counts after a restart of the server.' : describeReload(reload)),
      json: { key, before: before ?? null, after: after ?? null, reload: reload.state, 'needs-restart': waits },
    };
  });
}

interface SettingChange {
  before: ConfigValue | undefined;
  after: ConfigValue | undefined;
}

const unchanged = (key: string, value: ConfigValue | undefined): CommandResult => ({
  text: `${key} is ${value === undefined ? 'not set' : formatSetting(value)} already.`,
  json: { key, before: value ?? null, after: value ?? null, reload: 'not needed', 'needs-restart': false },
});

async function writeSetting(
  { directory, acts, person }: OpenStore,
  key: string,
  { before, after }: SettingChange,
): Promise<void> {
  const prepared = prepareConfig(join(directory, 'larder.toml'), { [key]: after });
  try {
    await acts.do(changeSetting, person, { key, before: before ?? null, after: after ?? null });
    prepared.place();
  } finally {
    prepared.discard();
  }
}

async function restoreSetting(
  { directory, acts, person }: OpenStore,
  text: string,
  key: string,
  { before, after }: SettingChange,
): Promise<void> {
  const prepared = prepareFile(realpathSync(join(directory, 'larder.toml')), text, 0o600);
  await acts.do(changeSetting, person, { key, before: after ?? null, after: before ?? null });
  prepared.place();
  await reloadServing(directory);
}
