// Validates the requested restrictions of a token beyond their shape.
import { ttlProblem, type Authority, type LoginRequest } from '#macaroons/authority.ts';
import { readChannelPattern } from '#domain/releases/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import type { IssueMacaroonRequest } from '#contract/wire.ts';

/** Maximum bytes of each list as JSON: a token must fit in a header. */
const maxListBytes = 16 * 1024;

/** The request in the form that the authority accepts; throws a refusal if it is invalid. */
export function loginRequest(
  body: IssueMacaroonRequest,
  { longestLife }: Pick<Authority, 'longestLife'>,
): LoginRequest {
  const { channels, packages, permissions, description, ttl } = body;
  const problem = ttlProblem(ttl, longestLife());
  if (problem !== undefined) throw new Refusal('api-error', `${problem} at /ttl`);
  const wrong = channels?.find((name) => readChannelPattern(name) === undefined);
  if (wrong !== undefined) {
    throw new Refusal('api-error', `'${wrong.slice(0, 100)}' is not a valid channel name at /channels`);
  }
  for (const [name, list] of Object.entries({ channels, packages })) {
    if (list === undefined) continue;
    if (new Set(list.map((item) => JSON.stringify(item))).size < list.length) {
      throw new Refusal('api-error', `The list has non-unique elements at /${name}`);
    }
    if (Buffer.byteLength(JSON.stringify(list)) > maxListBytes) {
      throw new Refusal(
        'api-error',
        `The list is too long for a token: it has room for ${maxListBytes} bytes at /${name}`,
      );
    }
  }
  if (
    packages?.some(({ id, name }) => !(id ?? '').isWellFormed() || !(name ?? '').isWellFormed()) === true ||
    description?.isWellFormed() === false
  ) {
    throw new Refusal('api-error', 'The texts of a token must be well-formed Unicode at /');
  }
  return { channels, packages, permissions: permissions && [...new Set(permissions)], description, ttl };
}
