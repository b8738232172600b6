// How a refusal is worded. Each family of clients reads errors in its own shape; what is said is the same.
import { ConflictingFields, inConflict, Refusal, statuses, type RefusalCode } from '#domain/refusal.ts';
import { isOutOfFiles } from '#src/system-errors.ts';
import { json, type Sent } from './sent.ts';

/**
 * `publisher` is the interface's own; `bakery` is read by the clients of an identity provider, `sso` by those
 * of the Ubuntu-One style of logging in, `dashboard` by older publishing tools, `libraries` by those who fetch many charm
 * libraries at once, `registry` by those of image registries, `device` by snapd when it asks for a serial, which shows its
 * message to whoever stands before the device, `snapd` by the same where it installs and refreshes, `juju` by whoever
 * deploys charms, who never brings a token.
 */
export type ErrorFamily =
  'publisher' | 'bakery' | 'sso' | 'dashboard' | 'libraries' | 'registry' | 'device' | 'snapd' | 'juju';

/**
 * The family of the clients that ask at an address where nothing is. Repositories of images may have any name below `/v2/`,
 * but for the words that devices use there.
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
 * The status of a refusal. Clients of the dashboard take every 401 for a login that has ended, and throw it away: a right
 * that a token lacks is 403 for them.
 */
export const statusIn = (family: ErrorFamily, code: RefusalCode): number =>
  family === 'dashboard' && code === 'permission-required' ? 403 : statuses[code];

/** What a refused or failed call is told. */
export function refused(error: unknown, family: ErrorFamily, allow: string | undefined): Sent {
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
    body: JSON.stringify(toldOf(refusal, family) ?? bodies[family](code, message, status)),
  };
}

/** What is told of fields in conflict to clients that show each by itself. */
function toldOf(refusal: Refusal | undefined, family: ErrorFamily): object | undefined {
  if (family !== 'dashboard' || !(refusal instanceof ConflictingFields)) return undefined;
  const { code, fields } = refusal;
  return {
    error_list: fields.map((field) => {
      const { name, current, value } = field;
      return { code, message: inConflict(field), extra: { name, field: name, current, value } };
    }),
  };
}

/** It goes by when others have hung up. */
const outOfFiles = (): Refusal =>
  new Refusal('too-many-connections', 'The store has as many connections as it can take; try again in a moment.', 5);

const internal = {
  code: 'internal-error',
  message: 'Something went wrong on the server; its log has the details under this x-request-id.',
};

/**
 * How new a store snapd takes this for, which every answer to it says: below 6 it goes round it for serials, below 55 it tells
 * less in a refresh.
 */
export const snapStoreVersion = '60';

const bodies: Record<ErrorFamily, (code: string, message: string, status: number) => object> = {
  publisher: (code, message) => ({
    'error-list': [{ code, message }],
    // Web front ends know by these two that a login is due.
    ...(code === 'macaroon-authorization-required' && {
      Code: 'macaroon discharge required',
      Message: 'discharge required',
    }),
  }),
  // The codes of httpbakery, where it has one (error.go); it reads nothing else.
  bakery: (code, message, status) => ({ Code: bakeryCodes[status] ?? code.replaceAll('-', ' '), Message: message }),
  // The code in capitals and underscores as the service of that name has it; the list is what some clients look into.
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
  // Its clients look up the error without a code, and stumble when there is none.
  libraries: (_, message) => ({ 'error-list': [{ code: null, message }] }),
  // The codes of the OCI distribution specification, which ours are in capitals, and some that mean the same.
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

/** The word by which juju knows that it is told to wait (internal/charmhub/transport). */
const jujuCodes: Record<string, string> = { 'too-many-requests': 'rate-limit-exceeded' };

const bakeryCodes: Record<number, string> = {
  400: 'bad request',
  401: 'permission denied',
  403: 'permission denied',
  404: 'not found',
  405: 'method not allowed',
};
