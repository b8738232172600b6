// Parses the arguments of a command as its declaration defines them.
import { resolve } from 'node:path';
import { nearest } from '#domain/nearest.ts';
import {
  commonOptions,
  isRepeated,
  isRequired,
  optionName,
  UsageError,
  type CommandCall,
  type Command,
  type Option,
  type CommandOptions,
  type World,
} from './command.ts';

type ParsedOptionValue = string | number | boolean | string[] | undefined;

/** Parses the arguments that follow the command's name; throws UsageError. */
export function readArguments(command: Command, args: readonly string[], world: World): CommandCall {
  const options: CommandOptions = { ...command.options, ...commonOptions };
  const parsed = new Map<string, ParsedOptionValue>();
  const places: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '--') places.push(...rest.splice(0));
    else if (arg.startsWith('-') && arg !== '-' && !isValue(arg, command))
      readOption(command.name, options, arg, rest, parsed);
    else places.push(arg);
  }
  const positionals = readPlaces(command, places);
  const missing = Object.entries(options).flatMap(([name, option]) =>
    isRequired(option) && !parsed.has(name) ? [optionName(name, option)] : [],
  );
  if (missing.length > 0) throw new UsageError(`'${command.name}' needs ${missing.join(' and ')}`);
  const values = Object.entries(command.options).map(([name, option]) => [name, parsed.get(name) ?? absent(option)]);
  return {
    options: Object.fromEntries(values) as CommandCall['options'],
    positionals,
    data: resolve((parsed.get('data') as string | undefined) ?? (world.env['LARDER_DATA'] || '/var/lib/larder')),
    json: parsed.get('json') === true,
    quiet: parsed.get('quiet') === true,
    world,
  };
}

/** Tells a value from an option: ids and digests in base64url may start with a dash, and are longer than any option. */
function isValue(arg: string, { options, positionals }: Command): boolean {
  const name = arg.slice(2);
  const isLong = arg.startsWith('--') ? /^[\w-]{30,}$/.test(name) : /^-[\w-]{11,}$/.test(arg);
  return isLong && positionals.length > 0 && !Object.hasOwn(options, name);
}

const absent = (option: Option): ParsedOptionValue =>
  option.type === 'boolean' ? false : isRepeated(option) ? [] : undefined;

/** Parses one option into `given`; takes its value from `rest` if the argument has no `=`. */
function readOption(
  command: string,
  options: CommandOptions,
  arg: string,
  rest: string[],
  parsed: Map<string, ParsedOptionValue>,
): void {
  const equals = arg.indexOf('=');
  const written = equals === -1 ? arg : arg.slice(0, equals);
  const name = written.startsWith('--') ? written.slice(2) : '';
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (!option) throw new UsageError(unknownOption(command, written, Object.keys(options)));
  const repeated = isRepeated(option);
  if (parsed.has(name) && !repeated) throw new UsageError(`--${name} is given twice`);
  if (option.type === 'boolean') {
    if (equals !== -1) throw new UsageError(`--${name} takes no value`);
    parsed.set(name, true);
    return;
  }
  const text = equals === -1 ? rest.shift() : arg.slice(equals + 1);
  if (equals === -1 && text?.startsWith('--')) {
    throw new UsageError(`--${name} needs a value; write a value that begins with dashes as --${name}=${text}`);
  }
  if (text === undefined || text === '') throw new UsageError(`--${name} needs a value, ${option.value}`);
  const value = option.type === 'integer' ? integer(name, option, text) : chosen(name, option.choices, text);
  parsed.set(name, repeated ? [...((parsed.get(name) as string[] | undefined) ?? []), String(value)] : value);
}

function unknownOption(command: string, written: string, names: readonly string[]): string {
  const meant = nearest(written.replace(/^-+/, ''), names);
  const hint = written.startsWith('--') ? '' : "; a value that begins with a dash is written behind '--'";
  return `unknown option '${written}' of '${command}'${meant === undefined ? hint : `; did you mean '--${meant}'?`}`;
}

function integer(name: string, { minimum, maximum }: { minimum: number; maximum: number }, text: string): number {
  const value = /^-?[0-9]{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= minimum && value <= maximum) return value;
  throw new UsageError(`--${name} is a whole number from ${String(minimum)} to ${String(maximum)}, not '${text}'`);
}

function chosen(name: string, choices: readonly string[] | undefined, text: string): string {
  if (!choices || choices.includes(text)) return text;
  const meant = nearest(text, choices);
  const hint = meant === undefined ? `; it is one of ${choices.join(', ')}` : `; did you mean '${meant}'?`;
  throw new UsageError(`--${name} cannot be '${text}'${hint}`);
}

function readPlaces({ name: command, positionals }: Command, places: readonly string[]): CommandCall['positionals'] {
  const values: Record<string, string | readonly string[] | undefined> = {};
  let taken = 0;
  for (const { name, value, optional, repeated } of positionals) {
    if (repeated === true) {
      values[name] = places.slice(taken);
      taken = places.length;
    } else {
      values[name] = places[taken++];
      if (!values[name] && optional !== true) throw new UsageError(`'${command}' needs ${value ?? name.toUpperCase()}`);
    }
  }
  if (taken < places.length) throw new UsageError(`'${command}' cannot use '${String(places[taken])}'`);
  return values as CommandCall['positionals'];
}
