import { addGuardrail as act } from '#acts/releases/tracks.ts';
import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { presentGuardrails } from './present.ts';

export const addGuardrail = operation({
  name: 'add_guardrail',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/guardrails',
  since: 0,
  summary: "Allow a package's publishers to create tracks by a pattern that must match the whole name.",
  access: storeAdministratorOnPackage('store-manage'),
  body: 'GuardrailRequest',
  response: 'GuardrailsResponse',
  status: 201,
  refuses: ['conflict'],

  async handle(call) {
    const { package: subject, body, records, acts } = call;
    await acts.do(act, caller(call), { package: subject, pattern: body.pattern });
    return presentGuardrails(records, subject);
  },
});
