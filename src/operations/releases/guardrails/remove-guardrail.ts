import { removeGuardrail as act } from '#acts/releases/tracks.ts';
import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { presentGuardrails } from './present.ts';

export const removeGuardrail = operation({
  name: 'remove_guardrail',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/guardrails/remove',
  since: 0,
  summary: 'Remove a pattern for new tracks. Existing tracks stay.',
  access: storeAdministratorOnPackage('store-manage'),
  body: 'GuardrailRequest',
  response: 'GuardrailsResponse',

  async handle(call) {
    const { package: subject, body, records, acts } = call;
    await acts.do(act, caller(call), { package: subject, pattern: body.pattern });
    return presentGuardrails(records, subject);
  },
});
