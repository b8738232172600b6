// The headers of answers, as the OpenAPI document says them.
import { headers, type HeaderName } from '../operation.ts';

const described = (description: string): object => ({ description, schema: { type: 'string' } });

/** Every header that an answer may carry, by the name under which the document refers to it. */
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

/** What every answer carries, and these beside. */
export const carrying = (
  ...names: (HeaderName | 'macaroon-expires' | 'retry-after' | 'www-authenticate')[]
): Readonly<Record<string, object>> =>
  Object.fromEntries(
    ['publishergw-version', 'x-request-id', 'x-view-name', ...names].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );
