// Declares commands: one record per command, used to parse its arguments and to write its help.
import type { Readable } from 'node:stream';

import type { Actor } from '#acts/act.ts';

/** `--name`, given at most once. */
interface FlagOption {
  readonly type: 'boolean';
  readonly summary: string;
}

/** `--name VALUE` or `--name=VALUE`. */
interface TextOption {
  readonly type: 'string';
  /** The placeholder of the value in the help, such as EMAIL. */
  readonly value: string;
  readonly summary: string;
  readonly required?: boolean;
  /** Whether the option may be repeated; the command then gets a list. */
  readonly repeated?: boolean;
  /** The allowed values. */
  readonly choices?: readonly string[];
}

interface IntegerOption {
  readonly type: 'integer';
  readonly value: string;
  readonly summary: string;
  readonly required?: boolean;
  readonly minimum: number;
  readonly maximum: number;
}

export type Option = FlagOption | TextOption | IntegerOption;
export type CommandOptions = Readonly<Record<string, Option>>;

/** The option as the help shows it: `--name VALUE`. */
export const optionName = (name: string, option: Option) =>
  `--${name}${option.type === 'boolean' ? '' : ` ${option.value}`}`;

export const isRequired = (option: Option) => option.type !== 'boolean' && (option.required ?? false);
export const isRepeated = (option: Option) => option.type === 'string' && (option.repeated ?? false);

/** A positional argument. */
export interface Positional {
  readonly name: string;
  /** The placeholder in the help, such as NAMESPACE/NAME; default: the name in capitals. */
  readonly value?: string;
  readonly summary: string;
  /** Only the last argument may be optional or repeated; a repeated one may be absent. */
  readonly optional?: boolean;
  readonly repeated?: boolean;
}

/** The options that every command accepts. */
export const commonOptions = {
  data: {
    type: 'string',
    value: 'DIR',
    summary: 'The data directory of the store. Default: $LARDER_DATA, else /var/lib/larder.',
  },
  json: { type: 'boolean', summary: 'Print one JSON document.' },
  quiet: { type: 'boolean', summary: 'Print nothing on success.' },
  help: { type: 'boolean', summary: 'Show the help of the command.' },
} as const satisfies CommandOptions;

type Needed<Value, Of> = Of extends { readonly required: true } ? Value : Value | undefined;
type OptionValue<O extends Option> = O extends { readonly type: 'boolean' }
  ? boolean
  : O extends { readonly type: 'integer' }
    ? Needed<number, O>
    : O extends { readonly repeated: true }
      ? readonly string[]
      : Needed<string, O>;
type PositionalValue<P extends Positional> = P extends { readonly repeated: true }
  ? readonly string[]
  : P extends { readonly optional: true }
    ? string | undefined
    : string;

/** A stream for text. */
export interface CommandOutput {
  /** May return a promise, which settles when the text has been written. */
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** The width of the terminal. */
  readonly columns?: number | undefined;
}

/** The environment that a command runs in. */
export interface World {
  readonly stdout: CommandOutput;
  readonly stderr: CommandOutput;
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The author of changes if a page of the server starts the command; by default the user of the host. */
  readonly actor?: Actor | undefined;
  /** Lowers the priority of this thread from here on; for long work alongside a serving store. */
  readonly yieldToOthers?: () => void;
}

/** One invocation of a command. */
export interface CommandCall<
  O extends CommandOptions = CommandOptions,
  P extends readonly Positional[] = readonly Positional[],
> {
  readonly options: { readonly [Name in keyof O]: OptionValue<O[Name]> };
  readonly positionals: { readonly [Each in P[number] as Each['name']]: PositionalValue<Each> };
  /** The data directory, an absolute path. */
  readonly data: string;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly world: World;
}

/** The result of a command: `text` for people (may be empty), `json` for programs. */
export interface CommandResult {
  readonly text: string;
  readonly json: unknown;
  /** Default 0; a command that ran successfully may still report a problem. */
  readonly exitCode?: number;
  /** Releases the source of the answer after it is printed. */
  readonly done?: () => void;
}

/** Adds a text and members to an answer. */
export const extendAnswer = (answer: CommandResult, text: string, json: unknown): CommandResult => ({
  ...answer,
  text: `${answer.text}\n${text}`,
  json: { ...(answer.json as object), ...(json as object) },
});

/** A command asks for confirmation if its effect cannot be undone or locks an account out. */
export interface Confirmation<C> {
  /** Describes the effect in one or two sentences; undefined if this call needs no confirmation. */
  question(call: C): string | undefined | Promise<string | undefined>;
  /** Without a terminal and without `--yes`, the call is refused or continues. */
  readonly unattended: 'refused' | 'goes on';
}

interface Definition<O extends CommandOptions, P extends readonly Positional[]> {
  /** One or two words, such as `account create`. */
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  readonly options?: O;
  readonly positionals?: P;
  /** Complete command lines. */
  readonly examples: readonly [string, ...string[]];
  readonly confirm?: Confirmation<CommandCall<O, P>>;
  run(call: CommandCall<O, P>): CommandResult | Promise<CommandResult>;
}

/** A command with any options and arguments. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly options: CommandOptions;
  readonly positionals: readonly Positional[];
  readonly examples: readonly string[];
  readonly confirm: Confirmation<CommandCall> | undefined;
  run(call: CommandCall): Promise<CommandResult>;
}

/** A command's name and a loader of its record: a run loads only the modules of its own command. */
export interface CommandEntry {
  readonly name: string;
  readonly load: () => Promise<Command>;
}

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly CommandEntry[];
}

/** The option of every command that asks for confirmation. */
const yes = { type: 'boolean', summary: 'Continue without asking.' } as const satisfies Option;

/** Declares a command. */
export function command<
  // eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- a command without options has none
  const O extends CommandOptions = Record<never, never>,
  const P extends readonly Positional[] = [],
>(definition: Definition<O, P>): Command {
  const { name, summary, description, positionals = [], examples, confirm } = definition;
  const options: CommandOptions = { ...definition.options, ...(confirm && { yes }) };
  for (const option of Object.keys(options)) {
    if (option in commonOptions) throw new Error(`cannot declare '${name}': every command has --${option} already`);
  }
  return {
    name,
    summary,
    description,
    options,
    positionals,
    examples,
    confirm,
    // The parser follows the same definition as the types, so the cast is safe.
    run: async (call) => definition.run(call as unknown as CommandCall<O, P>),
  };
}

/** A command failed; the message is one sentence for the person at the terminal. */
export class Failure extends Error {
  readonly exitCode: number;
  readonly code: string;

  constructor(
    message: string,
    { exitCode = 1, code = 'failed', cause }: { exitCode?: number; code?: string; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'Failure';
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** The command line is invalid. */
export class UsageError extends Failure {
  constructor(message: string) {
    super(message, { exitCode: 2, code: 'usage' });
    this.name = 'UsageError';
  }
}

/** The refusal of a data directory that another process serves or changes. */
export const dataInUse = (data: string) =>
  new Failure(`the data directory ${data} is in use by another larder`, { exitCode: 3, code: 'data-in-use' });
