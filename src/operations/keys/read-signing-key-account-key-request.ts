import { noSigningKey, requestRegistration } from '#acts/keys/signing-keys.ts';
import { accountKeyRequest } from '#assertions/keys/account-key-request.ts';
import { mediaType } from '#assertions/format/assertion.ts';
import { acceptsMediaType } from '#http/request/accept-header.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { attachment } from '#http/response/content-disposition.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import type { AccountKeyRequestRequest } from '#contract/wire.ts';
import { caller } from '../caller.ts';

export const readSigningKeyAccountKeyRequest = operation({
  name: 'read_signing_key_account_key_request',
  method: 'POST',
  path: '/v1/brand/:brand_account_id/signing_key/:signing_key_sha3_384/account-key-request',
  since: 26,
  summary: 'Get the request to register a signing key with an online store.',
  access: brandAdministrator('account-manage-keys', false),
  body: 'AccountKeyRequestRequest',
  bodyOptional: true,
  response: 'AccountKeyRequestResponse',
  produces: [mediaType],
  refuses: ['sealed'],
  headers: ['content-disposition'],

  async handle(call) {
    const { params, brand, body, request, records, custody, acts, now } = call;
    const key = await records.signingKeys.publicHalf(params.signing_key_sha3_384);
    if (key?.brandAccountId !== brand.accountId) {
      throw noSigningKey(brand.accountId, params.signing_key_sha3_384);
    }
    const moment = now();
    const { since, until } = (body as AccountKeyRequestRequest | undefined) ?? {};
    const text = await accountKeyRequest({
      signer: custody,
      keyId: key.sha3_384,
      accountId: brand.accountId,
      name: key.name,
      since: since === undefined ? moment : new Date(since),
      until: until === undefined || until === null ? undefined : new Date(until),
      signedAt: moment,
    });
    await acts.do(requestRegistration, caller(call), {
      brandAccountId: brand.accountId,
      sha3_384: key.sha3_384,
      since: since ?? null,
      until: until ?? null,
      text,
    });
    if (!acceptsMediaType(request, mediaType)) return { 'account-key-request': text };
    return new OperationResponse({
      headers: {
        'content-type': mediaType,
        ...attachment(`${key.name}.account-key-request`),
      },
      body: text,
    });
  },
});
