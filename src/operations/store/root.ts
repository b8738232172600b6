import { acceptsMediaType } from '#http/request/accept-header.ts';
import { anyone } from '#access/access-rules.ts';
import { snapStoreVersion } from '#http/error-responses.ts';
import { json } from '#http/response/outgoing-response.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { namespaces } from '#domain/packages/namespace.ts';
import { isOffline } from '#configuration/config.ts';
import { commit } from '#platform/version.ts';
import { renderWelcomePage } from './welcome.ts';

export const root = operation({
  name: 'root',
  method: 'GET',
  path: '/',
  since: 1,
  summary: 'Get the name and version of this service.',
  access: anyone,
  response: 'RootResponse',

  produces: ['text/html'],
  headers: ['vary'],

  handle({ request, config, version, authorityCertificate }) {
    // Programs and health probes get JSON; browsers accept text/html and get a page.
    const isBrowser = request.method === 'GET' && acceptsMediaType(request, 'text/html');
    const page = isBrowser ? renderWelcomePage({ config, authorityCertificate }, vary) : undefined;
    if (page !== undefined) return page;
    const body = {
      service: 'larder' as const,
      version,
      ...(commit !== undefined && { commit }),
      'api-version': 61,
      namespaces,
      offline: isOffline(config),
    };
    // This header tells snapd, before it requests a serial, that it can use this store as its proxy store.
    const store = config.devices.snap ? { 'snap-store-version': snapStoreVersion } : {};
    return new OperationResponse({ headers: { ...json, ...vary, ...store }, body: JSON.stringify(body) });
  },
});

const vary = { vary: 'Accept' };
