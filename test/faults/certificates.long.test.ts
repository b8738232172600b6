// The end of each certificate that a store has: when it is a notice and when a problem, to the second, and at every place.
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { days } from '#domain/clock.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { makeAuthority, makeServerCertificate } from '#tls/certificates.ts';
import type { Test } from './places.ts';
import { plainDoor, testRows, type Row } from './rows.ts';

const overTls = (text: string): string => text.replace('base_url = "http://', 'base_url = "https://');
const hosts = ['127.0.0.1'];
const after = (moment: Date, milliseconds: number): Date => new Date(moment.getTime() + milliseconds);

/** A new certificate ends so many days after it was made: it begins 300 days before. */
const newDays = 97;

interface SiteFiles {
  certificate: string;
  key: string;
  authority: string;
}

/** Files with a certificate that ends so many days after a moment, of an authority that ends ten years after another. */
async function writeSiteFiles(files: SiteFiles, moment: Date, left: number, authorityFrom = moment): Promise<void> {
  const authority = await makeAuthority('the site', authorityFrom);
  const server = await makeServerCertificate(authority, hosts, after(moment, days(left - newDays)));
  writeFileSync(files.certificate, server.certificate);
  writeFileSync(files.key, server.key, { mode: 0o600 });
  writeFileSync(files.authority, authority.certificate);
}

const siteFilesIn = (folder: string): SiteFiles => ({
  certificate: join(folder, 'site.pem'),
  key: join(folder, 'site-key.pem'),
  authority: join(folder, 'site-ca.pem'),
});

const bringing =
  ({ certificate, key, authority }: SiteFiles) =>
  (text: string): string =>
    overTls(text).replace(
      /^\[tls\]$/m,
      `[tls]\ncertificate_file = "${certificate}"\nkey_file = "${key}"\nauthority_file = "${authority}"`,
    );

interface Certificate {
  /** Which certificate of the store. */
  name: string;
  /** As the sentence names it. */
  whose: RegExp;
  isAuthority: boolean;
  /** It becomes a notice this many days before its end. */
  noticeDays: number;
  renewal: RegExp;
  start(t: Test): Promise<TestAppliance>;
  /** Its file. */
  file(store: TestAppliance): string;
}

const moment = new Date('2026-03-01T12:00:00.000Z');
const startWithSiteFiles = async (t: Test): Promise<TestAppliance> => {
  const folder = t.testdir();
  await writeSiteFiles(siteFilesIn(folder), moment, 200);
  return startStore(t, bringing(siteFilesIn(folder)), moment);
};
const fileOfSite =
  (name: 'certificate' | 'authority') =>
  ({ directory }: TestAppliance): string =>
    new RegExp(`^${name}_file = "(.*)"$`, 'm').exec(readFileSync(join(directory, 'larder.toml'), 'utf8'))![1]!;

const certificates: Certificate[] = [
  {
    name: "the store's own server certificate",
    whose: /^The server's certificate expire/,
    isAuthority: false,
    noticeDays: 25,
    renewal: /Restart the server: it renews its own certificate/,
    start: (t) => startStore(t, overTls, moment),
    file: ({ directory }) => join(directory, 'tls/server.pem'),
  },
  {
    name: "the store's own authority",
    whose: /^The certificate of the authority 'larder at 127\.0\.0\.1' expire/,
    isAuthority: true,
    noticeDays: 30,
    renewal: /move the folder tls of the data directory aside/,
    start: (t) => startStore(t, overTls, moment),
    file: ({ directory }) => join(directory, 'tls/ca.pem'),
  },
  {
    name: 'the server certificate that a site brings',
    whose: /^The server's certificate expire/,
    isAuthority: false,
    noticeDays: 30,
    renewal: /Put a new certificate into the site's files/,
    start: startWithSiteFiles,
    file: fileOfSite('certificate'),
  },
  {
    name: 'the authority that a site brings',
    whose: /^The certificate of the authority 'the site' expire/,
    isAuthority: true,
    noticeDays: 30,
    renewal: /Put a new certificate into the site's files/,
    start: startWithSiteFiles,
    file: fileOfSite('authority'),
  },
];

