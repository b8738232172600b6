// Certificates and revocation lists that OpenSSL makes, presented by Chromium and by curl.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { startConsole } from '#test/console/world.ts';
import { openBrowser } from '#test/fixtures/clients/browser.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import type { Test } from '#test/faults/places.ts';

const peers = { skip: withoutPrograms('openssl', 'curl', 'chromium') };

const settings = `
[ca]
default_ca = site
[site]
database = index.txt
serial = serial
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
default_md = sha256
default_days = 2
default_crl_days = 1
policy = any
[any]
commonName = supplied
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign,cRLSign
[person]
basicConstraints = critical,CA:false
keyUsage = critical,digitalSignature
extendedKeyUsage = clientAuth,1.3.6.1.4.1.311.20.2.2
subjectAltName = email:ada@example.com,otherName:1.3.6.1.4.1.311.20.2.3;UTF8:ada@site.example
`;

/** An authority of OpenSSL in a folder. */
function authorityIn(folder: string) {
  const openssl = (words: string): void => {
    const { status, stderr } = spawnSync('openssl', words.split(' '), { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`openssl ${words}: ${stderr}`);
  };
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of [
    ['ca.cnf', settings],
    ['index.txt', ''],
    ['serial', '1000\n'],
  ] as const)
    writeFileSync(join(folder, name), content);
  openssl(
    'req -new -x509 -config ca.cnf -extensions authority -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=Site -days 2',
  );
  const renewList = (): void => {
    openssl('ca -config ca.cnf -gencrl -out next.crl');
    writeFileSync(join(folder, 'site.crl'), readFileSync(join(folder, 'next.crl')));
  };
  renewList();
  return {
    issue(name: string): void {
      openssl(`req -new -config ca.cnf -newkey rsa:2048 -nodes -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`);
      openssl(`ca -config ca.cnf -batch -notext -extensions person -in ${name}.csr -out ${name}.pem`);
    },
    revoke(name: string): void {
      openssl(`ca -config ca.cnf -revoke ${name}.pem`);
      renewList();
    },
  };
}

async function startSite(t: Test) {
  const folder = t.testdir();
  const authority = authorityIn(folder);
  // Before the clock of the store stands still.
  authority.issue('ada');
  const [port, certificatePort] = [await freePort(), await freePort()];
  const base = `https://127.0.0.1:${String(port)}`;
  const section =
    `\n[identity.certificates]\nlisten = "127.0.0.1:${String(certificatePort)}"\nauthority_file = "${folder}/ca.pem"\n` +
    `crl_files = ["${folder}/site.crl"]\n`;
  const store = await startConsole(
    t,
    (text) =>
      text
        .replace(/^base_url = .*$/m, `base_url = "${base}"`)
        .replace(/^listen = .*$/m, `listen = "127.0.0.1:${String(port)}"`)
        .replace('[identity.certificates]', '#') + section,
    new Date(),
  );
  return { store, folder, authority, base: store.url, origin: `https://127.0.0.1:${String(certificatePort)}` };
}

t.test(
  'a person logs in to the console with Chromium and a certificate, until OpenSSL revokes it',
  peers,
  async (t) => {
    const { folder, authority, base, origin } = await startSite(t);
    const browser = await openBrowser(t);
    const certificate = { origin, certPath: join(folder, 'ada.pem'), keyPath: join(folder, 'ada.key') };
    const logIn = async () => {
      const context = await browser.newContext({ ignoreHTTPSErrors: true, clientCertificates: [certificate] });
      const page = await context.newPage();
      await page.goto(`${base}/console/log-in?to=/console/myself`);
      await page.getByRole('button', { name: 'Log in with a certificate' }).click();
      return page;
    };
    const page = await logIn();
    await page.waitForURL(`${base}/console/myself`);
    t.match(await page.textContent('main'), /ada@example\.com/);
    authority.revoke('ada');
    const refused = await logIn();
    await refused.waitForURL(`${origin}/**`);
    t.match(await refused.textContent('main'), /The certificate was not accepted: it is revoked/);
  },
);

t.test('curl without a certificate, and with one, gets the page that explains it', peers, async (t) => {
  const { folder, base, origin } = await startSite(t);
  const curl = async (...words: string[]): Promise<string> => {
    const args = ['--silent', '--show-error', '--insecure', '--cookie', 'jar', '--cookie-jar', 'jar', ...words];
    const { stdout, stderr } = await promisify(execFile)('curl', ['--max-time', '20', ...args], { cwd: folder });
    return stdout + stderr;
  };
  t.match(await curl('--data', 'to=/console', `${base}/identity/certificates/login`), /Present your certificate/);
  t.match(await curl(`${origin}/identity/certificates/login`), /The browser has presented no certificate/);
  const shown = await curl('--cert', 'ada.pem', '--key', 'ada.key', `${origin}/identity/certificates/login`);
  t.match(shown, /You are logged in/, shown);
  t.match(await curl(`${base}/console/myself`), /ada@example\.com/, 'the session is valid at the address of the store');
});
