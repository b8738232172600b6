import { anyone } from '#access/access-rules.ts';
import { json } from '#http/response/outgoing-response.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { servingSecretHeader } from '#http/services.ts';
import { Refusal } from '#domain/refusal.ts';

export const healthz = operation({
  name: 'healthz',
  method: 'GET',
  path: '/healthz',
  since: 0,
  summary: 'Confirm that the process is alive.',
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
  summary: 'Report whether the store can work; 503 if it cannot.',
  access: anyone,
  prefixed: false,
  response: 'HealthResponse',
  also: { 503: 'The store cannot work; `problems` contains the reasons.' },

  async handle({ health }) {
    const { working, problems, notices, workers } = await health();
    const serving = workers && { workers: { serving: workers.serving, wanted: workers.wanted } };
    const body = { status: working ? ('ok' as const) : ('failing' as const), problems, notices, ...serving };
    return working ? body : new OperationResponse({ status: 503, headers: json, body: JSON.stringify(body) });
  },
});

export const servingState = operation({
  name: 'serving_state',
  method: 'GET',
  path: '/_status/serving',
  since: 0,
  summary: 'Get the state of the serving processes, for commands on their host.',
  access: anyone,
  prefixed: false,
  response: 'ServingStateResponse',
  refuses: ['forbidden'],

  async handle({ request, serving }) {
    const state = await serving(String(request.headers[servingSecretHeader] ?? ''));
    if (state !== undefined) return { state };
    throw new Refusal(
      'forbidden',
      "Only commands on the host of the store have access. Run 'larder status' or 'larder doctor' there.",
    );
  },
});

export const statusCheck = operation({
  name: 'status_check',
  method: 'GET',
  path: '/_status/check',
  since: 0,
  summary: 'Answer health checks of load balancers, by GET and HEAD.',
  access: anyone,
  prefixed: false,
  response: 'HealthResponse',
  handle: () => ({ status: 'ok' as const }),
});
