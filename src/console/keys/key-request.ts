// Downloads the request that registers a signing key with the online store.
import { brandAdministrator } from '#access/access-rules.ts';
import { mediaType } from '#assertions/format/assertion.ts';
import { OperationResponse } from '#http/operation.ts';
import { html, type Html } from '#http/pages/html.ts';
import { attachment } from '#http/response/content-disposition.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { makeAccountKeyRequest } from '#operations/keys/make-account-key-request.ts';
import type { SigningKey } from '#records/keys/signing-keys.ts';
import { formOf } from '../parts/form.ts';
import { formHandler } from '../screen.ts';
import { renewedSessionHeader } from '../session-headers.ts';

/** A button that downloads the request of a key. */
export const keyRequestForm = (
  browsing: Browsing,
  { brandAccountId, sha3_384 }: Pick<SigningKey, 'brandAccountId' | 'sha3_384'>,
): Html =>
  html`<div hx-boost="false">
    ${formOf(
      browsing,
      `/console/brands/${encodeURIComponent(brandAccountId)}/keys/${encodeURIComponent(sha3_384)}/request`,
      html`<button class="quiet">Download request</button>`,
    )}
  </div>`;

export const consoleExportKeyRequest = formHandler({
  name: 'console_export_key_request',
  path: '/console/brands/:brand_account_id/keys/:signing_key_sha3_384/request',
  summary: 'Download the request to register a signing key with the online store. The audit log records it.',
  access: brandAdministrator('account-manage-keys', false),
  body: 'ConsoleForm',
  file: mediaType,
  refuses: ['sealed'],

  async perform(call) {
    const { params, brand } = call;
    const { name, text } = await makeAccountKeyRequest(call, { brand, keyId: params.signing_key_sha3_384 });
    return new OperationResponse({
      headers: {
        'content-type': mediaType,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        ...attachment(`${name}.account-key-request`),
        ...renewedSessionHeader(call),
      },
      body: text,
    });
  },
});
