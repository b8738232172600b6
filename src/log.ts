// The log: one line for each thing that happened, on standard error; JSON for programs, text for people.
import { writeSync } from 'node:fs';

import { pino, type DestinationStream, type Logger } from 'pino';

export interface LogOptions {
  /** Whether the next line is for people; asked for each. */
  asText?: () => boolean;
  destination?: Destination;
  /** Which of several processes that serve the store together writes, where there are several. */
  worker?: number | undefined;
  /** Whether other processes write to the same place; they do where this one is a worker. */
  others?: boolean;
}

type Destination = DestinationStream & {
  flush?(done?: () => void): void;
  /** Whom to tell how many lines were lost, once lines can be written again. */
  onLost?(tell: (lines: number) => void): void;
};

/** What the configuration or the command line says of the form of the lines. */
export type LogFormat = 'auto' | 'json' | 'text';

/** Text for people at a terminal and JSON for programs elsewhere, unless somebody says otherwise. */
export const isForPeople = (format: LogFormat, isTerminal: boolean | undefined): boolean =>
  format === 'text' || (format === 'auto' && isTerminal === true);

/**
 * A logger. Lines for standard error are gathered for a moment and written together, so that a request
 * does not wait for its line; `flush` writes what has been gathered.
 */
export function createLog(
  level: string,
  { asText = () => false, destination, worker, others = worker !== undefined }: LogOptions = {},
): Logger {
  const out = destination ?? standardError(others);
  const log = pino(
    {
      level,
      base: null,
      timestamp: stamp(worker),
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
  out.onLost?.((lines) => {
    log.warn({ lines }, 'the log found no room, and so many of its lines are lost');
  });
  return log;
}

/** What the line of an answered request says, where nothing went wrong; nothing in it needs to be escaped. */
export interface AnsweredLine {
  request: string;
  operation: string;
  method: string;
  status: number;
  account: string | undefined;
  address: string;
  ms: number;
}

/** What a logger of pino has inside: where it writes to, and how it says when. */
interface Inside {
  [pino.symbols.streamSym]: DestinationStream;
  [pino.symbols.timeSym]: () => string;
}

/** Writes the one line that every request writes as pino would, by heart: 0.4 µs instead of 1.8. */
export function logAnswered(log: Logger, line: AnsweredLine): void {
  if (!log.isLevelEnabled('info')) return;
  const { [pino.symbols.streamSym]: out, [pino.symbols.timeSym]: time } = log as unknown as Inside;
  const { request, operation, method, status, account, address, ms } = line;
  const whose = account === undefined ? '' : `,"account":"${account}"`;
  out.write(
    `{"level":"info"${time()},"request":"${request}","operation":"${operation}","method":"${method}","status":${status}` +
      `${whose},"address":"${address}","ms":${ms},"msg":"answered"}\n`,
  );
}

/** How many bytes are written together, and after how many milliseconds at the latest. */
const together = 16 * 1024;
const atLatest = 250;

/**
 * What several processes write to one pipe stays whole up to so many bytes, which is PIPE_BUF of Linux; longer writes may be cut where
 * whoever reads is behind.
 */
const whole = 4096;

/** How many bytes wait at most for room on the disk of the log; a line that is longer may wait alone. */
const waiting = 1024 * 1024;

/**
 * Gathers lines as bytes, for 0.2 µs each. Gathered as texts, for 1.7 µs, they live long enough to be moved about by the
 * garbage collector (`npm run bench -- tricks`). Where `others` write to the same place, what is written at a time is so short that
 * their lines do not mix: given to one process that writes for all, each line cost 2 µs.
 */
function standardError(others: boolean): Destination {
  const out = outgoing();
  const bytes = Buffer.allocUnsafe(2 * together);
  let used = 0;
  const flush = (done?: () => void): void => {
    // A copy, because what cannot be written at once is kept until it can.
    const gathered = Buffer.from(bytes.subarray(0, used));
    used = 0;
    for (const piece of others ? inPieces(gathered) : [gathered]) out.write(piece);
    done?.();
  };
  setInterval(() => {
    flush();
  }, atLatest).unref();
  process.once('exit', () => {
    flush();
  });
  return {
    write(line) {
      const most = 3 * line.length; // bytes of UTF-8
      if (used + most > bytes.length) flush();
      if (most > bytes.length) out.write(Buffer.from(line));
      else used += bytes.write(line, used);
      if (used > together) flush();
    },
    flush,
    onLost: out.onLost,
  };
}

/** Whole lines, as many at a time as are written together; a longer line is alone. */
function* inPieces(lines: Buffer): Generator<Buffer> {
  for (let at = 0, end: number; at < lines.length; at = end) {
    const last = lines.subarray(at, at + whole).lastIndexOf(lineFeed);
    end = last >= 0 ? at + last + 1 : lines.indexOf(lineFeed, at) + 1;
    yield lines.subarray(at, end);
  }
}

/**
 * What goes to standard error, in turn. The store goes on where the disk of its log is full: lines wait for room, which is
 * looked for whenever something is written, and those that do not fit among the waiting ones are lost.
 */
function outgoing(): { write(bytes: Buffer): void; onLost: NonNullable<Destination['onLost']> } {
  let held: Buffer[] = [];
  let size = 0;
  let lost = 0;
  let tell: (lines: number) => void = () => undefined;
  const hold = (bytes: Buffer): void => {
    if (bytes.length === 0) return;
    if (size > 0 && size + bytes.length > waiting) {
      lost += bytes.reduce((lines, byte) => (byte === lineFeed ? lines + 1 : lines), 0);
      return;
    }
    held.push(bytes);
    size += bytes.length;
  };
  return {
    onLost(told) {
      tell = told;
    },
    write(bytes) {
      hold(bytes);
      for (let [first] = held; first !== undefined; [first] = held) {
        const written = writeSome(first);
        if (written === 0) return;
        size -= written;
        held = written < first.length ? [first.subarray(written), ...held.slice(1)] : held.slice(1);
      }
      const lines = lost;
      lost = 0;
      if (lines > 0) tell(lines);
    },
  };
}

const lineFeed = 10;

/** Writes the beginning of these bytes to standard error; says how many, none where there is no room for them. */
function writeSome(bytes: Buffer): number {
  for (;;) {
    try {
      return writeSync(2, bytes);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') return bytes.length; // nobody reads on
      if (code !== 'EAGAIN') return 0;
      // Somebody reads slowly from a pipe that does not block.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** The moment in ISO 8601 as pino wants it, written once a millisecond; and behind it who writes, which costs nothing there. */
function stamp(worker: number | undefined): () => string {
  const who = worker === undefined ? '' : `,"worker":${String(worker)}`;
  let last = NaN;
  let text = '';
  return () => {
    const moment = Date.now();
    if (moment !== last) text = `,"time":"${new Date(moment).toISOString()}"${who}`;
    last = moment;
    return text;
  };
}

/** The same line for people: when, how grave, what, and what else is known, each value so that it stays one word. */
function textLine(line: string): string {
  const { level, time, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const known = Object.entries(rest).filter(([, value]) => value !== undefined && value !== null);
  return `${[
    word(time).replace('T', ' '),
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
