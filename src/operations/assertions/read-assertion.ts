// Serves a single assertion to devices, by type and primary key.
import { mediaType } from '#assertions/format/assertion.ts';
import { resolveLookup } from '#assertions/lookup.ts';
import { attachment } from '#http/response/content-disposition.ts';
import { assertionsForDevice, type AssertionsForDevice, type ReadableAssertion } from '#access/device-assertions.ts';
import { operation } from '#http/operation.ts';
import { privateNoStore, varyByDevice, respondRevalidated } from '#http/response/revalidation.ts';
import type { DeviceAssertionQuery } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';

/** Names of the path parameters, one per value of the primary key. */
const values = ['key', 'second', 'third', 'fourth', 'fifth'];

const ofValues = <Name extends string>(name: Name, count: number) =>
  operation({
    name,
    method: 'GET',
    path: `/v2/assertions/:type/${values
      .slice(0, count)
      .map((value) => `:${value}`)
      .join('/')}`,
    since: 0,
    summary: `Read an assertion that ${count === 1 ? 'one value names' : `${count} values name`}, word for word.`,
    access: assertionsForDevice,
    query: 'DeviceAssertionQuery',
    produces: [mediaType],
    headers: ['etag', 'vary', 'content-disposition'],
    refuses: ['not-found'],
    also: { 304: 'The assertion has not changed since the digest in If-None-Match.' },
    prefixed: false,
    errors: 'snapd',
    enabledBy: 'devices.snap',

    async handle({ params, query, assertions, request }) {
      const { type = '', ...keys } = params as Record<string, string>;
      const keyValues = values.flatMap((value) => keys[value] ?? []);
      const { text, confidential } = await find(type, keyValues, query, assertions);
      const disposition = attachment(`${[type, ...keyValues].join('_')}.assert`);
      const headers = {
        'content-type': mediaType,
        vary: varyByDevice,
        ...disposition,
        ...(confidential && privateNoStore),
      };
      return respondRevalidated(request, text, 300, headers);
    },
  });

export const readAssertion = [
  ofValues('read_assertion', 1),
  ofValues('read_assertion_of_two_values', 2),
  ofValues('read_assertion_of_three_values', 3),
  ofValues('read_assertion_of_four_values', 4),
  ofValues('read_assertion_of_five_values', 5),
] as const;

async function find(
  type: string,
  keys: readonly string[],
  { sequence, 'max-format': maxFormat }: DeviceAssertionQuery,
  assertions: AssertionsForDevice,
): Promise<ReadableAssertion> {
  const lookup = resolveLookup(type, keys);
  if ('name' in lookup && sequence !== undefined)
    throw new Refusal('api-error', `These values name no sequence of assertions; leave out /sequence.`);
  const match =
    'name' in lookup
      ? (await assertions.listOf([lookup.name]))[0]
      : sequence === undefined || sequence === 'latest'
        ? await assertions.newestOfSet(lookup.accountId, lookup.setName)
        : (await assertions.listOf([[type, ...keys, sequence].join('/')]))[0];
  if (match === undefined || match.assertion.format > Number(maxFormat ?? Infinity)) {
    throw new Refusal('not-found', `There is no such assertion here: ${[type, ...keys].join('/').slice(0, 300)}`);
  }
  return match;
}
