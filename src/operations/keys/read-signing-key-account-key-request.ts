import { mediaType } from '#assertions/format/assertion.ts';
import { acceptsMediaType } from '#http/request/accept-header.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { attachment } from '#http/response/content-disposition.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import type { AccountKeyRequestRequest } from '#contract/wire.ts';
import { makeAccountKeyRequest } from './make-account-key-request.ts';

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
    const { params, brand, body, request } = call;
    const { since, until } = (body as AccountKeyRequestRequest | undefined) ?? {};
    const { name, text } = await makeAccountKeyRequest(call, {
      brand,
      keyId: params.signing_key_sha3_384,
      since,
      until: until ?? undefined,
    });
    if (!acceptsMediaType(request, mediaType)) return { 'account-key-request': text };
    return new OperationResponse({
      headers: {
        'content-type': mediaType,
        ...attachment(`${name}.account-key-request`),
      },
      body: text,
    });
  },
});
