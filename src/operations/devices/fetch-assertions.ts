// Answers `fetch-assertions` in a refresh: lists the URLs of assertions that the device lacks or has in an older revision.
import { resolveLookup } from '#assertions/lookup.ts';
import type { AssertionsForDevice, ReadableAssertion } from '#access/device-assertions.ts';
import type { WantedAssertion } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';

/** An assertion that cannot be given. snapd tolerates `not-found`; any other code fails the whole group. */
export interface MissingAssertion {
  code: 'not-found' | 'api-error';
  message: string;
  type: string;
  'primary-key'?: string[];
  'sequence-key'?: string[];
}

export interface FetchedAssertions {
  /** Absolute URLs, each of an assertion stream. snapd fetches none of them if the error list has entries. */
  'assertion-stream-urls': string[];
  'error-list': MissingAssertion[];
}

export interface FetchOptions {
  /** The newest format that the device reads, per type; 0 for types that are not listed. */
  maxFormats: Readonly<Record<string, number>>;
  assertions: AssertionsForDevice;
  /** The store's base URL without a trailing slash. */
  baseUrl: string;
}

/** Answers one group of a refresh. Leaves out assertions that the device already has in their newest revision. */
export async function fetchAssertions(
  requested: readonly WantedAssertion[],
  { maxFormats, assertions, baseUrl }: FetchOptions,
): Promise<FetchedAssertions> {
  const fetched: FetchedAssertions = { 'assertion-stream-urls': [], 'error-list': [] };
  const lookups = requested.map((item) => ({ item, names: namesOf(item) }));
  const namesToRead = lookups.flatMap(({ names }) => ('name' in names ? names.name : []));
  const storedByName = new Map(
    (await assertions.listOf([...new Set(namesToRead)])).map((assertion) => [assertion.name, assertion]),
  );
  for (const { item, names } of lookups) {
    if ('refused' in names) {
      fetched['error-list'].push(missing(item, names.refused.code, names.refused.message));
      continue;
    }
    const match =
      'name' in names ? storedByName.get(names.name) : await assertions.newestOfSet(names.accountId, names.setName);
    const maxFormat = maxFormats[item.type] ?? 0;
    if (match === undefined || match.assertion.format > maxFormat)
      fetched['error-list'].push(missing(item, 'not-found', `There is no such assertion here.`));
    else if (isNewer(match, item)) fetched['assertion-stream-urls'].push(addressOf(match, baseUrl, maxFormat));
  }
  return fetched;
}

type FetchLookupResult = ReturnType<typeof resolveLookup> | { refused: Pick<MissingAssertion, 'code' | 'message'> };

function namesOf(item: WantedAssertion): FetchLookupResult {
  const { type, 'primary-key': primaryKey, 'sequence-key': sequenceKey, sequence } = item;
  try {
    if (sequenceKey === undefined) return resolveLookup(type, primaryKey ?? []);
    const lookup = resolveLookup(type, sequenceKey);
    if ('name' in lookup)
      return { refused: { code: 'api-error', message: `Assertions of type '${type}' have no sequences.` } };
    return sequence === undefined ? lookup : resolveLookup(type, [...sequenceKey, String(sequence)]);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { refused: { code: error.code === 'not-found' ? 'not-found' : 'api-error', message: error.message } };
  }
}

/** Whether the assertion is newer than the device's copy, as the request states it. */
function isNewer({ assertion }: ReadableAssertion, item: WantedAssertion): boolean {
  const { 'if-newer-than': revision, 'if-sequence-newer-than': after, 'if-sequence-equal-or-newer-than': from } = item;
  const isNewerRevision = revision === undefined || assertion.revision > revision;
  const sequence = Number(assertion.headers['sequence']);
  if (item['sequence-key'] === undefined || item.sequence !== undefined) return isNewerRevision;
  if (after !== undefined) return sequence > after;
  if (from !== undefined) return sequence > from || (sequence === from && isNewerRevision);
  return isNewerRevision;
}

const addressOf = ({ name }: ReadableAssertion, baseUrl: string, maxFormat: number): string =>
  `${baseUrl}/v2/assertions/${name.split('/').map(encodeURIComponent).join('/')}?max-format=${maxFormat}`;

function missing(item: WantedAssertion, code: MissingAssertion['code'], message: string): MissingAssertion {
  const { type, 'primary-key': primaryKey, 'sequence-key': sequenceKey } = item;
  return {
    code,
    message,
    type,
    ...(primaryKey !== undefined && { 'primary-key': primaryKey }),
    ...(sequenceKey !== undefined && { 'sequence-key': sequenceKey }),
  };
}
