// Suggests the next word of a command line, for the completion of shells.
import { setTimeout as sleep } from 'node:timers/promises';
import { seconds } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import {
  commonOptions,
  isRepeated,
  type CommandCall,
  type Command,
  type CommandGroup,
  type Option,
  type World,
} from '../command.ts';
import { becomeOwner } from '../owner.ts';
import { fixedValues, lookupFor } from './candidates.ts';

/** Maximum number of candidates; a shell asks before it prints more. */
const maxCandidates = 500;

/** The candidates for the last of these words, which may be empty or incomplete. Never throws: a shell shows no errors. */
export async function suggest(
  groups: readonly CommandGroup[],
  typed: readonly string[],
  call: Pick<CommandCall, 'data' | 'world'>,
): Promise<string[]> {
  // Bash splits --option=value into three words.
  const words = typed.filter((word, at) => word !== '=' || at === typed.length - 1);
  const last = words.at(-1) ?? '';
  const prefix = last === '=' ? '' : last;
  const all = await candidatesFor(groups, words.slice(0, -1), prefix, call);
  return [...new Set(all)].filter((word) => word.startsWith(prefix)).slice(0, maxCandidates);
}

async function candidatesFor(
  groups: readonly CommandGroup[],
  before: readonly string[],
  prefix: string,
  call: Pick<CommandCall, 'data' | 'world'>,
): Promise<readonly string[]> {
  const entries = groups.flatMap(({ commands }) => commands);
  const names = entries.map(({ name }) => name);
  const [first = '', second = ''] = before;
  if (first === 'help') return wordsAfter(names, before.slice(1));
  const name = [`${first} ${second}`, first].find((each) => names.includes(each));
  const below = before.length < 2 && !prefix.startsWith('-') ? wordsAfter(names, before) : [];
  if (name === undefined) return below.length > 0 ? below : Object.keys(commonOptions).map((option) => `--${option}`);
  const command = await entries.find((entry) => entry.name === name)!.load();
  const rest = before.slice(name.split(' ').length);
  return [...below, ...(await argumentsOf(command, rest, prefix, call).catch(() => []))];
}

/** The next words of the commands that start with these words. */
const wordsAfter = (names: readonly string[], words: readonly string[]): string[] =>
  names
    .map((name) => name.split(' '))
    .filter((parts) => parts.length > words.length && words.every((word, at) => parts[at] === word))
    .map((parts) => parts[words.length]!);

async function argumentsOf(
  command: Command,
  words: readonly string[],
  prefix: string,
  { data, world }: Pick<CommandCall, 'data' | 'world'>,
): Promise<readonly string[]> {
  const options: Readonly<Record<string, Option>> = { ...command.options, ...commonOptions };
  const typed: Record<string, string> = {};
  const usedOptions = new Set<string>();
  let place = 0;
  let pending: string | undefined;
  for (const word of words) {
    if (pending !== undefined) [typed[pending], pending] = [word, undefined];
    else if (word.startsWith('--')) {
      const [name = '', value] = word.slice(2).split(/=(.*)/s);
      usedOptions.add(name);
      if (value === undefined && options[name] !== undefined && options[name].type !== 'boolean') pending = name;
      else if (value !== undefined) typed[name] = value;
    } else {
      const positional = command.positionals[place];
      if (positional !== undefined) typed[positional.name] = word;
      if (positional?.repeated !== true) place += 1;
    }
  }
  const from = typed['data'] ?? data;
  if (pending !== undefined) {
    const option = options[pending];
    if (option?.type === 'string' && option.choices) return option.choices;
    return valuesOf(command.name, `--${pending}`, { data: from, world }, typed);
  }
  if (prefix.startsWith('-')) {
    return Object.entries(options).flatMap(([name, option]) =>
      usedOptions.has(name) && !isRepeated(option) ? [] : [`--${name}`],
    );
  }
  const positional = command.positionals[place];
  return positional === undefined ? [] : valuesOf(command.name, positional.name, { data: from, world }, typed);
}

async function valuesOf(
  command: string,
  place: string,
  { data, world }: Pick<CommandCall, 'data' | 'world'>,
  typed: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const fixed = fixedValues(command, place);
  if (fixed !== undefined) return fixed;
  const lookup = lookupFor(command, place);
  if (lookup === undefined) return [];
  becomeOwner(data);
  return Promise.race([inStore(data, world, (records) => lookup(records, typed)), tooLate()]);
}

async function inStore<Result>(
  data: string,
  world: World,
  work: (records: StoreRecords) => Promise<Result>,
): Promise<Result> {
  // Loaded here, because most words need no store.
  const { openStore } = await import('#data/store.ts');
  const store = await openStore({ directory: data, credentials: world.env['CREDENTIALS_DIRECTORY'] });
  try {
    return await work(store.records);
  } finally {
    await store.close();
  }
}

/** Timeout of 2 s, for example if the database server is down: a person at a prompt does not wait longer. */
const tooLate = (): Promise<readonly string[]> => sleep(seconds(2), [], { ref: false });
