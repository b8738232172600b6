// The log: one line for each thing that happened, on standard error; JSON for programs, text for people.
import { pino, type DestinationStream, type Logger } from 'pino';

export interface LogOptions {
  /** Whether the next line is for people; asked for each. */
  asText?: () => boolean;
  destination?: DestinationStream & { flush?(done?: () => void): void };
}

/** What the configuration or the command line says of the form of the lines. */
export type LogFormat = 'auto' | 'json' | 'text';

/** Text for people at a terminal and JSON for programs elsewhere, unless somebody says otherwise. */
export const isForPeople = (format: LogFormat, isTerminal: boolean | undefined): boolean =>
  format === 'text' || (format === 'auto' && isTerminal === true);

/**
 * A logger. Lines for standard error are gathered for a moment and written together, so that a request
 * does not wait for its line; `flush` writes what has been gathered.
 */
export function createLog(level: string, { asText = () => false, destination }: LogOptions = {}): Logger {
  const out = destination ?? pino.destination({ dest: 2, sync: true, minLength: 16_000, periodicFlush: 250 });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    {
      write: (line: string) => {
        out.write(asText() ? textLine(line) : line);
      },
      flush: (done?: () => void) => {
        out.flush?.(done);
      },
    } as DestinationStream,
  );
}

/** The same line for people: when, how grave, what, and what else is known, each value so that it stays one word. */
function textLine(line: string): string {
  const { level, time, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const known = Object.entries(rest).filter(([, value]) => value !== undefined && value !== null);
  return `${[
    word(time).replace('T', ' ').replace('Z', ''),
    word(level).toUpperCase().padEnd(5),
    inOneLine(typeof msg === 'string' ? msg : ''),
    ...known.map(([name, value]) => `${inOneLine(name)}=${word(value)}`),
  ]
    .join(' ')
    .trimEnd()}\n`;
}

function word(value: unknown): string {
  const { message, stack } = (typeof value === 'object' ? (value ?? {}) : {}) as { message?: unknown; stack?: unknown };
  const written =
    typeof value === 'string'
      ? value
      : typeof message === 'string' && typeof stack === 'string'
        ? errorText(message, stack)
        : JSON.stringify(value);
  return inOneLine(/^[^\s"=]+$/.test(written) ? written : JSON.stringify(written));
}

/** What went wrong, and where it began. */
function errorText(message: string, stack: string): string {
  const place = /^\s+at (.*)$/m.exec(stack)?.[1];
  return place === undefined ? message : `${message} (at ${place})`;
}

/** What comes from others can neither begin a line of its own nor steer a terminal. */
const inOneLine = (text: string): string =>
  text.replace(
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
