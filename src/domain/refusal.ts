// A refusal says no to the caller: what is wrong and what to do. Everything else that is thrown is our fault.

/** Every code the publisher interface may send, with its status. */
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
  forbidden: 403,
  'resource-not-found': 404,
  'method-not-allowed': 405,
  'already-registered': 409,
  'already-owned': 409,
  'reserved-name': 409,
  'conflicting-tracks': 409,
  conflict: 409,
  'login-expired': 410,
  'length-required': 411,
  'request-too-large': 413,
  'unsupported-media-type': 415,
  'too-many-requests': 429,
  'header-too-large': 431,
  sealed: 503,
  'shutting-down': 503,
  'remote-service-unavailable': 503,
  'insufficient-storage': 507,
} as const;

export type RefusalCode = keyof typeof statuses;

/** A call that is refused; the message is for the person who made it. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  /** Seconds after which trying again makes sense (RFC 9110, Retry-After). */
  readonly retryAfter: number | undefined;

  constructor(code: RefusalCode, message: string, retryAfter?: number) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.status = statuses[code];
    this.retryAfter = retryAfter;
  }
}
