import { anyone } from '#access/access-rules.ts';
import { attachment } from '#http/response/content-disposition.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';

export const caCertificate = operation({
  name: 'ca_certificate',
  method: 'GET',
  path: '/ca.pem',
  since: 0,
  summary: 'Get the certificate of the authority that clients trust.',
  access: anyone,
  prefixed: false,
  produces: ['application/x-pem-file'],
  headers: ['content-disposition'],
  refuses: ['resource-not-found'],

  handle({ authorityCertificate }) {
    const certificate = authorityCertificate();
    if (certificate === undefined) {
      throw new Refusal(
        'resource-not-found',
        'This store has no certificate authority of its own, and its configuration does not name one.',
      );
    }
    return new OperationResponse({
      headers: { 'content-type': 'application/x-pem-file', ...attachment('ca.pem') },
      body: certificate,
    });
  },
});
