// Refusals: errors of the caller, with the problem and the remedy. Any other thrown error is a fault of the store.

/** All error codes with their HTTP status. */
export const statuses = {
  'api-error': 400,
  'invalid-tracks': 400,
  'invalid-token': 400,
  'account-not-found': 400,
  'macaroon-authorization-required': 401,
  'macaroon-needs-refresh': 401,
  'invalid-credentials': 401,
  'twofactor-required': 401,
  'twofactor-failure': 401,
  'permission-required': 401,
  'exchange-window-expired': 401,
  // snapd's code when a device must prove its serial again.
  'device-authorization-needs-refresh': 401,
  // snapd's code when it must refresh the discharge of a login.
  'user-authorization-needs-refresh': 401,
  forbidden: 403,
  // The act waits for approvals. The same request succeeds when they are given.
  'approval-required': 403,
  'resource-not-found': 404,
  // snapd handles this code quietly; any other makes it report that the store is broken.
  'not-found': 404,
  'method-not-allowed': 405,
  'already-registered': 409,
  'already-owned': 409,
  'reserved-name': 409,
  'conflicting-tracks': 409,
  conflict: 409,
  'login-expired': 410,
  reset: 410,
  'length-required': 411,
  'request-too-large': 413,
  'unsupported-media-type': 415,
  'too-many-requests': 429,
  'header-too-large': 431,
  sealed: 503,
  'shutting-down': 503,
  'too-many-connections': 503,
  'remote-service-unavailable': 503,
  'insufficient-storage': 507,

  // Errors of the image registry (OCI distribution specification, error codes).
  'blob-upload-invalid': 400,
  'digest-invalid': 400,
  'manifest-invalid': 400,
  unauthorized: 401,
  'blob-unknown': 404,
  'blob-upload-unknown': 404,
  'manifest-blob-unknown': 404,
  'manifest-unknown': 404,
  'name-unknown': 404,
  'range-invalid': 416,
} as const;

export type RefusalCode = keyof typeof statuses;

/** A refused call. The message is for the person behind it. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  /** Seconds after which a retry makes sense (RFC 9110, Retry-After). */
  readonly retryAfter: number | undefined;
  /** Headers of the response, such as the progress of an upload. */
  readonly headers: Record<string, string>;

  constructor(code: RefusalCode, message: string, retryAfter?: number, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.status = statuses[code];
    this.retryAfter = retryAfter;
    this.headers = headers;
  }
}

/** A refusal with its cause, which is logged but not sent. */
export const withCause = (cause: unknown, refusal: Refusal): Refusal => Object.assign(refusal, { cause });

/** Returns the message if `work` throws a refusal, and undefined if it succeeds. Any other error is thrown. */
export async function refusalReason(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/** Seconds after which an engine may be available again. */
const awhile = 5;

/** The error when an engine does not respond, or not in time. `problem` names the engine and the effect on the caller. */
export const engineUnavailable = (cause: unknown, problem: string): Refusal =>
  withCause(cause, new Refusal('remote-service-unavailable', `${problem} Try again in a few seconds.`, awhile));

/** Whether an error means that a remote engine is unavailable, so that a retry may succeed. */
export const isEngineUnavailable = (error: unknown): error is Refusal =>
  error instanceof Refusal && error.code === 'remote-service-unavailable';

/** A field of a change that conflicts with an edit by another account. */
export interface ConflictingField {
  /** The name that clients use. */
  name: string;
  current: string | null;
  /** The value that was sent. */
  value: string | null;
}

/** A change that would overwrite edits made here. Clients that can show them get each field separately. */
export class ConflictingFields extends Refusal {
  readonly fields: readonly ConflictingField[];

  constructor(fields: readonly ConflictingField[]) {
    super('conflict', fields.map(inConflict).join(' '));
    this.fields = fields;
  }
}

/** The message about such a field. */
export const inConflict = ({ name }: ConflictingField): string =>
  `The ${name.replaceAll('_', ' ')} was changed in the store.`;
