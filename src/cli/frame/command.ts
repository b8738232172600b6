// How a command is declared: one record, from which its arguments are read and its help is written.
import type { Readable } from 'node:stream';

/** `--name`, given at most once. */
interface Flag {
  readonly type: 'boolean';
  readonly summary: string;
}

/** `--name VALUE` or `--name=VALUE`. */
interface Text {
  readonly type: 'string';
  /** What the value is called in the help, such as EMAIL. */
  readonly value: string;
  readonly summary: string;
  readonly required?: boolean;
  /** Whether it may be given more than once; the command then gets a list. */
  readonly repeated?: boolean;
  /** The words of which the value must be one. */
  readonly choices?: readonly string[];
}

interface Integer {
  readonly type: 'integer';
  readonly value: string;
  readonly summary: string;
  readonly required?: boolean;
  readonly minimum: number;
  readonly maximum: number;
}

export type Option = Flag | Text | Integer;
export type Options = Readonly<Record<string, Option>>;

/** As it is typed: `--name VALUE`. */
export const optionName = (name: string, option: Option) =>
  `--${name}${option.type === 'boolean' ? '' : ` ${option.value}`}`;

export const isRequired = (option: Option) => option.type !== 'boolean' && (option.required ?? false);
export const isRepeated = (option: Option) => option.type === 'string' && (option.repeated ?? false);

/** An argument that is told by its place. */
export interface Positional {
  readonly name: string;
  /** What it is called in the help, such as NAMESPACE/NAME; otherwise its name in capitals. */
  readonly value?: string;
  readonly summary: string;
  /** Only the last may be optional or repeated; a repeated one may be absent. */
  readonly optional?: boolean;
  readonly repeated?: boolean;
}

/** Every command takes these too. */
export const commonOptions = {
  data: {
    type: 'string',
    value: 'DIR',
    summary: 'The data directory of the store; otherwise $LARDER_DATA, otherwise /var/lib/larder.',
  },
  json: { type: 'boolean', summary: 'Answer with one JSON document.' },
  quiet: { type: 'boolean', summary: 'Say nothing when all goes well.' },
  help: { type: 'boolean', summary: 'Show the help of the command.' },
} as const satisfies Options;

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

/** Where text goes. */
export interface Output {
  /** Where it returns a promise, the text has gone out once that is kept. */
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** How wide the terminal is. */
  readonly columns?: number | undefined;
}

/** What a command has of the world. */
export interface World {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Lets every other process go first from here on; for long work beside a serving store. */
  readonly yieldToOthers?: () => void;
}

/** One use of a command. */
export interface Call<O extends Options = Options, P extends readonly Positional[] = readonly Positional[]> {
  readonly options: { readonly [Name in keyof O]: OptionValue<O[Name]> };
  readonly positionals: { readonly [Each in P[number] as Each['name']]: PositionalValue<Each> };
  /** The data directory, an absolute path. */
  readonly data: string;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly world: World;
}

/** What a command has to say when it is done: `text` to people (may be empty), `json` to programs. */
export interface Answer {
  readonly text: string;
  readonly json: unknown;
  /** 0 unless said otherwise: a command that was done may have found something wrong. */
  readonly exitCode?: number;
  /** Gives back what the answer was read from, once it is told. */
  readonly done?: () => void;
}

/** That a command asks before it acts, because what it does cannot be taken back or shuts somebody out. */
export interface Confirmation<C> {
  /** What will happen, in a sentence or two; undefined when this call does nothing of the kind. */
  question(call: C): string | undefined | Promise<string | undefined>;
  /** Where nobody can be asked and `--yes` is not given, such a call is refused, or goes on. */
  readonly unattended: 'refused' | 'goes on';
}

interface Definition<O extends Options, P extends readonly Positional[]> {
  /** One word or two, such as `account create`. */
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  readonly options?: O;
  readonly positionals?: P;
  /** Whole command lines. */
  readonly examples: readonly [string, ...string[]];
  readonly confirm?: Confirmation<Call<O, P>>;
  run(call: Call<O, P>): Answer | Promise<Answer>;
}

/** Any command. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly options: Options;
  readonly positionals: readonly Positional[];
  readonly examples: readonly string[];
  readonly confirm: Confirmation<Call> | undefined;
  run(call: Call): Promise<Answer>;
}

/** A command's name, and its record when that is wanted: a command loads only what it needs itself. */
export interface Entry {
  readonly name: string;
  readonly load: () => Promise<Command>;
}

export interface Group {
  readonly title: string;
  readonly commands: readonly Entry[];
}

/** What every command takes that asks before it acts. */
const yes = { type: 'boolean', summary: 'Go on without asking.' } as const satisfies Option;

/** Declares a command. */
// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- a command without options has none
export function command<const O extends Options = Record<never, never>, const P extends readonly Positional[] = []>(
  definition: Definition<O, P>,
): Command {
  const { name, summary, description, positionals = [], examples, confirm } = definition;
  const options: Options = { ...definition.options, ...(confirm && { yes }) };
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
    // What the arguments are read into follows the same record as the types.
    run: async (call) => definition.run(call as unknown as Call<O, P>),
  };
}

/** A command that could not do what it was asked; the message is one sentence for the person at the terminal. */
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

/** A command line that cannot be meant. */
export class UsageError extends Failure {
  constructor(message: string) {
    super(message, { exitCode: 2, code: 'usage' });
    this.name = 'UsageError';
  }
}

/** The refusal of a data directory that another process serves or changes. */
export const dataInUse = (data: string) =>
  new Failure(`the data directory ${data} is in use by another larder`, { exitCode: 3, code: 'data-in-use' });
