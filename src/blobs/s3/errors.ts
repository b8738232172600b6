// Errors of an S3 server, and their messages for people. An error is never proof that content is corrupt. The absence
// of an object is believed only if the marker of the store exists (see marker.ts).
import { notEnoughSpace } from '#domain/disk-full.ts';
import { engineUnavailable, withCause, Refusal } from '#domain/refusal.ts';
import { formatBucketAddress, type BucketAddress } from '#contract/bucket-address.ts';

/** A request to the server failed; the message is one sentence with the reason. */
export class BucketError extends Error {
  /** The message includes everything that the cause says. */
  readonly saysAll = true;
}

/** Whether an error comes from the server or from the connection to it. */
const isOfServer = (error: unknown): boolean =>
  error instanceof BucketError ||
  (error instanceof Error && ('$metadata' in error || /^(?:AbortError|TimeoutError)$/.test(error.name)));

interface S3ErrorFields {
  name?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number };
}

/** The HTTP status of an error; 0 if there was no response. */
export const statusOf = (error: unknown): number =>
  (error as S3ErrorFields | undefined)?.$metadata?.httpStatusCode ?? 0;

/** The error code of S3, such as `NoSuchKey`, or of the system or TLS. */
export function codeOf(error: unknown): string {
  const { name = '', code } = error as S3ErrorFields;
  return code ?? name;
}

/** Whether this server says that the object does not exist; a missing bucket is a different error. */
export const isAbsent = (error: unknown): boolean => statusOf(error) === 404 && codeOf(error) !== 'NoSuchBucket';

/** Whether the server denies access. */
export const isForbidden = (error: unknown): boolean => [401, 403].includes(statusOf(error));

/** Whether the server asks for fewer requests. */
export const isThrottled = (error: unknown): boolean =>
  statusOf(error) === 429 || /^(?:SlowDown|Throttl|RequestThrottl|RequestLimit|Bandwidth)/.test(codeOf(error));

/** Whether the server may be throttling; a response to HEAD has no body with the reason. */
export const isBusy = (error: unknown): boolean => isThrottled(error) || statusOf(error) === 503;

/** Whether the same request may succeed later: the server did not answer, or had an internal error. */
export const isTransient = (error: unknown): boolean =>
  isOfServer(error) && (statusOf(error) === 0 || statusOf(error) >= 500);

/** Seconds until a retry makes sense if an administrator has to act first. */
const retryAfterSeconds = 300;

const forbidden = (cause: unknown): Refusal =>
  withCause(
    cause,
    new Refusal(
      'remote-service-unavailable',
      'The server with the files of the store refuses this request. Nothing was changed. Ask the administrator of the store to check that server, and try again later.',
      retryAfterSeconds,
    ),
  );

/** The error for a client that requested content. */
export const unavailable = (cause: unknown): Refusal =>
  engineUnavailable(cause, 'The server with the files of the store does not respond correctly. Nothing was changed.');

/** Converts an error of the S3 server to a refusal for the client; returns other errors unchanged. */
export function forCaller(error: unknown): unknown {
  if (!isOfServer(error)) return error;
  if (statusOf(error) === 507 || /^(?:QuotaExceeded|XMinioStorageFull|InsufficientStorage)/.test(codeOf(error))) {
    return withCause(error, notEnoughSpace());
  }
  return isForbidden(error) ? forbidden(error) : unavailable(error);
}

/** Why the store cannot be opened: one sentence with a remedy, for the person who starts it. */
export function cannotOpen(address: BucketAddress, cause: unknown): BucketError {
  if (cause instanceof BucketError) return cause;
  return new BucketError(`cannot open ${formatBucketAddress(address)}: ${whyNot(address, cause)}`, { cause });
}

/** Why the server failed, as a sentence for the administrator. */
export function whyNot(address: BucketAddress, cause: unknown): string {
  if (cause instanceof BucketError) return cause.message;
  // For an address with several families, the reason is in the nested errors.
  const inner = cause instanceof AggregateError ? (cause.errors[0] as unknown) : cause;
  const message = inner instanceof Error ? inner.message : String(inner);
  const key = `${codeOf(inner)} ${String(statusOf(inner))} `;
  const reason = reasons.find(([pattern]) => pattern.test(key))?.[1];
  return reason?.(address) ?? message;
}

const reasons: [RegExp, (address: BucketAddress) => string][] = [
  [/^NoSuchBucket /, ({ bucket }) => `the server has no bucket ${bucket}; create it there first`],
  [/^InvalidAccessKeyId /, () => 'it does not know the access_key_id of credentials_file'],
  [/^SignatureDoesNotMatch /, () => 'the secret_access_key of credentials_file does not belong to its access_key_id'],
  [
    /^RequestTimeTooSkewed /,
    () => 'its clock and the clock of this machine are more than 15 minutes apart; correct the wrong one',
  ],
  [/^(?:AuthorizationHeaderMalformed|InvalidRegion) /, () => 'it is in another region; name that in blobs.region'],
  [
    /^(?:AccessDenied|\w+) 403 /,
    ({ bucket }) =>
      `the credentials in credentials_file do not permit listing, reading, writing and removing in the bucket ${bucket}; grant these permissions on the server`,
  ],
  [/^ENOTFOUND |^EAI_AGAIN /, ({ host }) => `this machine cannot resolve ${host}`],
  [/^ECONNREFUSED /, () => 'no server listens there; check that the server runs on that port'],
  [/^(?:TimeoutError|AbortError) /, () => 'the server does not answer within four seconds'],
  [/^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ECONNRESET|EPIPE) /, () => 'the server does not answer'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID /, ({ host }) => `its certificate is not for the name ${host}`],
  [/^CERT_HAS_EXPIRED /, () => 'its certificate has expired'],
  [
    /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+|CERT_\w+) /,
    () => 'no trusted authority has signed its certificate; name the authority in blobs.authority_file',
  ],
  [/^(?:EPROTO|ERR_SSL_\w+|HPE_\w+) /, () => 'the server does not speak the protocol of the address, https or http'],
  [/^SlowDown| 429 $/, () => 'the server limits the number of requests; allow more requests on the server'],
  [/ 5\d\d $/, () => 'the server has failed; check its log'],
];
