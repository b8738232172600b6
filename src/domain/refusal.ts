// A refusal says no to the caller: what is wrong and what to do. Everything else that is thrown is our fault.

/** Every code that may be sent, with its status. */
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
  // What snapd calls it when a device must prove its serial anew.
  'device-authorization-needs-refresh': 401,
  forbidden: 403,
  // What waits until others approve of it; the same request is answered with success then.
  'approval-required': 403,
  'resource-not-found': 404,
  // What snapd takes calmly, where any other word means that the store is broken.
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

  // What the image registry says no to (OCI distribution specification, error codes).
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

/** A call that is refused; the message is for the person who made it. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  /** Seconds after which trying again makes sense (RFC 9110, Retry-After). */
  readonly retryAfter: number | undefined;
  /** What the answer says in its headers, such as where an upload stands. */
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

/** A refusal with what led to it, which is logged and never told. */
export const because = (cause: unknown, refusal: Refusal): Refusal => Object.assign(refusal, { cause });

/** Seconds after which an engine may be back. */
const awhile = 5;

/** What somebody is told who needs an engine that does not answer, or not him just now; `what` says which, and what it means for him. */
export const away = (cause: unknown, what: string): Refusal =>
  because(cause, new Refusal('remote-service-unavailable', `${what} Try again in a few seconds.`, awhile));

/** Whether something failed because an engine on another machine is away, so that the same may be done when it is back. */
export const isAway = (error: unknown): error is Refusal =>
  error instanceof Refusal && error.code === 'remote-service-unavailable';

/** What somebody wants to change, and what it was changed to by somebody else. */
export interface ConflictingField {
  /** As clients call it. */
  name: string;
  current: string | null;
  /** What was sent. */
  value: string | null;
}

/** A change that would undo what was edited here; those who can show it are told of each field by itself. */
export class ConflictingFields extends Refusal {
  readonly fields: readonly ConflictingField[];

  constructor(fields: readonly ConflictingField[]) {
    super('conflict', fields.map(inConflict).join(' '));
    this.fields = fields;
  }
}

/** What is told of such a field. */
export const inConflict = ({ name }: ConflictingField): string =>
  `The ${name.replaceAll('_', ' ')} was changed in the store.`;
