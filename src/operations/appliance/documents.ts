import { anyone } from '#api/access.ts';
import { json } from '#api/answer.ts';
import { Answer, operation } from '#api/operation.ts';
import { Refusal } from '#domain/refusal.ts';

/** The pages need their style sheet, and nothing else. */
const policy = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

export const openapiDocument = operation({
  name: 'openapi_document',
  method: 'GET',
  path: '/openapi.json',
  since: 0,
  summary: 'Give this interface as an OpenAPI 3.1 document.',
  access: anyone,
  prefixed: false,
  enabledBy: 'http.documents',
  produces: ['application/json'],
  handle: ({ documents }) => new Answer({ headers: json, body: documents.openapi() }),
});

export const documentsHome = operation({
  name: 'documents_home',
  method: 'GET',
  path: '/docs/',
  since: 0,
  summary: 'Show the first page of the documents.',
  access: anyone,
  prefixed: false,
  enabledBy: 'http.documents',
  produces: ['text/html'],
  handle({ documents }) {
    const page = documents.page('');
    return new Answer({ headers: { ...policy, 'content-type': page?.type ?? 'text/html' }, body: page?.text ?? '' });
  },
});

export const documentsPage = operation({
  name: 'documents_page',
  method: 'GET',
  path: '/docs/:page',
  since: 0,
  summary: 'Show a page of the documents.',
  access: anyone,
  prefixed: false,
  enabledBy: 'http.documents',
  produces: ['text/html', 'text/css'],
  handle({ documents, params }) {
    const page = documents.page(params.page);
    if (page === undefined) throw new Refusal('resource-not-found', 'There is no such page; /docs/ lists them.');
    return new Answer({ headers: { ...policy, 'content-type': page.type }, body: page.text });
  },
});
