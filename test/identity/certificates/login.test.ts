// Logins with client certificates: the accounts that they name, their sessions, and the files that revoke them.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';

import t from 'tap';

import { buildCertificateLogins } from '#appliance/certificate-logins.ts';
import { readConfig } from '#configuration/config.ts';
import { minutes } from '#domain/clock.ts';
import { confirmCertificateLogins } from '#jobs/accounts/confirm-certificate-logins.ts';
import { until } from '#test/fixtures/until.ts';
import { continuation } from '#test/identity/openid/world.ts';
import { altNames, clientAuth, commonName, ecKey, email, hours, makeAuthority, principalName } from './authority.ts';
import { startCertificateStore, type CertificateStore } from './world.ts';

/** One run of the job, as the serving process would do it. */
async function runJob({ beside: store, directory }: CertificateStore): Promise<Record<string, unknown>> {
  const settings = { config: readConfig(join(directory, 'larder.toml')) };
  const parts = { store, health: { watchAll: () => undefined }, log: { warn: () => undefined } };
  const { check } = buildCertificateLogins(parts as never, () => settings as never);
  return confirmCertificateLogins({ ...store, check }).run();
}

const lastActs = async ({ beside: { records } }: CertificateStore): Promise<{ action: string; details: string }[]> =>
  records.audit.newest(Number.MAX_SAFE_INTEGER, 5);

/** Puts further lines of [identity.certificates] into use, in place of the former ones. */
function configuring({ directory, appliance }: CertificateStore): (settings: string) => void {
  const file = join(directory, 'larder.toml');
  const before = readFileSync(file, 'utf8');
  return (settings) => {
    writeFileSync(file, before + settings);
    appliance.reload();
  };
}

t.test('a certificate logs its person in to the console, and the audit log names it', async (t) => {
  const store = await startCertificateStore(t);
  const certificate = store.certificateFor('ada');
  const { browser, presented } = await store.logIn(certificate, '/console/log-in?to=/console/myself');
  t.match(presented, { status: 200, refresh: 'https://store.example.internal/console/myself' }, presented.text);
  t.match(presented.cookies, [/^__Host-larder-session=.*; HttpOnly; SameSite=Strict; Secure$/]);
  t.match((await browser.open('/console/myself')).text, /ada@example\.com/);
  const row = (await lastActs(store)).find(({ action }) => action === 'accept_certificate_login');
  t.match(JSON.parse(row?.details ?? '{}'), {
    address: '127.0.0.1',
    issuer: 'CN=Test Issuing',
    serial: certificate.serial.toString('hex').toUpperCase(),
  });
  const root = await store.visit('root');
  t.match((await root.open(`/console/people/${store.ids.ada}`)).text, /Logs in with Password, or client certificate/);
});

t.test('a login is finished once, by the browser that began it and within 15 minutes, and only there', async (t) => {
  const store = await startCertificateStore(t);
  const certificate = store.certificateFor('ada');
  const browser = store.visitor();
  const page = await browser.send(await browser.open('/console/log-in'), '/identity/certificates/login');
  const address = continuation(page);
  t.match(address, /^https:\/\/store\.example\.internal:\d+\/identity\/certificates\/login$/);
  t.match(browser.cookie, /^__Host-larder-certificate=/);
  t.equal((await store.present(address, certificate, '')).status, 410, 'without the cookie');
  t.equal((await store.present(address, certificate, browser.cookie)).status, 200);
  t.equal((await store.present(address, certificate, browser.cookie)).status, 410, 'again');
  await browser.send(await browser.open('/console/log-in'), '/identity/certificates/login');
  t.equal((await browser.open('/identity/certificates/login')).status, 401, 'the address of the store takes none');
  store.clock.advance(minutes(16));
  t.equal((await store.present(address, certificate, browser.cookie)).status, 410, 'after 16 minutes');
  const { port } = new URL(address);
  for (const path of ['/console', '/v1/tokens', '/identity/login', '/healthz'])
    t.match(
      await store.present(`https://store.example.internal:${port}${path}`, certificate, browser.cookie),
      { status: 404 },
      path,
    );
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  t.equal(
    (await browser.send(await browser.open('/console/log-in'), '/identity/certificates/login', {}, foreign)).status,
    403,
  );
});

