// Parses and formats the settings of larder.toml at a terminal.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfigText, valuesIn, type ConfigurationKey } from '#configuration/config.ts';
import type { ConfigValue } from '#configuration/edit.ts';
import { tomlValue } from '#configuration/edit.ts';
import { findKey, sections } from '#configuration/keys.ts';
import { nearest } from '#domain/nearest.ts';
import { UsageError } from '../../frame/command.ts';

/** The names of all settings, such as `devices.snap`. */
export const settingNames = (): string[] =>
  [...sections()].flatMap(([section, { keys }]) => [...keys.keys()].map((key) => `${section}.${key}`));

/** Finds a setting by name; refuses an unknown or a secret setting. */
export function findSetting(name: string): ConfigurationKey {
  const key = findKey(name);
  if (key === undefined) {
    const names = settingNames();
    // A key without its section is enough if only one section has it.
    const meant = names.find((full) => full.endsWith(`.${name}`)) ?? nearest(name, names);
    throw new UsageError(
      `there is no setting '${name}'` +
        (meant === undefined ? "; 'larder config get' lists them" : `; did you mean '${meant}'?`),
    );
  }
  return key;
}

const otherCommands: Readonly<Record<string, string>> = {
  'auth.store_admin_macaroon_sha3_384': "'larder admin-macaroon' makes a new credential and sets it",
  'records.postgres': "'larder move' moves the records and sets it",
  'blobs.s3': "'larder move' moves the blobs and sets it",
};

/** Refuses a secret setting: its value would end up in the shell's history and in the audit log. */
export function refuseSecret(name: string, { secret }: ConfigurationKey): void {
  if (!secret) return;
  const remedy =
    otherCommands[name] ?? 'change it in larder.toml with an editor, then send the server SIGHUP or restart it';
  throw new UsageError(`${name} leads to a secret and is neither shown nor changed here; ${remedy}`);
}

/** Parses a typed value to the type of the setting. */
export function readValue(name: string, key: ConfigurationKey, words: readonly string[]): ConfigValue {
  const [word = ''] = words;
  if (words.length > 1) {
    if (key.types.includes('array')) return words;
    throw new UsageError(`${name} has one value; quote a value that contains spaces`);
  }
  if (key.types.includes('boolean') && ['true', 'false'].includes(word)) return word === 'true';
  if (key.types.includes('integer') && /^-?[0-9]{1,16}$/.test(word)) return Number(word);
  return key.types.includes('array') && !key.types.includes('string') ? [word] : word;
}

/** The values that the configuration file sets; keys that it does not set are absent. */
export function readSettings(data: string): ReadonlyMap<string, ConfigValue> {
  const values = readConfigText(join(data, 'larder.toml'));
  return new Map(
    [...sections()].flatMap(([section]) =>
      Object.entries(valuesIn(values, section))
        .map(([key, value]): [string, ConfigValue] => [`${section}.${key}`, value as ConfigValue])
        .filter(([name]) => !sections().has(name)),
    ),
  );
}

export const configurationText = (data: string): string => readFileSync(join(data, 'larder.toml'), 'utf8');

/** The value as the file has it; `(not set)` if there is neither a value nor a default. */
export const formatSetting = (value: ConfigValue | undefined): string =>
  value === undefined ? '(not set)' : tomlValue(value);