for (const { name, whose, noticeDays, renewal, start, file } of certificates) {
  t.test(
    `the end of ${name} is a notice ${String(noticeDays)} days before and a problem 5 days before, to the second`,
    async (t) => {
      const store = await start(t);
      const { validToDate: ends } = new X509Certificate(readFileSync(file(store)));
      const door = await plainDoor(t, store.url);
      const saysAt = async (now: Date): Promise<string> => {
        store.clock.advance(now.getTime() - store.clock.now.getTime());
        const reply = await fetch(`${door}/readyz`);
        const ready = (await reply.json()) as Record<'problems' | 'notices', string[]>;
        t.equal(reply.status, 200, 'it is served all the same');
        const [problem] = ready.problems.filter((text) => whose.test(text));
        const [notice] = ready.notices.filter((text) => whose.test(text));
        t.notOk(problem !== undefined && notice !== undefined, 'with one severity');
        if (problem === undefined && notice === undefined) return 'nothing';
        t.match(problem ?? notice, renewal);
        const [, words = ''] = /expire(.*?)(?:: clients|\. )/.exec(problem ?? notice ?? '') ?? [];
        return `${problem === undefined ? 'notice' : 'problem'}: expire${words}`;
      };
      const day = ends.toISOString().slice(0, 10);
      const before = (count: number, milliseconds = 0): Date => after(ends, -days(count) + milliseconds);
      const second = 1000;
      t.equal(await saysAt(before(noticeDays, -second)), 'nothing');
      t.equal(await saysAt(before(noticeDays)), `notice: expires on ${day}, in ${String(noticeDays)} days`);
      t.equal(await saysAt(before(noticeDays, second)), `notice: expires on ${day}, in ${String(noticeDays - 1)} days`);
      t.equal(await saysAt(before(5, -second)), `notice: expires on ${day}, in 5 days`);
      t.equal(await saysAt(before(5)), `problem: expires on ${day}, in 5 days`);
      t.equal(await saysAt(before(5, second)), `problem: expires on ${day}, in 4 days`);
      t.equal(await saysAt(before(0, -second)), `problem: expires on ${day}, in 0 days`);
      t.equal(await saysAt(ends), `problem: expires on ${day}, in 0 days`);
      t.equal(await saysAt(before(0, second)), `problem: expired on ${day}`);
    },
  );
}

const folder = mkdtempSync(join(tmpdir(), 'larder-tls-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const files = siteFilesIn(folder);
await writeSiteFiles(files, new Date(), 200);

/** A certificate of the site that ends so soon is brought, and then a good one. */
const endsIn = (left: number): Row['produce'] =>
  async function ({ appliance }) {
    await writeSiteFiles(files, new Date(), left + 0.5);
    appliance.reload();
    return async () => {
      await writeSiteFiles(files, new Date(), 200);
      appliance.reload();
    };
  };

const rows: Row[] = [
  {
    code: 'certificate-unsigned',
    configure: overTls,
    says: /^The server needs a new certificate, and goes on with the present one\. The keys in the key manager are not/,
    isNoticedLater: true,
    produce({ directory, appliance }) {
      const file = join(directory, 'larder.toml');
      changeConfig(file, { 'keys.manager': '/nonexistent/manager', 'tls.authority_key': 'authority' });
      appliance.reload();
      return () => {
        changeConfig(file, { 'tls.authority_key': undefined });
        appliance.reload();
      };
    },
  },
  {
    code: 'certificate-expires',
    configure: bringing(files),
    says: /^The server's certificate expires on \d{4}-\d\d-\d\d, in 20 days$/,
    produce: endsIn(20),
  },
  {
    code: 'certificate-expired',
    configure: bringing(files),
    says: /^The server's certificate expires on \d{4}-\d\d-\d\d, in 3 days: clients then refuse it$/,
    produce: endsIn(3),
  },
];

testRows(rows);
