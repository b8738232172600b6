import { names } from '#api/accept.ts';
import { anyone } from '#api/access.ts';
import { snapStoreVersion } from '#api/refusals.ts';
import { json } from '#api/sent.ts';
import { Answer, operation } from '#api/operation.ts';
import { namespaces } from '#domain/namespace.ts';
import { isOffline } from '#src/config.ts';
import { welcome } from './welcome.ts';

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

  handle({ request, config, version, authorityCertificate }) {
    // Programs, and whoever only looks whether somebody is there, get what they always got; browsers name text/html.
    const isBrowser = request.method === 'GET' && names(request, 'text/html');
    const page = isBrowser ? welcome({ config, authorityCertificate }, vary) : undefined;
    if (page !== undefined) return page;
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
