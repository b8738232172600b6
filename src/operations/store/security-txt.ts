import { anyone } from '#access/access-rules.ts';
import { days } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { OperationResponse, operation } from '#http/operation.ts';

/** How long the text is valid; RFC 9116 recommends less than a year. */
const validityMs = days(30);

export const securityTxt = operation({
  name: 'security_txt',
  method: 'GET',
  path: '/.well-known/security.txt',
  since: 0,
  summary: 'Get the contacts for reports about the security of this store (RFC 9116).',
  access: anyone,
  prefixed: false,
  produces: ['text/plain'],
  refuses: ['resource-not-found'],

  handle({ config, now }) {
    const { security_contacts: contacts, base_url: baseUrl } = config.http;
    if (contacts.length === 0) {
      throw new Refusal(
        'resource-not-found',
        "This store names no contact for its security. An administrator sets it with 'larder config set http.security_contacts URI'.",
      );
    }
    const lines = [
      ...contacts.map((contact) => `Contact: ${contact}`),
      `Expires: ${new Date(now().getTime() + validityMs).toISOString()}`,
      `Canonical: ${baseUrl}/.well-known/security.txt`,
      'Preferred-Languages: en',
    ];
    return new OperationResponse({
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: lines.map((line) => `${line}\r\n`).join(''),
    });
  },
});
