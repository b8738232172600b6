// openssl accepts the chain of certificates.
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { makeAuthority, makeServerCertificate } from '#tls/certificates.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const hosts = ['store.example.internal', '10.0.0.7', 'fd00::7'];

t.test('openssl finds nothing wrong with the chain', { skip: withoutPrograms('openssl') }, async (t) => {
  const authority = await makeAuthority('larder at store', now);
  const server = await makeServerCertificate(authority, hosts, now);
  const folder = t.testdir();
  writeFileSync(join(folder, 'ca.pem'), authority.certificate);
  writeFileSync(join(folder, 'server.pem'), server.certificate);
  const output = execFileSync('openssl', [
    ...['verify', '-x509_strict', '-attime', String(now.getTime() / 1000), '-purpose', 'sslserver'],
    ...['-verify_hostname', 'store.example.internal', '-CAfile', join(folder, 'ca.pem'), join(folder, 'server.pem')],
  ]);
  t.match(output.toString(), /: OK/);
});
