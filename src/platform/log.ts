// The log: one line per event on standard error; JSON for programs, text for people.
import { writeSync } from 'node:fs';

import { pino, type DestinationStream, type Logger } from 'pino';

export interface LogOptions {
  /** Whether the next line is text for people; called for each line. */
  asText?: () => boolean;
  destination?: LogDestination;
  /** The number of this process among several that serve the store together, if there are several. */
  worker?: number | undefined;
  /** Whether other processes write to the same place, as they do for a worker. */
  others?: boolean;
}

type LogDestination = DestinationStream & {
  flush?(done?: () => void): void;
  /** Sets a function that gets the number of lost lines, once lines can be written again. */
  onLost?(tell: (lines: number) => void): void;
};

/** The format of the lines, from the configuration or the command line. */
export type LogFormat = 'auto' | 'json' | 'text';

/** Whether lines are text: by default at a terminal; JSON elsewhere. */
export const isForPeople = (format: LogFormat, isTerminal: boolean | undefined): boolean =>
  format === 'text' || (format === 'auto' && isTerminal === true);

/**
 * Creates a logger. Lines for standard error are buffered for a moment and written together, so that a request does not wait for its line;
 * `flush` writes the buffer.
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
    log.warn({ lines }, 'lines of the log are lost, because its disk was full');
  });
  return log;
}

/** The log line of a successful request; no value needs escaping. */
export interface AnsweredLine {
  request: string;
  operation: string;
  method: string;
  status: number;
  account: string | undefined;
  address: string;
  ms: number;
}

/** The internals of a pino logger: its destination, and its time function. */
interface PinoInternals {
  [pino.symbols.streamSym]: DestinationStream;
  [pino.symbols.timeSym]: () => string;
}

/** Writes the line of a request in the format of pino, without pino: 0.4 µs instead of 1.8 µs. */
export function logAnswered(log: Logger, line: AnsweredLine): void {
  if (!log.isLevelEnabled('info')) return;
  const { [pino.symbols.streamSym]: out, [pino.symbols.timeSym]: time } = log as unknown as PinoInternals;
  const { request, operation, method, status, account, address, ms } = line;
  const whose = account === undefined ? '' : `,"account":"${account}"`;
  out.write(
    `{"level":"info"${time()},"request":"${request}","operation":"${operation}","method":"${method}","status":${status}` +
      `${whose},"address":"${address}","ms":${ms},"msg":"answered"}\n`,
  );
}

/** The number of bytes written together, and the longest delay in milliseconds. */
const together = 16 * 1024;
const maxDelayMs = 250;

/**
 * Writes of several processes to one pipe stay intact up to this many bytes, which is PIPE_BUF of Linux; longer writes may be cut if the
 * reader is slow.
 */
const maxAtomicBytes = 4096;

/** The maximum of bytes that wait for space on the disk of the log; a longer line may wait alone. */
const waiting = 1024 * 1024;

/**
 * Buffers lines as bytes, at 0.2 µs per line. Buffered as strings, at 1.7 µs, they live long enough for the garbage collector to move them
 * (`npm run bench -- tricks`). If `others` write to the same place, each write is so short that lines of two processes do not mix: one
 * process that writes for all would cost 2 µs per line.
 */
function standardError(others: boolean): LogDestination {
  const out = outgoing();
  const bytes = Buffer.allocUnsafe(2 * together);
  let used = 0;
  const flush = (done?: () => void): void => {
    // A copy, because bytes that cannot be written now are kept until they can.
    const gathered = Buffer.from(bytes.subarray(0, used));
    used = 0;
    for (const piece of others ? inPieces(gathered) : [gathered]) out.write(piece);
    done?.();
  };
  setInterval(() => {
    flush();
  }, maxDelayMs).unref();
  process.once('exit', () => {
    flush();
  });
  return {
    write(line) {
      const maxBytes = 3 * line.length; // bytes of UTF-8
      if (used + maxBytes > bytes.length) flush();
      if (maxBytes > bytes.length) out.write(Buffer.from(line));
      else used += bytes.write(line, used);
      if (used > together) flush();
    },
    flush,
    onLost: out.onLost,
  };
}

/** Yields complete lines, as many at a time as are written together; a longer line is alone. */
function* inPieces(lines: Buffer): Generator<Buffer> {
  for (let at = 0, end: number; at < lines.length; at = end) {
    const last = lines.subarray(at, at + maxAtomicBytes).lastIndexOf(lineFeed);
    end = last >= 0 ? at + last + 1 : lines.indexOf(lineFeed, at) + 1;
    yield lines.subarray(at, end);
  }
}

/**
 * Writes to standard error in order. The store continues when the disk of its log is full: lines wait for space, every write tries again,
 * and lines above the maximum are lost.
 */
function outgoing(): { write(bytes: Buffer): void; onLost: NonNullable<LogDestination['onLost']> } {
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
    onLost(callback) {
      tell = callback;
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

/** Writes the beginning of these bytes to standard error; returns the number of written bytes, 0 if there is no space. */
function writeSome(bytes: Buffer): number {
  for (;;) {
    try {
      return writeSync(2, bytes);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') return bytes.length; // the reader is gone
      if (code !== 'EAGAIN') return 0;
      // The reader of a non-blocking pipe is slow.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** The time in ISO 8601 for pino, formatted once per millisecond. The worker number is appended here, at no extra cost. */
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

/** Formats a JSON line of the log as text: time, level, message, and the other members, each value as one word. */
function textLine(line: string): string {
  const { level, time, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const entries = Object.entries(rest).filter(([, value]) => value !== undefined && value !== null);
  return `${[
    word(time).replace('T', ' '),
    word(level).toUpperCase().padEnd(5),
    inOneLine(typeof msg === 'string' ? msg : ''),
    ...entries.map(([name, value]) => `${inOneLine(name)}=${word(value)}`),
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

/** The message of an error, and the place that threw it. */
function errorText(message: string, stack: string): string {
  const place = /^\s+at (.*)$/m.exec(stack)?.[1];
  return place === undefined ? message : `${message} (at ${place})`;
}

/** Escapes text from outside, so that it can neither begin a new line nor control a terminal. */
const inOneLine = (text: string): string =>
  text.replace(
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
