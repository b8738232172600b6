// SECURITY.md and the cryptographic inventory match the code: the lengths of keys, and the times after which people
// authenticate again.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

const root = join(import.meta.dirname, '..');
const page = ['SECURITY.md', 'docs/reference/cryptography.md']
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n');
/** The text of a source file. */
const source = (file: string): string => readFileSync(join(root, 'src', file), 'utf8');

t.test('the ciphers and curves of TLS are those of the inventory', (t) => {
  t.match(source('tls/options.ts'), /minVersion: 'TLSv1\.2'/);
  t.match(source('tls/options.ts'), /ecdhCurve: 'X25519:P-256:P-384'/);
  t.end();
});

t.test('the lengths of keys, the costs and the times on the page are those of the code', (t) => {
  for (const [file, code, words] of [
    ['domain/cryptography.ts', /modulusLength: use === 'assertion' \? 4096 : 3072/, 'RSA 3072'],
    ['domain/cryptography.ts', /modulusLength: use === 'assertion' \? 4096 : 3072/, 'RSA 4096'],
    ['domain/cryptography.ts', /passphraseCost = \{ N: 2 \*\* 17, r: 8, p: 1/, 'scrypt, 128 MiB'],
    ['identity/credentials/passwords.ts', /argon2Cost = \{ m: 19_456, t: 2, p: 1 \}/, 'argon2id, 19 MiB, 2 passes'],
    ['identity/credentials/totp.ts', /newTotpSecret = \(\): Buffer => randomBytes\(20\)/, '160 bits'],
    ['../schemas/config.json', /"maximum": 1440,\s+"default": 30/, '30 minutes'],
    ['../schemas/config.json', /"maximum": 168,\s+"default": 12/, '12 hours'],
    ['macaroons/token-checker.ts', /const exchangeWindow = minutes\(10\)/, '10 minutes'],
    ['identity/credentials/set-up-links.ts', /const usualHours = 72;/, 'Set-up link | 72 hours'],
    ['identity/login/browser-login.ts', /browserLoginLifeMs = minutes\(15\)/, 'with a client certificate | 15 minutes'],
    [
      'jobs/accounts/confirm-certificate-logins.ts',
      /const validFor = hours\(1\)/,
      '1 hour after it could last be checked',
    ],
    ['jobs/accounts/confirm-openid-logins.ts', /const validFor = hours\(1\)/, '1 hour after the provider'],
    ['acts/approvals/proposals.ts', /const loginLifetimeMs = minutes\(15\)/, '15 minutes'],
    ['acts/approvals/counted-approvals.ts', /const quarantineMs = hours\(72\)/, 'do not count for 72 hours'],
  ] as const) {
    t.match(source(file), code, `${file} has ${String(code)}`);
    t.ok(page.includes(words), words);
  }
  t.end();
});
