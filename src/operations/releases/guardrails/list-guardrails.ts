import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { presentGuardrails } from './present.ts';

export const listGuardrails = operation({
  name: 'list_guardrails',
  method: 'GET',
  path: '/internal/v1/packages/:namespace/:name/guardrails',
  since: 0,
  summary: "List the patterns that a package's tracks may match.",
  access: storeAdministratorOnPackage('store-view'),
  response: 'GuardrailsResponse',

  handle: ({ package: subject, records }) => presentGuardrails(records, subject),
});
