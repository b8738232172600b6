// Writes refusals in the format of each family of clients; the message is the same for all.
import { ConflictingFields, inConflict, Refusal, statuses, type RefusalCode } from '#domain/refusal.ts';
import { isOutOfFiles } from '#platform/system-errors.ts';
import { json, type OutgoingResponse } from './response/outgoing-response.ts';

/**
 * The families of clients, by the error format that they read:
 * - `publisher`: the interface's own format;
 * - `bakery`: clients of an identity provider;
 * - `sso`: clients of the Ubuntu One login;
 * - `dashboard`: older publishing tools;
 * - `libraries`: clients that fetch many charm libraries at once;
 * - `registry`: clients of image registries;
 * - `device`: snapd when it requests a serial; it shows the message to the person at the device;
 * - `snapd`: snapd when it installs and refreshes;
 * - `juju`: deploys charms, and never sends a token.
 */
export type ErrorFamily =
  'publisher' | 'bakery' | 'sso' | 'dashboard' | 'libraries' | 'registry' | 'device' | 'snapd' | 'juju';

/**
 * The family of clients at an unknown address. Image repositories may have any name below `/v2/`, except for the words that devices use
 * there.
 */
export function familyAt(path: string): ErrorFamily {
  const [, first, second = ''] = path.split('/');
  switch (first) {
    case 'v2':
      return deviceWords.includes(second) ? 'publisher' : 'registry';
    case 'api':
      return second === 'v2' ? 'sso' : 'publisher';
    case 'dev':
      return second === 'api' ? 'dashboard' : 'publisher';
    case 'identity':
      return 'bakery';
    default:
      return 'publisher';
  }
}

const deviceWords = ['snaps', 'charms', 'assertions', 'cohorts', 'auth', 'messages', 'repairs'];

/**
 * The status of a refusal. Clients of the dashboard take every 401 for an ended login and delete it, so a missing permission is 403 for
 * them.
 */
export const statusIn = (family: ErrorFamily, code: RefusalCode): number =>
  family === 'dashboard' && code === 'permission-required' ? 403 : statuses[code];

/** The response to a refused or failed call. */
export function toErrorResponse(error: unknown, family: ErrorFamily, allow: string | undefined): OutgoingResponse {
  const refusal = error instanceof Refusal ? error : isOutOfFiles(error) ? outOfFiles() : undefined;
  const { code, message } = refusal ?? internal;
  const status = refusal === undefined ? 500 : statusIn(family, refusal.code);
  return {
    status,
    headers: {
      ...json,
      ...(refusal?.retryAfter !== undefined && { 'retry-after': String(refusal.retryAfter) }),
      ...(allow !== undefined && { allow }),
      ...refusal?.headers,
    },
    body: JSON.stringify(toConflictDetails(refusal, family) ?? bodies[family](code, message, status)),
  };
}

/** The details of conflicting fields, for clients that show each field by itself. */
function toConflictDetails(refusal: Refusal | undefined, family: ErrorFamily): object | undefined {
  if (family !== 'dashboard' || !(refusal instanceof ConflictingFields)) return undefined;
  const { code, fields } = refusal;
  return {
    error_list: fields.map((field) => {
      const { name, current, value } = field;
      return { code, message: inConflict(field), extra: { name, field: name, current, value } };
    }),
  };
}

/** Temporary: it ends when other clients disconnect. */
const outOfFiles = (): Refusal =>
  new Refusal('too-many-connections', 'The store has reached its limit of connections. Try again in a moment.', 5);

const internal = {
  code: 'internal-error',
  message: 'The server failed. Its log has the details under this x-request-id.',
};

/**
 * The store version that snapd reads from every response: below 6 it does not ask this store for serials, below 55 it sends less in a
 * refresh.
 */
export const snapStoreVersion = '60';

const bodies: Record<ErrorFamily, (code: string, message: string, status: number) => object> = {
  publisher: (code, message) => ({
    'error-list': [{ code, message }],
    // Web front ends recognize by these two members that a login is needed.
    ...(code === 'macaroon-authorization-required' && {
      Code: 'macaroon discharge required',
      Message: 'discharge required',
    }),
  }),
  // The codes of httpbakery, if it has one (error.go); it reads nothing else.
  bakery: (code, message, status) => ({ Code: bakeryCodes[status] ?? code.replaceAll('-', ' '), Message: message }),
  // The code in capitals and underscores, as the Ubuntu One service writes it; some clients read the list.
  sso: (code, message) => ({
    code: code === 'api-error' ? 'INVALID_DATA' : code.toUpperCase().replaceAll('-', '_'),
    message,
    extra: {},
    error_list: [{ code, message }],
  }),
  dashboard: (code, message) => ({ error_list: [{ code, message }] }),
  snapd: (code, message) => ({ 'error-list': [{ code, message }] }),
  juju: (code, message) => ({ 'error-list': [{ code: jujuCodes[code] ?? code, message }] }),
  device: (code, message) => ({ message, error_list: [{ code, message }] }),
  // Its clients look up the error without a code, and fail if the member is absent.
  libraries: (_, message) => ({ 'error-list': [{ code: null, message }] }),
  // The codes of the OCI distribution specification: most are our codes in capitals, some have another name.
  registry: (code, message) => ({
    errors: [{ code: registryCodes[code] ?? code.toUpperCase().replaceAll('-', '_'), message, detail: null }],
  }),
};

const registryCodes: Record<string, string> = {
  'api-error': 'UNSUPPORTED',
  'method-not-allowed': 'UNSUPPORTED',
  'unsupported-media-type': 'UNSUPPORTED',
  'resource-not-found': 'NAME_UNKNOWN',
  forbidden: 'DENIED',
  conflict: 'BLOB_UPLOAD_INVALID',
  'request-too-large': 'SIZE_INVALID',
  'too-many-requests': 'TOOMANYREQUESTS',
};

/** The code that tells juju to wait (internal/charmhub/transport). */
const jujuCodes: Record<string, string> = { 'too-many-requests': 'rate-limit-exceeded' };

const bakeryCodes: Record<number, string> = {
  400: 'bad request',
  401: 'permission denied',
  403: 'permission denied',
  404: 'not found',
  405: 'method not allowed',
};
