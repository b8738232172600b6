import { anyone } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { namespaces } from '#domain/namespace.ts';
import { isOffline } from '#src/config.ts';

export const root = operation({
  name: 'root',
  method: 'GET',
  path: '/',
  since: 1,
  summary: 'Say what this service is.',
  access: anyone,
  response: 'RootResponse',

  handle: ({ config, version }) => ({
    service: 'larder' as const,
    version,
    'api-version': 61,
    namespaces,
    offline: isOffline(config),
  }),
});
