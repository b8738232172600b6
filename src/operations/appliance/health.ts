import { anyone } from '#api/access.ts';
import { json } from '#api/sent.ts';
import { Answer, operation } from '#api/operation.ts';

export const healthz = operation({
  name: 'healthz',
  method: 'GET',
  path: '/healthz',
  since: 0,
  summary: 'Say that the process is alive.',
  access: anyone,
  prefixed: false,
  response: 'HealthResponse',
  handle: () => ({ status: 'ok' as const }),
});

export const readyz = operation({
  name: 'readyz',
  method: 'GET',
  path: '/readyz',
  since: 0,
  summary: 'Say whether the appliance can do its work; 503 when it cannot.',
  access: anyone,
  prefixed: false,
  response: 'HealthResponse',
  also: { 503: 'It cannot do its work; problems says why.' },

  handle({ health }) {
    const { working, problems, notices, workers } = health();
    const serving = workers && { workers: { serving: workers.serving, wanted: workers.wanted } };
    const body = { status: working ? ('ok' as const) : ('failing' as const), problems, notices, ...serving };
    return working ? body : new Answer({ status: 503, headers: json, body: JSON.stringify(body) });
  },
});

export const statusCheck = operation({
  name: 'status_check',
  method: 'GET',
  path: '/_status/check',
  since: 0,
  summary: 'Answer the load balancers of this field, by GET and HEAD.',
  access: anyone,
  prefixed: false,
  response: 'HealthResponse',
  handle: () => ({ status: 'ok' as const }),
});
