// Classifies the errors of PostgreSQL and turns them into messages for a person.
import { diskFull } from '#domain/disk-full.ts';
import { engineUnavailable, withCause, Refusal } from '#domain/refusal.ts';
import { describeAddress, type PostgresAddress } from '#contract/postgres-address.ts';

/** Returns the code of an error: five characters of PostgreSQL (its appendix A), or a name of the system or of TLS. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Returns whether the error is a conflict with another transaction, so that a retry may succeed. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));

/** Returns whether the lock timeout ran out because another session holds a lock. */
export const hasLockTimedOut = (error: unknown): boolean => codeOf(error) === '55P03';

/** Returns whether the server refuses a statement because an earlier one of its transaction failed. */
export const isAborted = (error: unknown): boolean => codeOf(error) === '25P02';

/** Returns whether a statement was prepared before the tables changed. */
export const isStale = (error: unknown): boolean =>
  codeOf(error) === '0A000' && (error as Error).message.includes('cached plan');

/** Returns whether the server ends the session, or itself, with this error. */
export const endsSession = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && ['FATAL', 'PANIC'].includes(String(error.severity));

/** There is no connection, or none that can be used. The message gives the reason in one sentence, unless `cause` gives it. */
export class ConnectionFailure extends Error {
  /** Whether the message is complete, so that `cause` would only repeat it in the words of the system. */
  readonly saysAll: boolean;
  /** Whether a retry may succeed without any action of a person: the server is starting or overloaded. */
  readonly mayPass: boolean;

  constructor(
    message: string,
    { cause, saysAll = true, mayPass = false }: { cause?: unknown; saysAll?: boolean; mayPass?: boolean } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.saysAll = saysAll;
    this.mayPass = mayPass;
  }
}

/** Returns whether a retry may succeed: the connection was lost, or there is none yet. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ConnectionFailure ? error.mayPass : isLost(error) && codeOf(error) !== 'ENOTFOUND';

/** Returns whether the server itself gave the reason. Then it is running, and open connections stay usable. */
export const isServerError = (error: unknown): boolean =>
  error instanceof ConnectionFailure &&
  /^[0-9A-Z]{5}$/.test(codeOf(error.cause)) &&
  !/^(?:08|57P0)/.test(codeOf(error.cause));

/** Returns whether the connection was lost or could not be opened. The query may be sent again on another connection. */
export function isLost(error: unknown): boolean {
  if (error instanceof ConnectionFailure) return true;
  const code = codeOf(error);
  // The server stops, starts, or has too many connections; it ended this session; or no server listens at the address.
  if (/^(?:08...|57P0[1235]|53300|25P0[34])$/.test(code)) return true;
  if (/^(?:ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|ENOENT|ENOTFOUND)$/.test(code)) return true;
  return (
    error instanceof Error &&
    /^(?:Connection terminated|timeout expired|Client has encountered|Client was closed)/.test(error.message)
  );
}

/** The error for a caller that needs the records. `done` says whether the change was made. */
export const unavailable = (cause: unknown, done = 'Nothing was changed.'): Refusal =>
  engineUnavailable(cause, `The database of the store does not respond. ${done}`);

/** Turns an error of a statement or of a connection into the error for the caller. */
export function forCaller(error: unknown): unknown {
  if (isLost(error)) return unavailable(error);
  if (codeOf(error) === '53100') return diskFull(error, 'The disk of the database');
  // PostgreSQL cannot store the character U+0000.
  if (codeOf(error) === '22021') {
    const message = 'A text contains the NUL character, which the database cannot store.';
    return withCause(error, new Refusal('api-error', message));
  }
  // An index entry has room for texts of 2.7 kB.
  if (codeOf(error) === '54000') {
    const message = 'A text is too long for the index of the database.';
    return withCause(error, new Refusal('api-error', message));
  }
  return error;
}

/** Returns why there is no connection, with a remedy, in one sentence for the administrator. */
export function cannotConnect(address: PostgresAddress, cause: unknown): ConnectionFailure {
  const place = describeAddress(address);
  const message = cause instanceof Error ? cause.message : String(cause);
  const reason = reasons.find(([pattern]) => pattern.test(`${codeOf(cause)} ${message}`))?.[1];
  return new ConnectionFailure(`cannot open ${place}: ${reason?.(address) ?? message}`, {
    cause,
    mayPass: mayPass(cause),
  });
}

const reasons: [RegExp, (address: PostgresAddress) => string][] = [
  [/^28P01 |^28000 .*password/, ({ user }) => `it refuses the password of the user ${user}`],
  [
    /SASL|password must be a string/,
    ({ user }) => `it requires a password for the user ${user}, and the address has none or a wrong one`,
  ],
  [/^28000 /, ({ user }) => `it does not admit the user ${user} from this machine; add a rule to its pg_hba.conf`],
  [/^3D000 /, ({ database }) => `the server has no database ${database}; create it with createdb`],
  [/^ENOTFOUND |^EAI_AGAIN /, ({ host }) => `this machine cannot resolve ${host}`],
  [/^ECONNREFUSED |^ENOENT /, () => 'no server listens there; check that PostgreSQL runs on that port'],
  [/^EACCES /, ({ host }) => `this user may not use the socket in ${host}`],
  [/timeout expired|^ETIMEDOUT |^EHOSTUNREACH |^ENETUNREACH /, () => 'the server does not answer'],
  [
    /does not support SSL/,
    () => 'the server does not support TLS; turn on ssl there, or use sslmode=disable on a private network',
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID /, ({ host }) => `its certificate is not for the name ${host}`],
  [/^CERT_HAS_EXPIRED /, () => 'its certificate has expired'],
  [
    /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+|CERT_\w+) /,
    () => 'no trusted authority has signed its certificate; name the authority with sslrootcert=FILE',
  ],
  [/^53300 /, () => 'it has reached its maximum number of connections; raise max_connections there'],
  [/^57P03 /, () => 'it is starting or stopping; try again in a moment'],
];
