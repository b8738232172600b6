// Asks the person at the terminal. Questions go to the standard error, because programs read the standard output. Without a
// terminal no question is asked.
import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { Failure, UsageError, type World } from './command.ts';
import { visible } from './terminal.ts';

/** Whether a person is at the terminal to answer. */
export const canAsk = ({ stdin, stderr }: Pick<World, 'stdin' | 'stderr'>): boolean =>
  stdin.isTTY === true && stderr.isTTY === true;

export interface TerminalDialog {
  /** Reads one line; returns the proposal if it is empty. */
  ask(question: string, proposal?: string): Promise<string>;
  /** Reads one line without echo. */
  askHidden(question: string): Promise<string>;
  /** Prints text between two questions. */
  say(text: string): void;
}

/** The exit code that a shell gives to a program ended by Ctrl-C. */
const interrupted = 130;

/** Opens a dialog at the terminal until `talk` ends. Ctrl-C and Ctrl-D end it with a Failure. */
export async function converse<Result>(
  world: World,
  talk: (with_: TerminalDialog) => Promise<Result>,
): Promise<Result> {
  const { stdin, stderr } = world;
  let hidden = false;
  const echo = new Writable({
    write(chunk: Buffer, _encoding, written) {
      if (!hidden) stderr.write(chunk.toString('utf8'));
      written();
    },
  });
  const lines = createInterface({
    input: stdin,
    output: Object.assign(echo, { columns: stderr.columns ?? 80 }),
    terminal: true,
    historySize: 0,
  });
  const line = lineByLine(lines);
  const prompt = (text: string): void => {
    lines.setPrompt(text);
    lines.prompt();
  };
  try {
    return await talk({
      async ask(question, proposal) {
        prompt(`${question}${proposal === undefined ? '' : ` [${proposal}]`}: `);
        return (await line()).trim() || (proposal ?? '');
      },
      async askHidden(question) {
        prompt(`${question}: `);
        hidden = true;
        try {
          return await line();
        } finally {
          hidden = false;
          stderr.write('\n');
        }
      },
      say: (text) => void stderr.write(`${text}\n`),
    });
  } catch (error) {
    // Start the error message on an empty line.
    if (error instanceof Failure) stderr.write('\n');
    throw error;
  } finally {
    lines.close();
  }
}

/** Returns a function that reads the next line; it rejects with a Failure at the end of the input. */
function lineByLine(lines: Interface): () => Promise<string> {
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => undefined);
  lines.on('SIGINT', () => {
    ended.reject(new Failure('interrupted; nothing was done', { exitCode: interrupted, code: 'interrupted' }));
  });
  lines.on('close', () => {
    ended.reject(new Failure('no answer; nothing was done', { code: 'not-confirmed' }));
  });
  // Lines that are typed ahead wait for their question.
  const typed: string[] = [];
  let resolveNext: ((line: string) => void) | undefined;
  lines.on('line', (line) => {
    if (resolveNext === undefined) typed.push(line);
    else resolveNext(line);
  });
  return async () => {
    const next = Promise.withResolvers<string>();
    const early = typed.shift();
    if (early === undefined) resolveNext = next.resolve;
    else next.resolve(early);
    return Promise.race([next.promise, ended.promise]).finally(() => (resolveNext = undefined));
  };
}

/** Asks for confirmation; throws if the answer is not yes. */
export async function requireConfirmation(world: World, question: string): Promise<void> {
  const answer = await converse(world, ({ ask }) => ask(`${visible(question)} Continue? [y/N]`));
  if (/^y(?:es)?$/i.test(answer)) return;
  throw new Failure('not confirmed; nothing was done', { code: 'not-confirmed' });
}

/** The refusal of a command that needs confirmation but has no terminal. */
export const needsYes = (command: string, question: string): UsageError =>
  new UsageError(`'${command}' asks for confirmation, and there is no terminal; add --yes to confirm. ${question}`);

/** Reads a new secret, typed twice. */
export const newSecret = (world: World, label: string): Promise<string> =>
  converse(world, async ({ askHidden, say }) => {
    for (;;) {
      const first = await askHidden(`New ${label}`);
      if (first !== '' && first === (await askHidden(`The same ${label} again`))) return first;
      say(first === '' ? `The ${label} is empty.` : `These are two different ${label}s.`);
    }
  });
