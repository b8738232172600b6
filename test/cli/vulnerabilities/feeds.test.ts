// Feeds of advisories on the host: import, list and remove.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import t from 'tap';

import { openStore } from '#data/store.ts';
import { folder, newStore, type NewStore } from '#test/cli/process.ts';
import { tar } from '#test/fixtures/packages/archives.ts';
import { kevCatalog, osvRecord, osvTarXz, osvZip, vexDocument } from '#test/fixtures/vulnerabilities/feeds.ts';

const ssl = {
  id: 'UBUNTU-CVE-2026-1001',
  upstream: ['CVE-2026-1001'],
  severity: [{ type: 'Ubuntu', score: 'high' }],
  fixes: { 'Ubuntu:22.04:LTS openssl': '3.0.2-0ubuntu1.20', 'Ubuntu:24.04:LTS openssl': null },
  binaries: { libssl3: '3.0.2-0ubuntu1.20', openssl: '3.0.2-0ubuntu1.20' },
};
const notice = { ...ssl, id: 'USN-9001-1', upstream: ['UBUNTU-CVE-2026-1001'], severity: [] };

/** Runs `work` with the records of a store. */
async function inStore(
  { data }: NewStore,
  work: (records: Awaited<ReturnType<typeof openStore>>['records']) => Promise<unknown>,
): Promise<void> {
  const store = await openStore({ directory: data });
  await work(store.records).finally(() => store.close());
}

t.test('feeds of all formats are imported, listed and removed', async (t) => {
  const store = await newStore(t);
  const files = folder(t);
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(files, name), content);
    return join(files, name);
  };

  const zipped = file('ubuntu.zip', osvZip([ssl, notice]));
  t.match(await store.json(`feed import ${zipped}`), {
    source: 'ubuntu',
    format: 'osv',
    'dated-at': '2026-04-30T10:00:00.000Z',
    entries: 2,
    releases: ['ubuntu:22.04', 'ubuntu:24.04'],
    'already-present': false,
  });
  t.match(await store.json(`feed import ${zipped}`), { 'already-present': true });

  const packed = tar([
    { name: 'debian/README', content: 'no JSON' },
    {
      name: 'debian/DEBIAN-CVE-2026-7.json',
      content: JSON.stringify(osvRecord({ id: 'DEBIAN-CVE-2026-7', fixes: { 'Debian:12 curl': '7.88-1' } })),
    },
  ]);
  t.match(await store.json(`feed import ${file('debian.tar.gz', gzipSync(packed))}`), { source: 'debian', entries: 1 });
  const fromUbuntu = await store.json(`feed import ${file('osv-all.tar.xz', osvTarXz())} --source ubuntu-xz`);
  t.match(fromUbuntu, { source: 'ubuntu-xz', entries: 1, releases: ['ubuntu:24.04'] });
  t.match(await store.json(`feed remove ubuntu-xz --yes`), {});
  t.match(await store.json(`feed import ${file('kev.json', kevCatalog(['CVE-2026-1001']))}`), { source: 'cisa-kev' });
  const vex = vexDocument([
    {
      vulnerability: 'CVE-2026-1001',
      products: [{ '@id': 'pkg:deb/ubuntu/openssl' }],
      status: 'not_affected',
      justification: 'vulnerable_code_not_present',
    },
  ]);
  t.match(await store.json(`feed import ${file('vex.json', vex)}`), { source: 'vex-vex.example-one-e3da7098' });
  const { feeds } = await store.json('feed list');
  t.match(feeds, [
    { source: 'cisa-kev', 'in-force': true },
    { source: 'debian' },
    { source: 'ubuntu', entries: 2, 'in-force': true },
    { source: 'vex-vex.example-one-e3da7098' },
  ]);
  t.match((await store.larder('feed list')).out, /^ubuntu +2026-04-30 +2 +ubuntu:22\.04, ubuntu:24\.04 +in force$/m);

  await inStore(store, async ({ feedIndexes, audit }) => {
    t.match(await feedIndexes.findByIds(['UBUNTU-CVE-2026-1001', 'USN-9001-1']), [
      { feed: 'ubuntu', advisory: 'UBUNTU-CVE-2026-1001', severity: 'high', summary: 'UBUNTU-CVE-2026-1001 in words' },
      { advisory: 'USN-9001-1', severity: 'high' },
    ]);
    t.same(await feedIndexes.exploitedAmong(['CVE-2026-1000', 'CVE-2026-1001']), ['CVE-2026-1001']);
    t.match(await feedIndexes.statementsAbout(['CVE-2026-1001']), [
      { status: 'not_affected', product: 'pkg:deb/ubuntu/openssl', component: null },
    ]);
    t.match(await audit.withWords(['import_feed'], 0), { length: 5 });
  });
  t.match(await store.larder('feed remove ubuntu --yes'), { code: 0 });
  t.match(await store.larder('feed remove ubuntu --yes'), { code: 1, err: /There is no feed 'ubuntu'/ });
  await inStore(store, async ({ feedIndexes }) => t.same(await feedIndexes.findByIds(['USN-9001-1']), []));
});
