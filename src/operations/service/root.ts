import type { IncomingMessage } from 'node:http';

import { anyone } from '#api/access.ts';
import { snapStoreVersion } from '#api/refusals.ts';
import { json } from '#api/sent.ts';
import { Answer, operation } from '#api/operation.ts';
import { namespaces } from '#domain/namespace.ts';
import { isOffline } from '#src/config.ts';
import { firstPage } from '../appliance/documents.ts';

export const root = operation({
  name: 'root',
  method: 'GET',
  path: '/',
  since: 1,
  summary: 'Say what this service is.',
  access: anyone,
  response: 'RootResponse',

  produces: ['text/html'],
  headers: ['vary'],

  handle({ request, config, version, documents }) {
    // Programs, and whoever only looks whether somebody is there, get what they always got.
    if (config.http.documents && request.method === 'GET' && asksForPage(request)) return firstPage(documents, vary);
    const body = {
      service: 'larder' as const,
      version,
      'api-version': 61,
      namespaces,
      offline: isOffline(config),
    };
    // By this snapd knows, before it asks for a serial, that it need not go round this store.
    const store = config.devices.snap ? { 'snap-store-version': snapStoreVersion } : {};
    return new Answer({ headers: { ...json, ...vary, ...store }, body: JSON.stringify(body) });
  },
});

const vary = { vary: 'Accept' };

/** Browsers name text/html; no stock client does. */
const asksForPage = ({ headers }: IncomingMessage): boolean => /\btext\/html\b/i.test(headers.accept ?? '');
