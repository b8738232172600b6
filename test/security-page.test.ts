// SECURITY.md matches the code: the algorithms, the lengths of keys, and the times after which people authenticate
// again.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'SECURITY.md'), 'utf8');
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(root, 'src', file), 'utf8'));

/** The text of a source file. */
const source = (file: string): string => readFileSync(join(root, 'src', file), 'utf8');

/** How algorithms are named in the code, and how the inventory names them. */
const calls: readonly (readonly [RegExp, (name: string) => string])[] = [
  [/\b(?:createHash|hash)\(\s*'([a-z0-9-]+)'/g, (name) => name],
  [/\bcreateHmac\(\s*'([a-z0-9-]+)'/g, (name) => `hmac ${name}`],
  [/\bcreate(?:C|Dec)ipheriv\(\s*'([a-z0-9-]+)'/g, (name) => name],
  [/\b(hkdf)(?:Sync)?\('sha256'/g, (name) => name],
  [/\b(scrypt)(?:Sync)?\(/g, (name) => name],
  [/\bargon2\(\s*'([a-z0-9]+)'/g, (name) => name],
  [/\b(nacl\.(?:box|secretbox|sign))\(/g, (name) => name],
];

const used = new Set(
  sources.flatMap((text) =>
    calls.flatMap(([call, nameOf]) => [...text.matchAll(call)].map(([, name = '']) => nameOf(name))),
  ),
);
const listed = new Set([...page.matchAll(/`((?:hmac )?[a-z0-9.-]+)`/g)].map(([, name = '']) => name));

t.test('the cryptographic inventory lists every algorithm that the code names', (t) => {
  t.ok(used.size >= 10, [...used].join(', '));
  t.strictSame([...used].filter((name) => !listed.has(name)).sort(), []);
  t.end();
});

t.test('the inventory lists no algorithm that the code does not use', (t) => {
  const named = [...listed].filter((name) => /^(?:hmac |sha|md5|aes|nacl|argon|scrypt|hkdf)/.test(name));
  t.strictSame(named.filter((name) => !used.has(name)).sort(), []);
  t.end();
});

t.test('no other ciphers, curves or libraries are used than those in the inventory', (t) => {
  const libraries = new Set(
    sources.flatMap((text) =>
      [
        ...text.matchAll(
          /from '(node:crypto|tweetnacl|node-forge|[\w@/-]*(?:crypto|nacl|sodium|jose|bcrypt)[\w/-]*)'/g,
        ),
      ].map(([, name = '']) => name),
    ),
  );
  t.strictSame([...libraries].filter((name) => !page.includes(name)).sort(), []);
  t.match(source('tls/options.ts'), /minVersion: 'TLSv1\.2'/);
  t.match(source('tls/options.ts'), /ecdhCurve: 'X25519:P-256:P-384'/);
  t.end();
});

t.test('the lengths of keys, the costs and the times on the page are those of the code', (t) => {
  for (const [file, code, words] of [
    ['tls/certificates.ts', /const modulusLength = 3072;/, 'RSA 3072'],
    ['assertions/keys/sealed-keys.ts', /modulusLength: 4096/, 'RSA 4096'],
    ['identity/credentials/passwords.ts', /argon2Cost = \{ m: 19_456, t: 2, p: 1 \}/, 'argon2id, 19 MiB, 2 passes'],
    ['identity/credentials/totp.ts', /newTotpSecret = \(\): Buffer => randomBytes\(20\)/, '160 bits'],
    ['macaroons/browser-sessions.ts', /const idleEnd = minutes\(30\)/, '30 minutes'],
    ['macaroons/browser-sessions.ts', /const longestSession = hours\(12\)/, '12 hours'],
    ['macaroons/token-checker.ts', /const exchangeWindow = minutes\(10\)/, '10 minutes'],
    ['identity/credentials/set-up-links.ts', /const usualHours = 72;/, 'Set-up link | 72 hours'],
    ['acts/approvals/proposals.ts', /const loginLifetimeMs = minutes\(15\)/, '15 minutes'],
    ['acts/approvals/counted-approvals.ts', /const quarantineMs = hours\(72\)/, 'do not count for 72 hours'],
  ] as const) {
    t.match(source(file), code, `${file} has ${String(code)}`);
    t.ok(page.includes(words), words);
  }
  t.end();
});
