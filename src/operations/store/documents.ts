import { anyone } from '#access/access-rules.ts';
import { json } from '#http/response/outgoing-response.ts';
import type { Documents } from '#http/services.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import type { Services } from '#http/services.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Config } from '#configuration/config.ts';
import { embeddedText } from '#platform/embedded.ts';

/** The pages load only their style sheet and images, and submit only the search. */
const policy = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

export const openapiDocument = operation({
  name: 'openapi_document',
  method: 'GET',
  path: '/openapi.json',
  since: 0,
  summary: 'Get this interface as an OpenAPI 3.1 document.',
  access: anyone,
  prefixed: false,
  enabledBy: 'http.documents',
  response: 'OpenapiDocument',
  handle: ({ documents, config }) => new OperationResponse({ headers: json, body: documents.openapi(config) }),
});

/** The first page, with and without a slash at its end. */
const home = {
  method: 'GET',
  since: 0,
  access: anyone,
  prefixed: false,
  enabledBy: 'http.documents',
  produces: ['text/html'],
  handle: ({ documents }: Pick<Services, 'documents'>) => firstPage(documents),
} as const;

export const documentsHome = operation({
  ...home,
  name: 'documents_home',
  path: '/docs/',
  summary: 'Show the first page of the documents.',
});

export const documentsRedirect = operation({
  ...home,
  name: 'documents_door',
  path: '/docs',
  summary: 'Redirect to the first page of the documents, with the missing slash.',
});

/** The URL of the pages; undefined if the store does not serve them. */
export const documentsAt = ({ http }: Config): string | undefined =>
  http.documents ? `${http.base_url}/docs/` : undefined;

/** The first page of the documents, with the headers of all pages. */
function firstPage(documents: Documents): OperationResponse {
  const page = documents.page('');
  return new OperationResponse({
    headers: { ...policy, 'content-type': page?.type ?? 'text/html' },
    body: page?.text ?? '',
  });
}

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
    if (page === undefined) throw new Refusal('resource-not-found', 'There is no such page. /docs/ lists all pages.');
    return new OperationResponse({ headers: { ...policy, 'content-type': page.type }, body: page.text });
  },
});

export const searchDocuments = operation({
  name: 'search_documents',
  method: 'GET',
  path: '/docs/search',
  since: 0,
  summary: 'Search the documents by words, and show the best 50 matches.',
  access: anyone,
  prefixed: false,
  enabledBy: 'http.documents',
  query: 'SearchDocumentsQuery',
  produces: ['text/html'],
  handle({ documents, query }) {
    const { type, text } = documents.search(query.q ?? '');
    return new OperationResponse({ headers: { ...policy, 'content-type': type }, body: text });
  },
});

export const favicon = operation({
  name: 'favicon',
  method: 'GET',
  path: '/favicon.ico',
  since: 0,
  summary: 'Get the icon of the store for browsers.',
  access: anyone,
  prefixed: false,
  produces: ['image/svg+xml'],
  handle: () =>
    new OperationResponse({
      headers: { 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=3600' },
      body: embeddedText('src/documents/mark.svg'),
    }),
});
