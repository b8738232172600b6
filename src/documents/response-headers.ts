// The response headers in the OpenAPI document.
import { headers, type HeaderName } from '#http/operation.ts';

const described = (description: string): object => ({ description, schema: { type: 'string' } });

/** Every response header, by the name that the document refers to. */
export const everyHeader: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries({
    'publishergw-version': 'The newest version of the interface that this store has.',
    'x-request-id': 'The id under which the log has this request.',
    'x-view-name': 'The operation that answered.',
    'macaroon-expires': 'When the token of the request ends, RFC 3339; from 14 days before its end.',
    'retry-after': 'After how many seconds it makes sense to ask again.',
    'www-authenticate': 'Where a token comes from; for a device, that it must prove its serial anew.',
    ...headers,
  }).map(([name, description]) => [name, described(description)]),
);

/** The headers of every response, plus these. */
export const headersWith = (
  ...names: (HeaderName | 'macaroon-expires' | 'retry-after' | 'www-authenticate')[]
): Readonly<Record<string, object>> =>
  Object.fromEntries(
    ['publishergw-version', 'x-request-id', 'x-view-name', ...names].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );
