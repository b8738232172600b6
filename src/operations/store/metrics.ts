import { anyone } from '#access/access-rules.ts';
import { isInNetworks, isLoopback, toBlockList } from '#http/request/client-address.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';

export const metrics = operation({
  name: 'metrics',
  method: 'GET',
  path: '/metrics',
  since: 0,
  summary: 'Get the metrics for Prometheus.',
  access: anyone,
  prefixed: false,
  enabledBy: 'http.metrics',
  produces: ['text/plain'],
  refuses: ['forbidden'],

  async handle({ metrics: figures, address, config }) {
    if (!isLoopback(address) && !isInNetworks(address, toBlockList(config.http.monitors))) {
      throw new Refusal(
        'forbidden',
        'The figures are for the host of the store itself; an administrator names who else may read them in ' +
          'http.monitors.',
      );
    }
    const { type, text } = await figures.page();
    return new OperationResponse({ headers: { 'content-type': type }, body: text });
  },
});
