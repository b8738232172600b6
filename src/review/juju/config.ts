// Checks config.yaml as juju reads it (juju/charm v12.1: config.go).
import { plain, quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import { decodeMembers, decodeText } from './decode.ts';
import {
  booleanOf,
  describe,
  fileOf,
  integerOf,
  isNonText,
  refused,
  textOf,
  within,
  type YamlPlace,
} from './values.ts';

/** Readers of default values, by the type of their option. */
const readers: Record<string, (value: TypedYaml, place: YamlPlace) => unknown> = {
  string: textOf,
  int: integerOf,
  boolean: booleanOf,
  secret: checkSecret,
  float(value, place) {
    if (isNonText(value) && value.type !== 'bool') return;
    throw refused(place, `the default must be a number, but is ${describe(value)}`);
  },
};

/** Checks the options of config.yaml. Throws `Unacceptable`. */
export function checkConfig(document: TypedYaml, file: string): void {
  const place = fileOf(file);
  const members = decodeMembers(document, place);
  const options = decodeMembers(members.get('options'), within(place, 'options'));
  if (!members.has('options'))
    throw refused(place, "it has no 'options'", "Add 'options: {}', or leave the file out of the charm.");
  for (const [name, option] of options) checkOption(option, within(within(place, 'options'), name), name);
}

function checkOption(value: TypedYaml, place: YamlPlace, name: string): void {
  const members = decodeMembers(value, place);
  const type = decodeText(members.get('type'), within(place, 'type')) || 'string';
  decodeText(members.get('description'), within(place, 'description'));
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (read === undefined) {
    const typeNames = Object.keys(readers).join(', ');
    throw refused(
      place,
      `the option ${quoted(name)} has the unknown type ${quoted(type)}`,
      `Name one of ${typeNames}.`,
    );
  }
  const preset = members.get('default') ?? null;
  if (preset === null || preset === '') {
    // For options of type string, juju treats an empty default as absent.
    if (preset === null || type === 'string' || type === 'secret') return;
  }
  read(preset, within(place, 'default'));
}

function checkSecret(value: TypedYaml, place: YamlPlace): void {
  const text = textOf(value, place);
  if (/^secret:(?:[^\s%]|%[0-9a-f]{2})*$/i.test(text)) return;
  throw refused(place, `the default '${plain(text)}' of a secret is no address of one`, "Write such as 'secret:ID'.");
}
