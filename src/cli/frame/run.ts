// Runs a command line.
import { Refusal } from '#domain/refusal.ts';
import { jsonTexts } from '#domain/sequence.ts';
import { ConfigError } from '#configuration/config-error.ts';
import { nearest } from '#domain/nearest.ts';
import { listCauses, inOneSentence } from '#platform/system-errors.ts';
import { readArguments } from './arguments.ts';
import {
  commonOptions,
  Failure,
  UsageError,
  type CommandCall,
  type Command,
  type CommandGroup,
  type World,
} from './command.ts';
import { canAsk, requireConfirmation, needsYes } from './questions.ts';
import { style, visible } from './terminal.ts';
import { listOf, shortHelp } from './help/usage.ts';

/** Runs a command line with one of these commands; returns an exit code of `usage.ts`. */
export async function run(argv: readonly string[], world: World, groups: readonly CommandGroup[]): Promise<number> {
  const entries = groups.flatMap(({ commands }) => commands);
  const json = has(argv, '--json');
  let command: Command | undefined;
  let call: CommandCall | undefined;
  try {
    const { name, args } = readName(
      argv,
      entries.map(({ name }) => name),
    );
    command = await entries.find((entry) => entry.name === name)?.load();
    if (!command) throw new Error(`cannot find the command '${name}'`);
    call = readArguments(command, args, world);
    await askFirst(command, call);
    const answer = await command.run(call);
    try {
      if (json) await print(world, jsonTexts(answer.json, piece));
      else if (answer.text !== '' && !call.quiet) await print(world, [answer.text]);
    } finally {
      answer.done?.();
    }
    return answer.exitCode ?? 0;
  } catch (error) {
    if (error instanceof MissingCommandError && !json) {
      world.stderr.write(listOf(groups, world));
      return error.exitCode;
    }
    return report(error, { command, json, data: call?.data }, world);
  }
}

/** Characters of an answer per write; keeps the extra memory for an answer of many megabytes small. */
const piece = 64 * 1024;

/** Prints an answer and a line end. Throws if that fails: a script would take an empty file for the answer. */
async function print({ stdout }: World, texts: Iterable<string>): Promise<void> {
  try {
    for (const text of texts) await stdout.write(text);
    await stdout.write('\n');
  } catch (cause) {
    const reason = inOneSentence(Object.assign(cause as Error, { path: 'its answer' }));
    throw new Failure(`the command was done, but cannot say so: ${reason}`, { code: 'cannot-write', cause });
  }
}

/** No command was given: a person then sees the list of commands. */
class MissingCommandError extends UsageError {
  constructor() {
    super('a command is needed');
  }
}

/** Asks for confirmation before the command runs, if its record requires it. */
async function askFirst({ name, confirm }: Command, call: CommandCall): Promise<void> {
  const question = await confirm?.question(call);
  if (confirm === undefined || question === undefined || call.options['yes'] === true) return;
  if (canAsk(call.world)) return requireConfirmation(call.world, question);
  if (confirm.unattended === 'refused') throw needsYes(name, question);
}

/** Whether one of the options is among the arguments before `--`. */
const has = (args: readonly string[], ...options: string[]) =>
  args.slice(0, args.includes('--') ? args.indexOf('--') : args.length).some((arg) => options.includes(arg));

/** Splits the command's name from its arguments; `--help` anywhere means `larder help` for the words before it. */
function readName(argv: readonly string[], names: readonly string[]): { name: string; args: readonly string[] } {
  const [before, words] = afterCommonOptions(argv);
  const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((candidate) => names.includes(candidate));
  const length = name?.split(' ').length ?? 0;
  if (has(argv, '--help', '-h')) {
    const option = words.findIndex((word) => word.startsWith('-'));
    const typed = option === -1 ? words : words.slice(0, option);
    const topic = name === 'help' && typed.length > 1 ? typed.slice(1) : typed.slice(0, length || 2);
    return { name: 'help', args: [...topic, ...(has(argv, '--json') ? ['--json'] : [])] };
  }
  if (name !== undefined) return { name, args: [...before, ...words.slice(length)] };
  throw words[0] === undefined ? new MissingCommandError() : new UsageError(unknownCommand(words, names));
}

/** Splits the common options, which may precede the command's name, from the rest. */
function afterCommonOptions(argv: readonly string[]): [readonly string[], readonly string[]] {
  let length = 0;
  for (let arg = argv[0]; arg?.startsWith('-'); arg = argv[length]) {
    const written = arg.replace(/=.*$/s, '');
    const option = written.replace(/^-+/, '');
    if (written === '--version') return [[], ['version', ...argv.slice(length + 1)]];
    if (written !== '-h' && !(written.startsWith('--') && Object.hasOwn(commonOptions, option))) {
      const meant = nearest(option, Object.keys(commonOptions));
      const hint =
        meant === undefined ? '; write the options of a command after its name' : `; did you mean '--${meant}'?`;
      throw new UsageError(`unknown option '${written}' before the command${hint}`);
    }
    length += arg === '--data' ? 2 : 1;
  }
  return [argv.slice(0, length), argv.slice(length)];
}

function unknownCommand(words: readonly string[], names: readonly string[]): string {
  const [first = '', second] = words;
  const typed = second === undefined || second.startsWith('-') ? first : `${first} ${second}`;
  const problem = `there is no command '${typed}'`;
  const below = names.filter((name) => name.startsWith(`${first} `)).map((name) => name.slice(first.length + 1));
  if (below.length > 0) {
    if (typed === first) return `'${first}' needs another word: ${below.join(', ')}`;
    const meant = nearest(typed.slice(first.length + 1), below);
    return meant === undefined
      ? `${problem}; there is ${below.join(', ')}`
      : `${problem}; did you mean '${first} ${meant}'?`;
  }
  const meant = nearest(typed, names) ?? nearest(first, [...names, ...names.map((name) => name.split(' ')[0]!)]);
  return meant === undefined ? problem : `${problem}; did you mean '${meant}'?`;
}

/** Prints the error to the standard error; returns the exit code. */
function report(
  error: unknown,
  { command, json, data }: { command: Command | undefined; json: boolean; data: string | undefined },
  { stderr, env }: World,
): number {
  const { message, code, exitCode } = describeError(error, data);
  const stack = env['LARDER_DEBUG'] === '1' ? stacks(error) : undefined;
  if (json) {
    stderr.write(`${JSON.stringify({ error: message, code, stack })}\n`);
    return exitCode;
  }
  const { red } = style(stderr, env);
  stderr.write(`${red('larder:')} ${visible(message)}\n`);
  if (error instanceof UsageError)
    stderr.write(command ? `\n${shortHelp(command)}` : `'larder help' lists the commands.\n`);
  if (stack !== undefined) stderr.write(`\n${stack}\n`);
  return exitCode;
}

function describeError(error: unknown, data: string | undefined): { message: string; code: string; exitCode: number } {
  if (error instanceof Failure) return error;
  if (error instanceof Refusal) return { message: error.message, code: error.code, exitCode: 1 };
  if (error instanceof ConfigError) return { message: error.message, code: 'configuration', exitCode: 1 };
  return { message: inOneSentence(error, { data }), code: 'failed', exitCode: 1 };
}

const stacks = (error: unknown) =>
  listCauses(error)
    .map((cause) => (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)))
    .join('\ncaused by ');
