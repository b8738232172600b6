import t from 'tap';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';

import { days } from '#domain/clock.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { makeAuthority, makeServerCertificate } from '#tls/certificates.ts';
import { largeTest } from '#test/fixtures/large.ts';

const overTls = (text: string): string =>
  text.replace('base_url = "http://127.0.0.1:8080"', 'base_url = "https://store.example.internal"');

/** The clients here hold certificates against the clock of the computer. */
const present = new Date();

interface Page {
  status: number;
  text: string;
  headers: IncomingHttpHeaders;
  certificate: PeerCertificate;
}

/** A page as a client gets it that trusts this authority and calls the store by this name. */
function fetchPage({ url }: TestAppliance, path: string, options: object): Promise<Page> {
  const { promise, resolve, reject } = Promise.withResolvers<Page>();
  get(url + path, { agent: false, ...options }, (response) => {
    const certificate = (response.socket as unknown as TLSSocket).getPeerCertificate();
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => (text += part));
    response.on('end', () => {
      resolve({ status: response.statusCode ?? 0, text, headers: response.headers, certificate });
    });
  }).on('error', reject);
  return promise;
}

t.test('a store at https makes its certificates, and a client that trusts its authority reaches it', async (t) => {
  const store = await startStore(t, overTls, present);
  t.match(store.url, /^https:/);
  const ca = readFileSync(join(store.directory, 'tls/ca.pem'), 'utf8');
  const trusting = { ca, servername: 'store.example.internal', checkServerIdentity: () => undefined };
  const { status, text, headers } = await fetchPage(store, '/ca.pem', trusting);
  t.equal(status, 200);
  t.equal(text, ca, 'the authority can be fetched from the store');
  t.equal(headers['content-disposition'], 'attachment; filename="ca.pem"');
  t.match((await fetchPage(store, '/healthz', trusting)).headers, {
    'strict-transport-security': 'max-age=31536000',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  await t.rejects(fetchPage(store, '/healthz', { servername: 'store.example.internal' }), 'others do not trust it');
  t.notMatch(readFileSync(join(store.directory, 'tls/ca.key'), 'utf8'), /PRIVATE KEY/, 'its key lies there sealed');
  t.equal(statSync(join(store.directory, 'tls/ca.key')).mode & 0o777, 0o400);

  await store.restart();
  t.equal(readFileSync(join(store.directory, 'tls/ca.pem'), 'utf8'), ca, 'a restart keeps the authority');
});

t.test('only TLS 1.2 and later with suites that authenticate is spoken', async (t) => {
  const store = await startStore(t, overTls, present);
  const { hostname, port } = new URL(store.url);
  const shake = (options: object): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, ...options }, () => {
      resolve(`${String(socket.getProtocol())} ${socket.getCipher().name}`);
      socket.destroy();
    }).on('error', reject);
    return promise;
  };
  t.match(await shake({}), /^TLSv1\.3 TLS_AES_256_GCM_SHA384$/);
  t.match(await shake({ maxVersion: 'TLSv1.2' }), /^TLSv1\.2 ECDHE-RSA-AES256-GCM-SHA384$/);
  await t.rejects(shake({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }));
  await t.rejects(
    shake({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES256-SHA384:ECDHE-RSA-AES128-SHA:AES256-SHA' }),
    'no CBC',
  );
  await t.rejects(shake({ maxVersion: 'TLSv1.2', ciphers: 'AES256-GCM-SHA384' }), 'nothing without forward secrecy');
});

largeTest('a certificate that ends soon is renewed, and one without a name of the store is replaced', async (t) => {
  const store = await startStore(t, overTls, present);
  const server = (): string => readFileSync(join(store.directory, 'tls/server.pem'), 'utf8');
  const first = server();
  store.clock.advance(days(66));
  await store.restart();
  t.equal(server(), first, 'a month before its end it is good');
  store.clock.advance(days(2));
  await store.restart();
  const second = server();
  t.not(second, first);
  const file = join(store.directory, 'larder.toml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/# names = \[\]/, 'names = ["store", "10.0.0.7"]'));
  store.appliance.reload();
  while (server() === second) await new Promise((resolve) => setTimeout(resolve, 20));
  let altName: string | undefined;
  while (!altName?.includes('10.0.0.7')) {
    altName = (await fetchPage(store, '/healthz', { rejectUnauthorized: false })).certificate.subjectaltname;
  }
  t.match(altName, /DNS:store, /, 'without a restart');
});

t.test("the site's own certificate is served, and a wrong one is refused with a sentence", async (t) => {
  const folder = t.testdir();
  const authority = await makeAuthority('The site', present);
  const certified = await makeServerCertificate(authority, ['store.example.internal'], present);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'server.pem'), certified.certificate);
  writeFileSync(join(folder, 'server.key'), certified.key);
  writeFileSync(join(folder, 'other.key'), authority.key);
  const files =
    (key: string) =>
    (text: string): string =>
      overTls(text)
        .replace(/# certificate_file = .*/, `certificate_file = "${folder}/server.pem"`)
        .replace(/# key_file = .*/, `key_file = "${folder}/${key}"`);
  const store = await startStore(t, files('server.key'), present);
  const { certificate } = await fetchPage(store, '/healthz', {
    ca: authority.certificate,
    servername: 'store.example.internal',
    checkServerIdentity: () => undefined,
  });
  t.match(certificate.subjectaltname, /store\.example\.internal/);
  t.equal(
    (await fetchPage(store, '/ca.pem', { ca: authority.certificate, checkServerIdentity: () => undefined })).status,
    404,
  );
  writeFileSync(join(folder, 'ca.pem'), authority.certificate);
  const configuredStore = await startStore(t, (text) =>
    files('server.key')(text).replace(/# authority_file = "\/etc\/larder\/ca.*/, `authority_file = "${folder}/ca.pem"`),
  );
  const fetched = await fetchPage(configuredStore, '/ca.pem', {
    ca: authority.certificate,
    checkServerIdentity: () => undefined,
  });
  t.match(fetched, { status: 200, text: authority.certificate }, 'an authority that the configuration names is given');
  await t.rejects(startStore(t, files('other.key')), /it is not the key of the certificate/);
});

t.test('a certificate that is made or renewed at a start is in the log and in the audit log', async (t) => {
  const store = await startStore(t, overTls, present);
  const countEntries = async (): Promise<number> =>
    (await store.beside.records.audit.list(0, 1000)).filter(({ action }) => action === 'renew_certificate').length;
  const logged = (): number => store.log.filter((line) => line.includes('the server has a new certificate')).length;
  t.same([await countEntries(), logged()], [1, 1]);
  await store.restart();
  t.same([await countEntries(), logged()], [1, 1], 'one that is still good is not new');
  store.clock.advance(days(80));
  await store.restart();
  t.same([await countEntries(), logged()], [2, 2]);
});
