// A store with logins by client certificates, and browsers that present them.
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';

import { startConsole, textOf, type ConsoleStore, type Visitor } from '#test/console/world.ts';
import type { Test } from '#test/faults/places.ts';
import { plainDoor } from '#test/faults/rows.ts';
import { continuation } from '#test/identity/openid/world.ts';
import {
  altNames,
  clientAuth,
  crlPem,
  ecKey,
  email,
  makeAuthority,
  type Issued,
  type TestAuthority,
} from './authority.ts';

/** The result of presenting a certificate; status 0 if the handshake failed. */
export interface Presented {
  status: number;
  text: string;
  location: string | undefined;
  cookies: readonly string[];
  /** Where the page continues. */
  refresh: string | undefined;
}

export interface CertificateStore extends ConsoleStore {
  root: TestAuthority;
  issuing: TestAuthority & { serial: Buffer };
  files: { authorities: string; rootCrl: string; crl: string };
  /** A certificate of ada, or of another person. */
  certificateFor(person: string): Issued;
  /** Begins a login at the page, and presents a certificate at the address that the store sends the browser to. */
  logIn(credentials: Partial<Issued>, from?: string): Promise<{ browser: Visitor; presented: Presented }>;
  /** Presents a certificate at an address with the cookies of a browser. */
  present(address: string, credentials: Partial<Issued>, cookie: string, options?: object): Promise<Presented>;
}

const personKey = ecKey();
const rootKeys = ecKey('P-384');

/** The configuration of the store; `settings` are further lines of [identity.certificates]. */
export async function startCertificateStore(t: Test, settings = ''): Promise<CertificateStore> {
  const root = makeAuthority('Test Root', rootKeys);
  const issuing = root.certify('Test Issuing');
  const folder = t.testdir();
  const files = {
    authorities: join(folder, 'authorities.pem'),
    rootCrl: join(folder, 'root.crl'),
    crl: join(folder, 'issuing.crl'),
  };
  writeFileSync(files.authorities, root.pem + issuing.pem);
  writeFileSync(files.rootCrl, root.crl());
  writeFileSync(files.crl, crlPem(issuing.crl()));
  const section = `
[identity.certificates]
listen = "127.0.0.1:0"
authority_file = "${files.authorities}"
crl_files = ["${files.rootCrl}", "${files.crl}"]
${settings}`;
  const store = await startConsole(
    t,
    (text) =>
      text
        .replace(/^base_url = .*$/m, 'base_url = "https://store.example.internal"')
        .replace(/\[identity\.certificates\]/, '#') + section,
    new Date(),
  );
  store.url = await plainDoor(t, store.url);
  return Object.assign(store, {
    root,
    issuing,
    files,
    certificateFor: (person: string) =>
      issuing.issue({ key: personKey, extensions: [clientAuth, altNames(email(`${person}@example.com`))] }),
    present,
    async logIn(credentials: Partial<Issued>, from = '/console/log-in') {
      const browser = store.visitor();
      const page = await browser.send(await browser.open(from), '/identity/certificates/login');
      const presented = await present(continuation(page), credentials, browser.cookie);
      const [session] = presented.cookies;
      if (session !== undefined) browser.cookie = session.split(';')[0] ?? '';
      return { browser, presented };
    },
  });
}

function present(
  address: string,
  { pem, key }: Partial<Issued>,
  cookie: string,
  options: object = {},
): Promise<Presented> {
  const { hostname, port, pathname } = new URL(address);
  const { promise, resolve } = Promise.withResolvers<Presented>();
  const about = {
    host: '127.0.0.1',
    port,
    path: pathname,
    agent: false,
    rejectUnauthorized: false,
    servername: hostname,
    ciphers: 'DEFAULT@SECLEVEL=0',
  };
  get({ ...about, cert: pem, key, headers: { cookie, host: `${hostname}:${port}` }, ...options }, (response) => {
    let html = '';
    response.setEncoding('utf8').on('data', (part: string) => (html += part));
    response.on('end', () => {
      const { location, 'set-cookie': cookies = [], refresh } = response.headers;
      resolve({
        status: response.statusCode ?? 0,
        text: textOf(html),
        location,
        cookies,
        refresh: typeof refresh === 'string' ? refresh.replace(/^0; url=/, '') : undefined,
      });
    });
  }).on('error', ({ message }) => {
    resolve({ status: 0, text: message, location: undefined, cookies: [], refresh: undefined });
  });
  return promise;
}
