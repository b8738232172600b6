// Writes the help of commands from their records.
import {
  commonOptions,
  isRepeated,
  isRequired,
  optionName,
  type Command,
  type CommandGroup,
  type Option,
  type CommandOptions,
  type Positional,
  type World,
} from '../command.ts';
import { columns, style, wrap, type Style } from '../terminal.ts';

/** Every exit code with its meaning. */
export const exitCodes: readonly (readonly [string, string])[] = [
  ['0', 'Done.'],
  ['1', 'Failed, or something is wrong; the reason is on standard error.'],
  ['2', 'The command line is wrong, or a command that asks for confirmation had no terminal.'],
  ['3', 'Another larder uses the data directory.'],
  ['130', 'Interrupted by Ctrl-C at a question.'],
];

/** `larder account create --email EMAIL [--id ID]` */
export function usageLine({ name, options, positionals }: Command): string {
  const entries = Object.entries(options);
  return [
    'larder',
    name,
    ...positionals.map(placeUsage),
    ...entries.filter(([, option]) => isRequired(option)).map(([option, record]) => optionName(option, record)),
    ...entries.filter(([, option]) => !isRequired(option)).map(([option, record]) => optionUsage(option, record)),
  ].join(' ');
}

const placeName = ({ name, value }: Positional) => value ?? name.toUpperCase();

function placeUsage(positional: Positional): string {
  if (positional.repeated === true) return `[${placeName(positional)}]...`;
  return positional.optional === true ? `[${placeName(positional)}]` : placeName(positional);
}

const optionUsage = (name: string, option: Option) => `[${optionName(name, option)}]${isRepeated(option) ? '...' : ''}`;

/** The short help after a usage error. */
export function shortHelp(command: Command): string {
  return `Usage: ${usageLine(command)}\nExample: ${command.examples[0]!}\nMore: larder help ${command.name}\n`;
}

/** The complete help of a command. */
export function commandHelp(command: Command, { bold, width }: Style): string {
  const parts = [`${wrap(command.summary, width).join('\n')}\n`];
  if (command.description !== undefined) parts.push(`${wrap(command.description, width).join('\n')}\n`);
  parts.push(
    `${bold('Usage')}\n${wrap(usageLine(command), width - 2)
      .map((line) => `  ${line}\n`)
      .join('')}`,
  );
  if (command.positionals.length > 0) {
    const rows = command.positionals.map((place) => [placeName(place), place.summary] as const);
    parts.push(`${bold('Arguments')}\n${columns(rows, width)}`);
  }
  const own = Object.keys(command.options).length > 0;
  if (own) parts.push(`${bold('Options')}\n${optionRows(command.options, width)}`);
  parts.push(`${bold(own ? 'Options of every command' : 'Options')}\n${optionRows(commonOptions, width)}`);
  const examples = command.examples.map((example) => `  ${example}\n`).join('');
  parts.push(`${bold(command.examples.length > 1 ? 'Examples' : 'Example')}\n${examples}`);
  return parts.join('\n');
}

function optionRows(options: CommandOptions, width: number): string {
  return columns(
    Object.entries(options).map(([name, option]) => {
      const choices = option.type === 'string' && option.choices ? ` One of ${option.choices.join(', ')}.` : '';
      const more = isRepeated(option) ? ' May be given more than once.' : '';
      const range = option.type === 'integer' ? ` From ${String(option.minimum)} to ${String(option.maximum)}.` : '';
      return [optionName(name, option), `${option.summary}${choices}${range}${more}`] as const;
    }),
    width,
  );
}

/** All commands, in their groups. */
export function overview(
  groups: readonly { title: string; commands: readonly Command[] }[],
  { bold, width }: Style,
): string {
  const parts = [`larder keeps and serves the packages of a site without internet.\n`];
  parts.push(`${bold('Usage')}\n  larder COMMAND [OPTIONS]\n`);
  for (const { title, commands } of groups) {
    parts.push(
      `${bold(title)}\n${columns(
        commands.map(({ name, summary }) => [name, summary] as const),
        width,
      )}`,
    );
  }
  parts.push(`${bold('Options of every command')}\n${optionRows(commonOptions, width)}`);
  parts.push(`${bold('Exit codes')}\n${columns(exitCodes, width)}`);
  parts.push(`'larder help COMMAND' tells more, with an example.\n`);
  return parts.join('\n');
}

const firstSteps: readonly (readonly [string, string])[] = [
  ['demo', 'Make a small store to try larder with, in a folder of its own.'],
  ['init', 'Make a new store.'],
  ['serve', 'Serve it.'],
  ['status', "Show the state of the store. 'larder doctor' shows faults and how to repair them."],
];

/** The first screen: the most common commands, and each topic with the first words of its commands. */
export function firstScreen(groups: readonly CommandGroup[], { bold, width }: Style): string {
  const topics = groups.map(({ title, commands }): [string, string] => [
    title,
    [...new Set(commands.map(({ name }) => name.split(' ')[0]!))].join(', '),
  ]);
  const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name));
  const first = firstSteps.filter(([name]) => names.includes(name));
  return [
    `larder keeps and serves the packages of a site without internet.\n`,
    `${bold('Usage')}\n  larder COMMAND [OPTIONS]\n`,
    ...(first.length === 0 ? [] : [`${bold('First steps')}\n${columns(first, width)}`]),
    `${bold('Commands')}\n${topics
      .map(
        ([title, words]) =>
          `  ${title}\n${wrap(words, width - 4)
            .map((line) => `    ${line}\n`)
            .join('')}`,
      )
      .join('')}`,
    `'larder help WORD' tells about a command or a topic, with examples.\n'larder help --all' lists every command.\n`,
  ].join('\n');
}

/** The help of a command for programs. */
export function helpRecord(command: Command): object {
  const { name, summary, description, positionals, options, examples } = command;
  return { name, summary, description, usage: usageLine(command), positionals, options, examples };
}

/** The list of commands, shown if the command line names none. */
export const listOf = (groups: readonly CommandGroup[], { stderr, env }: World): string =>
  firstScreen(groups, style(stderr, env));

/** Loads the records of all commands in these groups. */
export const load = (groups: readonly CommandGroup[]): Promise<{ title: string; commands: Command[] }[]> =>
  Promise.all(
    groups.map(async ({ title, commands }) => ({
      title,
      commands: await Promise.all(commands.map((entry) => entry.load())),
    })),
  );