t.test('no TLS session is resumed, so each login presents the certificate', async (t) => {
  const store = await startCertificateStore(t);
  const { pem: cert, key } = store.certificateFor('ada');
  const { browser } = await store.logIn(store.certificateFor('ada'));
  const page = await browser.send(await store.visitor().open('/console/log-in'), '/identity/certificates/login');
  const { port } = new URL(continuation(page));
  const shake = (session?: Buffer, maxVersion: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3') => {
    const { promise, resolve, reject } = Promise.withResolvers<{
      session: Buffer | undefined;
      isReused: boolean;
      closes: boolean;
    }>();
    let latest: Buffer | undefined;
    const socket = connect({
      host: '127.0.0.1',
      port: Number(port),
      rejectUnauthorized: false,
      cert,
      key,
      session,
      maxVersion,
    });
    socket.on('session', (fresh) => (latest = fresh)).on('error', reject);
    socket.once('secureConnect', () => {
      const isReused = socket.isSessionReused();
      socket.once('data', (response) => {
        const closes = /^connection: close/im.test(response.toString('latin1'));
        resolve({ session: latest ?? socket.getSession(), isReused, closes });
        socket.destroy();
      });
      socket.write('GET /identity/style.css HTTP/1.1\r\nhost: a\r\n\r\n');
    });
    return promise;
  };
  for (const version of ['TLSv1.3', 'TLSv1.2'] as const) {
    const first = await shake(undefined, version);
    t.match(await shake(first.session, version), { isReused: false, closes: true }, version);
  }
});

t.test('a session ends when its certificate is revoked, and when it cannot be checked for an hour', async (t) => {
  const store = await startCertificateStore(t);
  const { issuing, files } = store;
  const [first, second] = [store.certificateFor('ada'), store.certificateFor('ada')];
  const [{ browser }, other] = [await store.logIn(first), await store.logIn(second)];
  t.strictSame(await runJob(store), { confirmed: 2 });
  writeFileSync(files.crl, issuing.crl([first.serial]));
  t.match((await store.logIn(first)).presented, { status: 401, text: /it is revoked/ }, 'the next login');
  t.strictSame(await runJob(store), { confirmed: 1, ended: 1 });
  t.equal((await browser.open('/console')).status, 401);
  t.equal((await other.browser.open('/console')).status, 200, 'the other certificate is not revoked');
  t.match((await lastActs(store))[0], { action: 'end_certificate_session', details: /it is revoked/ });

  rmSync(files.crl);
  t.match((await store.logIn(second)).presented, { status: 401, text: /no usable revocation list/ });
  t.strictSame(await runJob(store), { unchecked: 1 });
  store.clock.advance(minutes(29));
  t.equal((await other.browser.open('/console')).status, 200, 'a session goes on for a while');
  store.clock.advance(minutes(29));
  t.equal((await other.browser.open('/console')).status, 200);
  store.clock.advance(minutes(3));
  t.strictSame(await runJob(store), { ended: 1 });
  t.equal((await other.browser.open('/console')).status, 401);

  writeFileSync(files.crl, issuing.crl([first.serial]));
  const renamed = await store.logIn(second);
  t.equal(renamed.presented.status, 200, 'and a new list lets the person in again');
  const file = join(store.directory, 'larder.toml');
  appendFileSync(file, 'account_name = "CN"\n');
  t.strictSame(await runJob(store), { ended: 1 }, 'the certificate names no account by the changed setting');
});

t.test('a session ends with its certificate', async (t) => {
  const store = await startCertificateStore(t);
  const plan = { key: ecKey(), extensions: [clientAuth, altNames(email('ada@example.com'))], until: hours(0.5) };
  const { browser } = await store.logIn(store.issuing.issue(plan));
  store.clock.advance(minutes(29));
  t.equal((await browser.open('/console')).status, 200);
  store.clock.advance(minutes(2));
  t.equal((await browser.open('/console')).status, 401);
});

t.test(
  'an expired list refuses logins, or accepts them by the expired list if the configuration says so',
  async (t) => {
    const store = await startCertificateStore(t);
    const configure = configuring(store);
    for (const [settings, expected] of [
      ['', 401],
      ['expired_crl = "accept"\n', 200],
    ] as const) {
      configure(settings);
      const [ada, revoked] = [store.certificateFor('ada'), store.certificateFor('ada')];
      writeFileSync(store.files.crl, store.issuing.crl([revoked.serial], { from: hours(-9), until: hours(-1) }));
      const { presented } = await store.logIn(ada);
      t.equal(presented.status, expected, presented.text);
      t.match((await store.logIn(revoked)).presented, { status: 401, text: /it is revoked/ });
      const stranger = makeAuthority('Test Issuing', ecKey());
      writeFileSync(store.files.crl, stranger.crl([], { from: hours(-9), until: hours(-1) }));
      t.equal((await store.logIn(ada)).presented.status, 401, 'a list of another authority is none');
    }
  },
);

