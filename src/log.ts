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
      // No line is meant to hold a token; should one ever carry a request's headers, these stay out of it.
      redact: { paths: ['*.headers.authorization', '*.headers.macaroons', '*.macaroon', 'macaroon'], censor: '[hidden]' },
    },
    destination ?? pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 250 }),
  );
}
