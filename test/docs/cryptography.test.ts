// docs/reference/cryptography.md is made of the list in src/domain/cryptography.ts, and all cryptography goes through that module.
// `LARDER_KEEP=1 node test/docs/cryptography.test.ts` writes the page again.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { cryptographicUses, type CryptographicUse } from '#domain/cryptography.ts';

const root = join(import.meta.dirname, '../..');
const home = 'domain/cryptography.ts';
const pageFile = join(root, 'docs/reference/cryptography.md');
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(root, 'src', file), 'utf8') }));

const rowOf = ([name, use]: [string, CryptographicUse]): string =>
  `| ${[name, use.algorithm, use.key, use.purpose, use.library ?? 'node:crypto (OpenSSL)', use.fips].join(' | ')} |`;

const sections = Object.entries(cryptographicUses).map(
  ([heading, uses]) => `## ${heading}

| Use | Algorithm | Key | Purpose | Library | FIPS 140-3 |
|---|---|---|---|---|---|
${Object.entries(uses).map(rowOf).join('\n')}
`,
);

const page = `# Cryptographic inventory

Every use of cryptography in the store. This page is made of the list in \`src/domain/cryptography.ts\`; no other module imports
\`node:crypto\`. Random numbers are those of the operating system, by OpenSSL's generator.

| FIPS 140-3 | Meaning |
|---|---|
| approved | the algorithm is approved for this use |
| not approved | the algorithm is not approved |
| none | protects nothing from an attacker, so the algorithm may be any |

The store has no FIPS mode: [decision 21](../decisions/0021-no-fips-mode.md) has the trial and the reasons. Reports of
vulnerabilities and the times after which people prove again who they are: [SECURITY.md](../../SECURITY.md).

${sections.join('\n')}`;

t.test('the page of the cryptographic inventory is up to date', (t) => {
  if (process.env['LARDER_KEEP'] === '1') writeFileSync(pageFile, page);
  t.equal(readFileSync(pageFile, 'utf8'), page, 'LARDER_KEEP=1 node test/docs/cryptography.test.ts writes it');
  t.end();
});

t.test('all cryptography goes through one module', (t) => {
  const allowed: readonly [library: RegExp, files: readonly string[]][] = [
    [/from '(?:node:)?crypto'|import\('(?:node:)?crypto'\)|\brequire\('(?:node:)?crypto'\)/, [home]],
    [/\bcrypto\.(?:subtle|getRandomValues|randomUUID)\b|\bwebcrypto\b/, []],
    [/from 'tweetnacl'/, ['macaroons/codec/keys.ts', 'macaroons/codec/macaroon.ts', 'macaroons/codec/payload.ts']],
    [/from 'node-forge'/, ['tls/certificates.ts']],
    [/from '[^']*(?:noble|sodium|bcrypt|crypto-js|hash-wasm)[^']*'/, []],
  ];
  for (const [library, files] of allowed) {
    const users = sources.filter(({ text }) => library.test(text)).map(({ file }) => file);
    t.same(users.sort(), [...files].sort(), `${String(library)}: import it from src/${home}`);
  }
  t.end();
});

t.test('each use of the list is a use in the code', (t) => {
  const { Digests, Codes, Encryption, Signatures } = cryptographicUses;
  const code = sources
    .filter(({ file }) => file !== home)
    .map(({ text }) => text)
    .join('\n');
  for (const name of Object.keys({ ...Digests, ...Codes, ...Encryption, ...Signatures })) {
    const family = `${name.split(' ')[0]!} \${`;
    t.ok(code.includes(`('${name}'`) || code.includes(`\n    '${name}',`) || code.includes(`(\`${family}`), name);
  }
  t.end();
});