t.test('a principal name or a field of the subject names the account', async (t) => {
  const key = ecKey();
  const cases = [
    [
      'account_name = "upn"\nupn_domains = ["site.example"]\n',
      { extensions: [clientAuth, altNames(principalName('Ada@Site.example'))] },
    ],
    [
      'account_name = "CN"\n',
      {
        subject: [
          ['2.5.4.10', 'Site'],
          [commonName, 'ADA', 0x13],
        ],
      },
    ],
    ['account_name = "UID"\n', { subject: [['0.9.2342.19200300.100.1.1', 'ada']] }],
    ['account_name = "serialNumber"\n', { subject: [['2.5.4.5', 'ada']] }],
  ] as const;
  const wrong = [
    { extensions: [clientAuth, altNames(principalName('ada@other.example'))] },
    { extensions: [clientAuth, altNames(principalName('ada@site.example\0'))] },
    { extensions: [clientAuth, altNames(principalName('a\u0000d\u0000a@site.example', 0x1e))] },
    { extensions: [clientAuth, altNames(principalName('ada@x@site.example'))] },
    { extensions: [clientAuth, altNames(principalName('ada@site.example'), principalName('bob@site.example'))] },
    {
      subject: [
        [commonName, 'ada'],
        [commonName, 'bob'],
      ],
    },
    { subject: [[commonName, '\u212aarl']] },
    { subject: [[commonName, 'ada\0']] },
    { subject: [[commonName, Buffer.from('\0a\0d\0a'), 0x1e]] },
    { subject: [[commonName, 'ada@example.com']] },
    {
      subject: [
        ['0.9.2342.19200300.100.1.1', 'ada '],
        ['2.5.4.5', ' ada'],
      ],
    },
  ] as const;
  const store = await startCertificateStore(t);
  const configure = configuring(store);
  for (const [settings, plan] of cases) {
    configure(settings);
    const issue = (about: object) => store.issuing.issue({ key, extensions: [clientAuth], ...about });
    const { presented } = await store.logIn(issue(plan));
    t.equal(presented.status, 200, `${settings}${presented.text}`);
    for (const about of wrong)
      t.equal((await store.logIn(issue(about))).presented.status, 401, `${settings}${JSON.stringify(about)}`);
  }
});

t.test('files that are no lists or too large are a fault, and cost no more than their size', async (t) => {
  const store = await startCertificateStore(t);
  const { files, issuing } = store;
  const good = issuing.crl();
  const rule = { id: '2.5.29.28', value: Buffer.from('3000', 'hex') };
  const cases: [Buffer | string, RegExp][] = [
    [Buffer.alloc(50_000_000, 0x30), /it is larger than 16 MiB/],
    [Buffer.alloc(10_000_000, 0x30), /it is not a revocation list/],
    ['', /it holds no revocation list/],
    [good.subarray(0, -1), /it is not a revocation list/],
    [Buffer.concat([good, Buffer.from([0])]), /it is not a revocation list/],
    [Buffer.from('3084ffffffff', 'hex'), /it is not a revocation list/],
    [Buffer.from('3080', 'hex'), /it is not a revocation list/],
    ['-----BEGIN X509 CRL-----\nAAAA', /it is not complete/],
    [issuing.crl([], { extensions: [rule] }), /it is a partial list/],
    [makeAuthority('Test Issuing', ecKey()).crl(), /no authority in .*authority_file has signed it/],
  ];
  const ada = store.certificateFor('ada');
  const problems = async (): Promise<string> => JSON.stringify((await store.anyone.get('/readyz')).body.problems);
  for (const [content, expected] of cases) {
    writeFileSync(files.crl, content);
    t.match(await problems(), expected);
    t.equal((await store.logIn(ada)).presented.status, 401, String(expected));
  }
  const many = issuing.crl([ada.serial], { padding: 200_000 });
  t.ok(many.length > 7_000_000);
  writeFileSync(files.crl, many);
  t.match((await store.logIn(ada)).presented, { status: 401, text: /it is revoked/ }, 'a list of 7 MB is read');
  t.equal((await store.logIn(store.certificateFor('ada'))).presented.status, 200);
  for (const content of [
    '',
    'garbage',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    'x'.repeat(2_000_000),
    ada.pem,
  ]) {
    writeFileSync(files.authorities, content);
    t.match(await problems(), /Logins with client certificates cannot use .+\/authorities\.pem/);
    t.equal((await store.logIn(store.certificateFor('ada'))).presented.status, 401);
  }
  await until(async () => (await store.anyone.get('/healthz')).status === 200);
});
