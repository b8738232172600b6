// Lists, builds and accepts confdb-schemas for snapcraft.
import { postConfdbSchema } from '#acts/assertions/publisher-assertions.ts';
import { assertionAuthor } from '#access/assertion-author.ts';
import { isAssertionValue, parseAssertion, type Assertion, type Headers } from '#assertions/format/assertion.ts';
import { formatJsonBody } from '#assertions/format/confdb-schema.ts';
import { writeTime } from '#assertions/format/times.ts';
import { checkAssertion } from '#assertions/format/types.ts';
import { readJson } from '#contract/json.ts';
import type { ConfdbSchemaHeaders } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { nextRevision, readSignedAssertion } from './signed-assertion.ts';

/** Maximum number of schemas in a list. */
const maxListed = 1000;

export const dashboardListConfdbSchemas = operation({
  name: 'dashboard_list_confdb_schemas',
  method: 'GET',
  path: '/api/v2/confdb-schemas',
  since: 0,
  summary: 'List the confdb-schemas of an account and of the brands that it administers, each in its newest revision.',
  access: assertionAuthor,
  errors: 'dashboard',
  response: 'ConfdbSchemasResponse',
  refuses: ['permission-required'],

  async handle({ accounts, records }) {
    const schemas: { text: string }[] = [];
    for (const account of await accounts())
      schemas.push(...(await records.assertions.under(`confdb-schema/${account}/`, '', maxListed)));
    return presentSchemas(schemas);
  },
});

export const dashboardReadConfdbSchema = operation({
  name: 'dashboard_read_confdb_schema',
  method: 'GET',
  path: '/api/v2/confdb-schemas/:name',
  since: 0,
  summary: 'Get a confdb-schema in its newest revision.',
  access: assertionAuthor,
  errors: 'dashboard',
  response: 'ConfdbSchemasResponse',
  refuses: ['permission-required'],

  /** A missing schema gives an empty list: snapcraft then creates it. */
  async handle({ accounts, params, records }) {
    const names = (await accounts()).map((account) => `confdb-schema/${account}/${params.name}`);
    return presentSchemas(await records.assertions.listOf(names));
  },
});

export const dashboardBuildConfdbSchema = operation({
  name: 'dashboard_build_confdb_schema',
  method: 'POST',
  path: '/api/v2/confdb-schemas/build-assertion',
  since: 0,
  summary: 'Complete a draft of a confdb-schema, so that it can be signed.',
  access: assertionAuthor,
  errors: 'dashboard',
  body: 'BuildConfdbSchemaRequest',
  response: 'ConfdbSchemaHeaders',
  refuses: ['forbidden', 'permission-required'],

  async handle({ body: draft, refuseForeign, records, now }) {
    const accountId = draft['account-id'];
    await refuseForeign(accountId);
    if (!isAssertionValue(draft.views))
      throw new Refusal('api-error', 'The views hold a value that is not text. Write numbers and booleans in quotes.');
    const headers: Headers = {
      type: 'confdb-schema',
      'authority-id': accountId,
      'account-id': accountId,
      name: draft.name,
      ...(draft.summary !== undefined && { summary: draft.summary }),
      views: draft.views,
      timestamp: writeTime(now()),
    };
    const body = formatJsonBody(readJson(draft.body));
    const unsigned = { type: 'confdb-schema', headers, body, format: 0, signKeyId: '' };
    checkAssertion(unsigned);
    const revision = await nextRevision(unsigned, draft.revision ?? 0, records);
    return { ...presentHeaders({ headers, revision }), body };
  },
});

export const dashboardPostConfdbSchema = operation({
  name: 'dashboard_post_confdb_schema',
  method: 'POST',
  path: '/api/v2/confdb-schemas',
  since: 0,
  summary: 'Store a confdb-schema that a publisher has signed.',
  access: assertionAuthor,
  errors: 'dashboard',
  response: 'ConfdbSchemasResponse',
  status: 201,
  consumes: 'application/x.ubuntu.assertion',
  refuses: ['conflict', 'forbidden', 'permission-required'],

  async handle(call) {
    const { request, refuseForeign, acts } = call;
    const signed = await readSignedAssertion(request, 'confdb-schema');
    const { headers, body } = presentSchema(signed);
    await refuseForeign(headers['account-id']);
    await acts.do(postConfdbSchema, caller(call), { signed });
    return { assertions: [{ headers, body }] };
  },
});

const presentSchemas = (schemas: readonly { text: string }[]) => ({
  assertions: schemas.slice(0, maxListed).map(({ text }) => presentSchema(parseAssertion(text))),
});

const presentSchema = (schema: Assertion) => ({ headers: presentHeaders(schema), body: schema.body });

/** Exactly the headers that snapcraft accepts. */
function presentHeaders({ headers, revision }: Pick<Assertion, 'headers' | 'revision'>): ConfdbSchemaHeaders {
  const text = (name: string): string => headers[name] as string;
  return {
    type: 'confdb-schema',
    'authority-id': text('authority-id'),
    'account-id': text('account-id'),
    name: text('name'),
    revision: String(revision),
    ...(headers['summary'] !== undefined && { summary: text('summary') }),
    timestamp: text('timestamp'),
    views: headers['views'] as ConfdbSchemaHeaders['views'],
  };
}
