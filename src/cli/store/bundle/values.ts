// Defines the values that a support bundle may hold: closed lists of words, and formats that no name, address or secret has.
import { operations } from '#operations/index.ts';
import { statuses } from '#domain/refusal.ts';
import { faultKinds } from '#platform/faults.ts';

/** Returns an allowed text; undefined for any other, which leaves the field out. */
export const oneOf = (allowed: ReadonlySet<string>, value: unknown): string | undefined =>
  typeof value === 'string' && allowed.has(value) ? value : undefined;

export const numberOrNothing = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

export const flagOrNothing = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);

/** Returns a time in the store's format; parsed and formatted again, so that it contains no other text. */
export function momentOrNothing(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const read = value instanceof Date ? value : new Date(typeof value === 'string' ? value : NaN);
  return Number.isNaN(read.getTime()) ? undefined : read.toISOString();
}

/** A version number, such as 1.2.3. */
export const releaseOrNothing = (value: unknown): string | undefined =>
  typeof value === 'string' ? /^v?\d{1,5}(?:\.\d{1,5}){0,3}/.exec(value)?.[0] : undefined;

export const operationNames: ReadonlySet<string> = new Set([...operations.map(({ name }) => name), 'none']);
export const faultCodes: ReadonlySet<string> = new Set(Object.keys(faultKinds));
export const refusalCodes: ReadonlySet<string> = new Set(Object.keys(statuses));
export const logLevels: ReadonlySet<string> = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);
export const httpMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The jobs of a serving store. */
export const jobNames: ReadonlySet<string> = new Set([
  'add-increments',
  'confirm-certificate-logins',
  'confirm-openid-logins',
  'expire-branches',
  'expire-revisions',
  'expire-sessions',
  'finish-pushes',
  'forget-images',
  'forget-invites',
  'forget-passing',
  'forget-proposals',
  'forget-pull-credentials',
  'forget-sessions',
  'forget-uploads',
  'keep-approval-policy',
  'keep-catalog',
  'keep-room',
  'make-deltas',
  'match-vulnerabilities',
  'note-audit-end',
  'prove-records',
  'raise-rollouts',
  'read-bills',
  'read-charms',
  'record-findings',
  'remember-time',
  'renew-certificate',
  'retire-keys',
  'seal-audit',
  'sign-revisions',
  'sweep-blobs',
  'sweep-temporary',
  'watch-transfers',
]);
