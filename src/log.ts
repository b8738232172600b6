// The log: one JSON line for each thing that happened, on standard error.
import { pino, type DestinationStream, type Logger } from 'pino';

/**
 * A logger. Lines for standard error are gathered for a moment and written together, so that a request
 * does not wait for its line; `flush` writes what has been gathered.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination ?? pino.destination({ dest: 2, sync: true, minLength: 16_000, periodicFlush: 250 }),
  );
}
