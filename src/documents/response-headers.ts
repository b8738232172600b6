// The response headers in the OpenAPI document.
import { headers, type HeaderName } from '#http/operation.ts';

const described = (description: string): object => ({ description, schema: { type: 'string' } });

/** Every response header, by the name that the document refers to. */
export const everyHeader: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries({
    'publishergw-version': 'The newest version of the interface that this store supports.',
    'x-request-id': 'The id of this request in the log.',
    'x-view-name': 'The operation that sent the response.',
    'macaroon-expires': 'The end of the token of the request, RFC 3339; sent in its last 14 days.',
    'retry-after': 'The seconds to wait before the next attempt.',
    'www-authenticate':
      'The source of a token. Tells a device to prove its serial again, or to refresh the discharge of a login.',
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
