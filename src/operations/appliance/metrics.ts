import { anyone } from '#api/access.ts';
import { Answer, operation } from '#api/operation.ts';

export const metrics = operation({
  name: 'metrics',
  method: 'GET',
  path: '/metrics',
  since: 0,
  summary: 'Give the figures that Prometheus gathers.',
  access: anyone,
  prefixed: false,
  enabledBy: 'http.metrics',
  produces: ['text/plain'],

  async handle({ metrics: figures }) {
    const { type, text } = await figures.page();
    return new Answer({ headers: { 'content-type': type }, body: text });
  },
});
