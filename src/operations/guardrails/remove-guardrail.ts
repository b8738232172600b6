import { removeGuardrail as act } from '#acts/tracks.ts';
import { storeAdministratorOnPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { caller } from '../by.ts';
import { presentGuardrails } from './present.ts';

export const removeGuardrail = operation({
  name: 'remove_guardrail',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/guardrails/remove',
  since: 0,
  summary: 'Allow no more new tracks that match a pattern; tracks that are there stay.',
  access: storeAdministratorOnPackage('store-manage'),
  body: 'GuardrailRequest',
  response: 'GuardrailsResponse',

  async handle(call) {
    const { package: subject, body, records, acts } = call;
    await acts.do(act, caller(call), { package: subject, pattern: body.pattern });
    return presentGuardrails(records, subject);
  },
});
