// Every fault of the settings and of the work of a store is produced for real, and every place is asked about it.
import { chmodSync, existsSync, globSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { newWrappingKey } from '#data/secrets.ts';
import { days } from '#domain/clock.ts';
import { describeFault } from '#platform/faults.ts';
import { fakeManager } from '#test/assertions/keys/fake-manager.ts';
import { vectorKey } from '#test/assertions/vectors.ts';
import { larder } from '#test/cli/world.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { isLongLane } from '#test/fixtures/large.ts';
import { kevCatalog } from '#test/fixtures/vulnerabilities/feeds.ts';
import { until } from '#test/fixtures/until.ts';
import { ecKey, hours as hoursFromNow, makeAuthority } from '#test/identity/certificates/authority.ts';
import { osvZip } from '#test/fixtures/vulnerabilities/feeds.ts';
import { doctorShows, has } from './places.ts';
import { changeFile, configurationOf, reconfigure, testRows, type Row } from './rows.ts';

const certificateFolder = mkdtempSync(join(tmpdir(), 'larder-certificates-'));
t.teardown(() => {
  rmSync(certificateFolder, { recursive: true });
});
const [authorityFile, crlFile] = [join(certificateFolder, 'root.pem'), join(certificateFolder, 'root.crl')];
const authority = makeAuthority('Test Root', ecKey());
const withCertificates = (text: string): string =>
  text
    .replace(/^base_url = .*$/m, 'base_url = "https://store.example.internal"')
    .replace(/^# listen = .*$/m, 'listen = "127.0.0.1:0"')
    .replace(/^# authority_file = "\/etc\/larder\/client.*$/m, `authority_file = "${authorityFile}"`)
    .replace('# crl_files = []', `crl_files = ["${crlFile}"]`);
writeFileSync(authorityFile, authority.pem);
writeFileSync(crlFile, authority.crl());

const rows: Row[] = [
  {
    code: 'sealed',
    says: /without the signing master key it signs nothing/,
    produce({ directory, appliance }) {
      const key = join(directory, 'master.key');
      renameSync(key, `${key}.aside`);
      appliance.reload();
      return () => {
        renameSync(`${key}.aside`, key);
        appliance.reload();
      };
    },
  },
  {
    code: 'wrong-master-key',
    says: /^The signing master key cannot open 2 of 2 signing keys: they were sealed under another master key$/,
    async produce(store, t) {
      const keys = await keysOfAdaAndBob(store);
      const ada = await store.as('ada');
      const sign = () => ada.post(`/v1/brand/${store.ids.ada}/signing_key/${keys[0]!}/account-key-request`);
      const restore = changeFile(join(store.directory, 'master.key'), newWrappingKey);
      await store.restart();
      t.match(await sign(), {
        status: 503,
        body: { 'error-list': [{ code: 'sealed', message: /another master key/ }] },
      });
      return async () => {
        restore();
        store.appliance.reload();
        t.match(await sign(), { status: 200 });
      };
    },
  },
  {
    code: 'keys-unavailable',
    says: /^The keys in the key manager are not available: .* ended with exit code 1 \(No slot with token/,
    limits: { watchMs: 0 },
    isNoticedLater: true,
    async produce(store, t) {
      const { path, misbehave } = fakeManager(t, { serials: vectorKey('rsa4096-a').privateKey });
      reconfigure(store, (text) => text.replace(/^# manager = .*$/m, `manager = "${path}"`));
      const brand = await addBrand(store, 'ada');
      const line = `key create ${brand} serials --in-manager serials --data ${store.directory}`;
      t.match(await larder(line), { code: 0 });
      misbehave('get-public-key', 'exit');
      return () => {
        misbehave();
      };
    },
  },
  {
    code: 'configuration-refused',
    says: /The last reload was refused.*larder\.toml:\d+/,
    produce(store, t) {
      const undo = changeFile(configurationOf(store), (text) => `${text}\n[nonsense]\n`);
      t.throws(() => store.appliance.reload());
      return () => {
        undo();
        store.appliance.reload();
      };
    },
  },
  {
    code: 'administrator-credential',
    says: /auth\.store_admin_id is missing/,
    produce(store) {
      return reconfigure(store, (text) => text.replace(/^store_admin_id = .*$/m, ''));
    },
  },
  {
    code: 'backup-missing',
    says: /No backup was made yet/,
    produce:
      ({ directory }, t) =>
      async () => {
        t.match(await larder(`backup ${join(t.testdir(), 'one.tar')} --data ${directory}`), { code: 0 });
      },
  },
  {
    code: 'backup-overdue',
    says: /No backup was ever made of this store/,
    produce(store, t) {
      store.clock.advance(days(8));
      return async () => {
        store.clock.advance(-days(8));
        t.match(await larder(`backup ${join(t.testdir(), 'one.tar')} --data ${store.directory}`), { code: 0 });
      };
    },
  },
  {
    code: 'backup-failed',
    says: /The last backup failed at .*: cannot make the folder .*\/no\/such\/place/,
    async produce({ directory }, t) {
      const folder = t.testdir();
      t.match(await larder(`backup ${folder}/no/such/place --keep 2 --data ${directory}`), { code: 1 });
      return async () => {
        t.match(await larder(`backup ${folder}/made --keep 2 --data ${directory}`), { code: 0 });
        t.ok(existsSync(join(folder, 'made')), 'the folder is made');
      };
    },
  },
  {
    code: 'drill-failed',
    says: /The last drill failed at .*: .*has no backup that this site key made/,
    async produce({ directory }, t) {
      const folder = t.testdir();
      t.match(await larder(`backup drill ${folder} --data ${directory}`), { code: 1 });
      return async () => {
        t.match(await larder(`backup ${folder} --increment --data ${directory}`), { code: 0 });
        t.match(await larder(`backup drill ${folder} --data ${directory}`), { code: 0 });
      };
    },
  },
  {
    code: 'drill-overdue',
    says: /No backup was ever restored in a drill/,
    configure: (text) => text.replace(/^# drill_days = .*$/m, 'drill_days = 90'),
    produce:
      ({ directory }, t) =>
      async () => {
        const folder = t.testdir();
        t.match(await larder(`backup ${folder} --data ${directory}`), { code: 0 });
        t.match(await larder(`backup drill ${folder} --data ${directory}`), { code: 0 });
      },
  },
  {
    code: 'damaged-blobs',
    says: /corrupt and out of service: bin\/tool revision 1/,
    async produce(store) {
      const ada = await store.as('ada');
      await ada.post('/v1/bin', { name: 'tool' });
      await ada.push('bin', 'tool', 'a tool');
      const { sha3_384 } = (await store.beside.records.revisions.find(
        (await store.beside.records.packages.find('bin', 'tool'))!.id,
        1,
      ))!;
      const [file = ''] = globSync(join(store.directory, 'blobs', '**', `*${sha3_384.slice(2)}`));
      chmodSync(file, 0o600);
      writeFileSync(file, 'b tool');
      // A start reads all blobs again.
      await store.restart();
      await until(async () => (await store.anyone.get('/readyz')).body.problems.length > 0);
      return async () => {
        await ada.push('bin', 'tool', 'a tool');
      };
    },
  },
  {
    code: 'pending',
    says: /^1 upload waits for people/,
    async produce(store, t) {
      const ada = await store.as('ada');
      await ada.post('/v1/bin', { name: 'tool' });
      await larder(`package manual-review bin/tool on --data ${store.directory}`);
      const upload = await ada.upload('a tool');
      await ada.post('/v1/bin/tool/revisions', { 'upload-id': upload });
      await store.appliance.reviewed();
      const [waiting] = (
        JSON.parse((await larder(`review list --data ${store.directory} --json`)).out) as {
          uploads: Record<'upload-id', string>[];
        }
      ).uploads;
      return async () => {
        t.match(await larder(`review approve ${waiting!['upload-id']} --data ${store.directory}`), { code: 0 });
      };
    },
  },
  {
    code: 'unknown-proxy',
    says: /X-Forwarded-For from 127\.0\.0\.1/,
    async produce(store) {
      await store.anyone.get('/readyz', { 'x-forwarded-for': '10.0.0.9' });
      return () => {
        changeFile(configurationOf(store), (text) =>
          text.replace(/^# trusted_proxies = .*$/m, 'trusted_proxies = ["127.0.0.1"]'),
        );
        store.appliance.reload();
      };
    },
  },
  {
    code: 'crl-expired',
    says: /^The revocation list \S+\/root\.crl expired at \S+: logins with certificates of its authority are refused/,
    configure: withCertificates,
    produce() {
      writeFileSync(crlFile, authority.crl([], { from: hoursFromNow(-9), until: hoursFromNow(-1) }));
      return () => {
        writeFileSync(crlFile, authority.crl());
      };
    },
  },
  {
    code: 'certificate-file',
    says: /^Logins with client certificates cannot use \S+\/root\.crl: no authority in .*authority_file has signed it; logins that need/,
    configure: withCertificates,
    produce() {
      writeFileSync(crlFile, makeAuthority('Test Root', ecKey()).crl());
      return () => {
        writeFileSync(crlFile, authority.crl());
      };
    },
  },
  {
    code: 'openid-away',
    says: /^Logins with the OpenID provider fail: the discovery of https:\/\/127\.0\.0\.1:1 failed/,
    configure: (text) =>
      text
        .replace(/^# issuer = .*$/m, 'issuer = "https://127.0.0.1:1"')
        .replace(/^# client_id = .*$/m, 'client_id = "larder"')
        .replace(/^# client_secret_file = .*$/m, 'client_secret_file = "/dev/null"'),
    async produce(store) {
      await store.visitor().send(await store.visitor().open('/console/log-in'), '/identity/openid/login');
      return () => {
        changeFile(configurationOf(store), (text) =>
          text.replace(/^(issuer|client_id|client_secret_file) = .*$/gm, '# $&'),
        );
        store.appliance.reload();
      };
    },
  },
  {
    code: 'clock',
    says: /more than a day after the time that the clock should show/,
    produce(store) {
      store.clock.step(days(3));
      return () => store.clock.step(-days(3));
    },
  },
  {
    code: 'tokens-ending',
    says: /^1 token in use for two weeks or more ends within the next two/,
    async produce(store) {
      await store.as('ada', { ttl: 20 * 86_400 });
      store.clock.advance(days(15));
      return async () => {
        await larder(`token revoke --account ${store.ids.ada} --yes --data ${store.directory}`);
      };
    },
  },
  {
    code: 'transfer-overdue',
    says: /No transfer was ever accepted here/,
    configure: (text) => text.replace(/^# expected_days = .*$/m, 'expected_days = 7'),
    produce: (store) => () => reconfigure(store, (text) => text.replace(/^expected_days = .*$/m, '')),
  },
  {
    code: 'feed-old',
    says: /No newer feed was imported within 7 days \(vulnerabilities\.feed_days\): 'cisa-kev' of 2026-04-29/,
    async produce(store, t) {
      const file = join(t.testdir(), 'kev.json');
      const importFeed = async (dateReleased?: string): Promise<void> => {
        writeFileSync(file, kevCatalog(['CVE-2026-1001'], dateReleased));
        t.match(await larder(`feed import ${file} --data ${store.directory}`), { code: 0 });
      };
      await importFeed();
      return () => importFeed(new Date().toISOString());
    },
  },
  {
    code: 'feed-not-in-force',
    says: /The feed 'cisa-kev' was accepted and is not in force/,
    async produce(store, t) {
      const file = join(t.testdir(), 'kev.json');
      writeFileSync(file, kevCatalog(['CVE-2026-1001'], new Date().toISOString()));
      t.match(await larder(`feed import ${file} --data ${store.directory}`), { code: 0 });
      const db = new SQLite(join(store.directory, 'larder.db'));
      db.exec("UPDATE passing_feed_indexes SET made_from = 'another file'");
      db.exec("UPDATE vulnerability_feeds SET imported_at = '2026-01-01T00:00:00.000Z'");
      db.close();
      return async () => {
        await larder(`feed match --data ${store.directory}`);
      };
    },
  },
  {
    code: 'reserve-too-large',
    says: /The whole disk has \d+ MiB, and uploads\.reserve keeps \d+ MiB/,
    produce(store) {
      return reconfigure(store, (text) => text.replace(/^# reserve = .*$/m, 'reserve = "900 TiB"'));
    },
  },
  {
    code: 'damaged-row',
    says: /Row \S+ of revisions is not as it was written/,
    endsWithStart: true,
    async produce(store) {
      const ada = await store.as('ada');
      await ada.post('/v1/bin', { name: 'tool' });
      await ada.push('bin', 'tool', 'a tool');
      const db = new SQLite(join(store.directory, 'larder.db'));
      db.prepare(`UPDATE revisions SET size = size + 1`).run();
      await ada.post('/v1/bin/tool/releases', [{ channel: 'edge', revision: 1 }]);
      return async () => {
        db.prepare(`UPDATE revisions SET size = size - 1`).run();
        db.close();
        await store.restart();
      };
    },
  },
  {
    code: 'approvals-not-in-force',
    says: /\[approvals\] in larder\.toml says is not in force: Waits for 2 more approvals/,
    configure: (text) => text.replace('# transfers = "0"', `transfers = "2 of ${'A'.repeat(32)}, ${'B'.repeat(32)}"`),
    produce(store) {
      return reconfigure(store, (text) => text.replace(/^transfers = .*$/m, 'transfers = "0"'));
    },
  },
  {
    code: 'approvals-unmet',
    says: /The approval policy in force cannot be met\. The policy asks for 2 people, and 1 of the accounts that it names is/,
    configure: (text) => text.replace('# transfers = "0"', `transfers = "2 of ${'A'.repeat(32)}, ${'B'.repeat(32)}"`),
    async produce(store, t) {
      await store.disable('bob');
      return async () => {
        t.match(await larder(`account enable ${store.ids.bob} --data ${store.directory}`), { code: 0 });
      };
    },
  },
  {
    code: 'approvals-without-feed',
    says: /asks about vulnerabilities, and a feed of advisories is not in force, so releases do not wait/,
    configure: (text) =>
      text.replace('# vulnerabilities = []', `vulnerabilities = ["1 of ${'A'.repeat(32)} for critical"]`),
    produce: (store, t) => async () => {
      const file = join(store.directory, 'tmp-ubuntu.zip');
      writeFileSync(file, osvZip([{ id: 'UBUNTU-CVE-2026-1001', fixes: { 'Ubuntu:22.04:LTS openssl': '3' } }]));
      t.match(await larder(`feed import ${file} --data ${store.directory}`), { code: 0 });
    },
  },
];

// `npm test` asks the commands while there is a fault, and the other places after it too.
testRows(rows, isLongLane);

/** Makes ada and bob brands, each with a signing key; returns the keys. */
async function keysOfAdaAndBob(store: TestAppliance): Promise<string[]> {
  const ada = await addSigningKey(store, await addBrand(store, 'ada'), 'rsa4096-a', 'default');
  const bob = await addSigningKey(store, await addBrand(store, 'bob'), 'rsa4096-b', 'default');
  return [ada, bob];
}

t.test(
  "'wrong-master-key' shows while the store is not served too, as long as a key needs the other one",
  async (t) => {
    const store = await startStore(t);
    const [ofAda = '', ofBob = ''] = await keysOfAdaAndBob(store);
    const { ids, directory } = store;
    const ada = await store.as('ada');
    const bob = await store.as('bob');
    const restore = changeFile(join(directory, 'master.key'), newWrappingKey);
    t.equal((await ada.delete(`/v1/brand/${ids.ada}/signing_key/${ofAda}`)).status, 204);
    await store.appliance.stop();
    const fault = describeFault('wrong-master-key', { keys: 1, all: 1 });
    const status = await larder(`status --data ${directory}`);
    t.ok(has(fault.says, fault.remedy)(status.out), 'status', { status });
    doctorShows(t, await larder(`doctor --data ${directory}`), fault);

    restore();
    for (const command of ['status', 'doctor'])
      t.notOk(has('sealed under another master key')((await larder(`${command} --data ${directory}`)).out), command);
    changeFile(join(directory, 'master.key'), newWrappingKey);
    await store.restart();
    t.equal((await bob.delete(`/v1/brand/${ids.bob}/signing_key/${ofBob}`)).status, 204);
    t.strictSame((await store.anyone.get('/readyz')).body.problems, [], 'without keys the store needs no other');
  },
);
