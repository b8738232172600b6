// The findings of testssl.sh (Debian package) about the TLS of the server: nothing above LOW, except for one thing that
// a store without internet cannot have, an address for revoked certificates.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { kill } from '#test/fixtures/processes/kill.ts';
import { dataFolder, larder, serve } from '#test/fixtures/processes/served.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';

const program = '/usr/bin/testssl';
t.setTimeout(900_000);

/** All checks with findings of their own: the simulated clients and the list of every cipher only repeat these. */
const checks = ['--protocols', '--std', '--server-defaults', '--server-preference', '--headers', '--vulnerable'];

interface Finding {
  id: string;
  severity: string;
  finding: string;
}

const skip = !existsSync(program) && withoutPackages('testssl.sh');

t.test('testssl.sh finds nothing above LOW but the missing revocation', { skip }, async (t) => {
  const data = dataFolder(t);
  const port = await freePort();
  await larder('init', '--data', data, '--base-url', `https://localhost:${port}`, '--listen', `127.0.0.1:${port}`);
  const served = await serve(data, `127.0.0.1:${port}`);
  t.teardown(() => kill(served.process));
  const file = join(t.testdir(), 'found.json');
  const words = ['--add-ca', join(data, 'tls/ca.pem'), '--warnings', 'off', '--color', '0', '--quiet', ...checks];
  await new Promise((resolve) => {
    execFile(program, [...words, '--jsonfile', file, `https://localhost:${port}`], { maxBuffer: 1e8 }, resolve);
  });
  t.equal(await served.stop(), 0);

  const findings = JSON.parse(readFileSync(file, 'utf8')) as Finding[];
  t.ok(findings.length > 80, `${findings.length} findings`);
  const grave = findings.filter(({ severity }) => ['MEDIUM', 'HIGH', 'CRITICAL', 'FATAL'].includes(severity));
  t.strictSame(
    grave.map(({ id }) => id),
    ['cert_revocation'],
  );
  const findById = (id: string) => findings.find((each) => each.id === id);
  for (const id of ['SSLv2', 'SSLv3', 'TLS1', 'TLS1_1']) t.match(findById(id), { finding: /^not offered/ }, id);
  t.match(findById('cipherlist_OBSOLETED') ?? findById('cipherlist_AVERAGE'), { finding: /not offered/ }, 'no CBC');
  t.match(findById('cert_trust'), { severity: 'OK' });
  t.match(findById('cert_chain_of_trust'), { severity: 'OK' });
  t.match(findById('HSTS_time') ?? findById('HSTS'), { severity: 'OK' });
});
