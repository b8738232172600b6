// Lists, builds and accepts validation sets for the older publishing tools.
import { postValidationSet } from '#acts/assertions/publisher-assertions.ts';
import { assertionAuthor, type AssertionAuthorEvidence } from '#access/assertion-author.ts';
import { operation } from '#http/operation.ts';
import { checkShape } from '#contract/schema.ts';
import type { BuildValidationSetRequest, ValidationSetHeaders } from '#contract/wire.ts';
import { parseAssertion, type Assertion, type Headers, type AssertionValue } from '#assertions/format/assertion.ts';
import { writeTime } from '#assertions/format/times.ts';
import { checkAssertion, series } from '#assertions/format/types.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoredAssertion } from '#records/assertions/assertions.ts';
import { caller } from '../caller.ts';
import { nextRevision, readSignedAssertion } from './signed-assertion.ts';

export const dashboardListValidationSets = operation({
  name: 'dashboard_list_validation_sets',
  method: 'GET',
  path: '/api/v2/validation-sets',
  since: 0,
  summary: 'List the validation sets of an account and of the brands that it administers, each in its newest sequence.',
  access: assertionAuthor,
  errors: 'dashboard',
  query: 'ValidationSetsQuery',
  response: 'ValidationSetsResponse',
  refuses: ['permission-required'],

  async handle({ accounts, query, records }) {
    const sets: StoredAssertion[] = [];
    for (const account of await accounts()) {
      sets.push(...(query.sequence === 'all' ? await records.assertions.setsOf(account) : await ofNumber(account)));
    }
    return presentSets(sets);

    async function ofNumber(account: string): Promise<StoredAssertion[]> {
      const { sequence = 'latest' } = query;
      if (sequence === 'latest') return records.assertions.newestSetsOf(account);
      return (await records.assertions.setsOf(account)).filter((set) => set.sequence === Number(sequence));
    }
  },
});

export const dashboardReadValidationSet = operation({
  name: 'dashboard_read_validation_set',
  method: 'GET',
  path: '/api/v2/validation-sets/:name',
  since: 0,
  summary: 'Get a validation set: its newest sequence, a given one, or all.',
  access: assertionAuthor,
  errors: 'dashboard',
  query: 'ValidationSetsQuery',
  response: 'ValidationSetsResponse',
  refuses: ['permission-required'],

  /** A missing set gives an empty list: the tools then create it. */
  async handle({ accounts, params, query, records }) {
    const { sequence = 'latest' } = query;
    const sets: StoredAssertion[] = [];
    for (const account of await accounts()) {
      const name = `validation-set/${series}/${account}/${params.name}`;
      if (sequence === 'all') sets.push(...(await records.assertions.setsOf(account, params.name)));
      else if (sequence !== 'latest') sets.push(...(await records.assertions.listOf([`${name}/${Number(sequence)}`])));
      else sets.push(...(await records.assertions.setsOf(account, params.name)).slice(0, 1));
    }
    return presentSets(sets);
  },
});

export const dashboardBuildValidationSet = operation({
  name: 'dashboard_build_validation_set',
  method: 'POST',
  path: '/api/v2/validation-sets/build-assertion',
  since: 0,
  summary: 'Complete a draft of a validation set, so that it can be signed.',
  access: assertionAuthor,
  errors: 'dashboard',
  body: 'BuildValidationSetRequest',
  response: 'ValidationSetHeaders',
  refuses: ['forbidden', 'permission-required'],

  async handle({ body, refuseForeign, idOfSnap: idOf, records, now }) {
    const accountId = body['account-id'];
    await refuseForeign(accountId);
    const snaps: AssertionValue[] = [];
    for (const snap of body.snaps) snaps.push(await snapHeaders(snap, idOf));
    const headers: Headers = {
      type: 'validation-set',
      'authority-id': accountId,
      series,
      'account-id': accountId,
      name: body.name,
      sequence: String(body.sequence),
      snaps,
      timestamp: writeTime(now()),
    };
    const unsigned = { type: 'validation-set', headers, body: '', format: 0, signKeyId: '' };
    checkAssertion(unsigned);
    return presentHeaders({ headers, revision: await nextRevision(unsigned, Number(body.revision ?? 0), records) });
  },
});

async function snapHeaders(
  { name, id, presence, revision, components }: BuildValidationSetRequest['snaps'][number],
  idOf: AssertionAuthorEvidence['idOfSnap'],
): Promise<Headers> {
  const snapId = id ?? (await idOf(name));
  if (snapId === undefined) {
    throw new Refusal('api-error', `There is no snap '${name}' in this store. Write its id into the set.`);
  }
  return {
    name,
    id: snapId,
    presence: presence ?? 'required',
    ...(revision !== undefined && { revision: String(revision) }),
    ...(components !== undefined && { components: inTexts(components) }),
  };
}

/** All values of an assertion are strings. */
const inTexts = (components: NonNullable<BuildValidationSetRequest['snaps'][number]['components']>): Headers =>
  Object.fromEntries(
    Object.entries(components).map(([name, component]) => [
      name,
      typeof component === 'string'
        ? component
        : {
            presence: component.presence,
            ...(component.revision !== undefined && { revision: String(component.revision) }),
          },
    ]),
  );

export const dashboardPostValidationSet = operation({
  name: 'dashboard_post_validation_set',
  method: 'POST',
  path: '/api/v2/validation-sets',
  since: 0,
  summary: 'Store a validation set that a publisher has signed.',
  access: assertionAuthor,
  errors: 'dashboard',
  response: 'ValidationSetsResponse',
  status: 201,
  consumes: 'application/x.ubuntu.assertion',
  refuses: ['conflict', 'forbidden', 'permission-required'],

  async handle(call) {
    const { request, refuseForeign, acts } = call;
    const signed = await readSignedAssertion(request, 'validation-set');
    // Components are validated here, because only newer devices read them and earlier checks skip them.
    const headers = presentHeaders(signed);
    checkShape('ValidationSetHeaders', headers);
    await refuseForeign(headers['account-id']);
    await acts.do(postValidationSet, caller(call), { signed });
    return { assertions: [{ headers }] };
  },
});

const presentSets = (sets: readonly StoredAssertion[]) => ({
  assertions: sets.slice(0, 1000).map(({ text }) => ({ headers: presentHeaders(parseAssertion(text)) })),
});

/** Exactly the headers that those tools accept: they refuse all others. */
function presentHeaders({ headers, revision }: Pick<Assertion, 'headers' | 'revision'>): ValidationSetHeaders {
  const text = (name: string): string => headers[name] as string;
  const snaps = headers['snaps'] as readonly Record<string, AssertionValue | undefined>[];
  return {
    type: 'validation-set',
    'authority-id': text('authority-id'),
    series: text('series'),
    'account-id': text('account-id'),
    name: text('name'),
    sequence: text('sequence'),
    revision: String(revision),
    timestamp: text('timestamp'),
    snaps: snaps.map(({ name, id, presence, revision: of, components }) => ({
      name: name as string,
      id: id as string,
      ...(presence !== undefined && { presence: presence as 'required' }),
      ...(of !== undefined && { revision: of as string }),
      ...(components !== undefined && {
        components: components as NonNullable<ValidationSetHeaders['snaps'][number]['components']>,
      }),
    })),
  };
}
