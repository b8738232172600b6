import { importAssertions } from '#acts/assertions/assertions.ts';
import { mediaType, streamLimit } from '#assertions/format/assertion.ts';
import { primaryKeyOf } from '#assertions/format/types.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { readBody } from '#http/request/body.ts';
import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '../caller.ts';

export const importBrandAssertions = operation({
  name: 'import_assertions',
  method: 'POST',
  path: '/v1/brand/:brand_account_id/assertions',
  since: 0,
  summary: 'Import account-keys from the online store with their prerequisites, verified up to a root of trust.',
  access: brandAdministrator('account-manage-keys', false),
  response: 'ImportAssertionsResponse',
  status: 201,
  consumes: 'application/x.ubuntu.assertion',
  refuses: ['conflict'],

  async handle(call) {
    const { brand, request, records, acts, roots, signSoon, now } = call;
    const [type] = (request.headers['content-type'] ?? '').split(';');
    if (type?.trim().toLowerCase() !== mediaType) {
      throw new Refusal('unsupported-media-type', `Assertions are sent as ${mediaType}.`);
    }
    const text = await readBody(request, streamLimit);
    const imported = await importAssertions(text, caller(call), {
      records,
      acts,
      roots: roots(),
      now: now(),
      brandAccountId: brand.accountId,
    });
    signSoon();
    return {
      imported: imported.map((assertion) => ({ type: assertion.type, 'primary-key': primaryKeyOf(assertion) })),
    };
  },
});
