// Revisions and images are matched with feeds: by source packages, by the table of binary packages, and by release.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { commandsOn } from '#test/cli/process.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { charm, rock, tar } from '#test/fixtures/packages/archives.ts';
import { squashfsImage } from '#test/fixtures/packages/squashfs-image.ts';
import { osvZip, kevCatalog, type AdvisorySketch } from '#test/fixtures/vulnerabilities/feeds.ts';

const snap = (version: string, base: string, primed: readonly string[]) =>
  squashfsImage({
    'meta/snap.yaml': `name: hello\nversion: '${version}'\nbase: ${base}\n`,
    'snap/manifest.yaml': `primed-stage-packages: [${primed.join(', ')}]\n`,
  });
const layer = (files: Record<string, string>) =>
  rock('stone', { layers: [tar(Object.entries(files).map(([name, content]) => ({ name, content })))] });

const advisories: AdvisorySketch[] = [
  {
    id: 'UBUNTU-CVE-2026-1001',
    upstream: ['CVE-2026-1001'],
    severity: [
      { type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' },
      { type: 'Ubuntu', score: 'high' },
    ],
    fixes: { 'Ubuntu:22.04:LTS openssl': '3.0.2-0ubuntu1.20' },
    // The binary package has a version of its own.
    binaries: { libssl3: '3.0.2-0ubuntu1.20', 'openssl-provider': '1:1.20' },
  },
  { id: 'USN-9001-1', upstream: ['UBUNTU-CVE-2026-1001'], fixes: { 'Ubuntu:22.04:LTS openssl': '3.0.2-0ubuntu1.20' } },
  { id: 'UBUNTU-CVE-2026-2', fixes: { 'Ubuntu:Pro:22.04:LTS zlib': null }, binaries: { zlib1g: '1:1.2.11' } },
  { id: 'UBUNTU-CVE-2026-3', fixes: { 'Ubuntu:Pro:FIPS:22.04:LTS zlib': null }, binaries: { zlib1g: '1:1.2.11' } },
  {
    id: 'UBUNTU-CVE-2026-4',
    fixes: { 'Ubuntu:22.04:LTS zlib': '2' },
    more: { withdrawn: '2026-04-30T11:00:00Z' },
  },
  { id: 'DEBIAN-CVE-2026-5', fixes: { 'Debian:12 glibc': '2.36-9+deb12u9' } },
  { id: 'ALPINE-CVE-2026-6', fixes: { 'Alpine:v3.18 openssl': '3.1.4-r3' } },
];

t.test('each revision has the advisories of its components, and of its release only', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const commands = commandsOn(store.directory);
  await ada.post('/v1/snap', { name: 'hello' });
  await ada.post('/v1/rock', { name: 'stone' });
  await ada.post('/v1/charm', { name: 'greeter' });
  await ada.push(
    'snap',
    'hello',
    snap('1', 'core22', ['libssl3=3.0.2-0ubuntu1.19', 'openssl-provider=1:1.20', 'zlib1g=1:1.2.11']),
  );
  await ada.push('snap', 'hello', snap('2', 'core22', ['libssl3=3.0.2-0ubuntu1.20', 'openssl-provider=1:1.9']));
  await ada.push('snap', 'hello', snap('3', 'core24', ['libssl3=3.0.2-0ubuntu1.19']));
  await ada.push('snap', 'hello', squashfsImage({ 'meta/snap.yaml': "name: hello\nversion: '4'\nbase: core22\n" }));
  const status = (...packages: string[]) => packages.map((text) => `${text}Status: install ok installed\n`).join('\n');
  await ada.push(
    'rock',
    'stone',
    layer({
      'etc/os-release': 'ID=debian\nVERSION_ID="12"\n',
      'var/lib/dpkg/status': status(
        'Package: libc6\nVersion: 2.36-9+deb12u8\nSource: glibc\nArchitecture: amd64\n',
        'Package: libc-l10n\nVersion: 1.0\nSource: glibc (2.36-9+deb12u9)\nArchitecture: all\n',
      ),
    }),
  );
  await ada.push(
    'rock',
    'stone',
    layer({
      'etc/os-release': 'ID=alpine\nVERSION_ID=3.18.4\n',
      'lib/apk/db/installed': 'P:libssl3\nV:3.1.4-r1\no:openssl\n\nP:openssl\nV:3.1.4-r3\no:openssl\n',
    }),
  );
  await ada.push('charm', 'greeter', charm('greeter', { 'requirements.txt': 'ops==2.1.0\n' }));
  const { records } = store.beside;
  const idOf = async (namespace: 'snap' | 'rock' | 'charm', name: string) =>
    (await records.packages.find(namespace, name))!.id;
  const readFindings = async (namespace: 'snap' | 'rock' | 'charm', name: string, revision: number) => {
    const result = await records.findings.ofRevision(await idOf(namespace, name), revision);
    return (
      result && {
        coverage: result.coverage,
        release: result.release,
        findings: result.findings.map(
          ({ component, advisory, fixed }) => `${component.name} ${advisory} ${fixed ?? '-'}`,
        ),
      }
    );
  };
  t.equal(await readFindings('snap', 'hello', 1), undefined, 'nothing is known before the first match');
  t.match(await commands.json('feed match'), { revisions: 7, images: 0 });
  t.same(await readFindings('snap', 'hello', 1), {
    coverage: 'release-not-covered',
    release: 'ubuntu:22.04',
    findings: [],
  });

  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(store.directory, name), content);
    return join(store.directory, name);
  };
  t.match(await commands.json(`feed import ${file('osv.zip', osvZip(advisories))}`), {
    source: 'alpine+debian+ubuntu',
    entries: 5,
    releases: ['alpine:3.18', 'debian:12', 'ubuntu:22.04'],
  });
  await commands.json(`feed import ${file('kev.json', kevCatalog(['CVE-2026-1001']))}`);
  t.match(await commands.json('feed match'), { revisions: 7, images: 0 });
  t.match(await commands.json('feed match'), { revisions: 0 }, 'a second run has nothing to do');

  await t.test('a snap is matched by its binary packages', async (t) => {
    t.same(await readFindings('snap', 'hello', 1), {
      coverage: 'covered',
      release: 'ubuntu:22.04',
      findings: [
        'libssl3 UBUNTU-CVE-2026-1001 3.0.2-0ubuntu1.20',
        'libssl3 USN-9001-1 3.0.2-0ubuntu1.20',
        'zlib1g UBUNTU-CVE-2026-2 -',
      ],
    });
    t.same((await readFindings('snap', 'hello', 2))?.findings, ['openssl-provider UBUNTU-CVE-2026-1001 1:1.20']);
    t.same(await readFindings('snap', 'hello', 3), {
      coverage: 'release-not-covered',
      release: 'ubuntu:24.04',
      findings: [],
    });
    t.match(await readFindings('snap', 'hello', 4), { coverage: 'no-bill', findings: [] });
  });
  await t.test('a rock is matched by its source packages', async (t) => {
    t.same(await readFindings('rock', 'stone', 1), {
      coverage: 'covered',
      release: 'debian:12',
      findings: ['libc6 DEBIAN-CVE-2026-5 2.36-9+deb12u9'],
    });
    t.same((await readFindings('rock', 'stone', 2))?.findings, ['libssl3 ALPINE-CVE-2026-6 3.1.4-r3']);
  });
  t.match(await readFindings('charm', 'greeter', 1), { coverage: 'ecosystem-not-covered' });

  await t.test('a finding has the rating of its advisory, and whether it is exploited', async (t) => {
    const { findings } = (await records.findings.ofRevision(await idOf('snap', 'hello'), 1))!;
    t.match(findings, [
      {
        advisory: 'UBUNTU-CVE-2026-1001',
        severity: 'high',
        score: 9.8,
        exploited: true,
        names: ['UBUNTU-CVE-2026-1001', 'CVE-2026-1001'],
      },
      // A notice has the rating of the vulnerability that it is about.
      { advisory: 'USN-9001-1', severity: 'high', exploited: true },
      { advisory: 'UBUNTU-CVE-2026-2', severity: 'unknown', score: null, exploited: false },
    ]);
  });
  t.same(
    (await records.findings.coverage()).filter(({ coverage }) => coverage === 'release-not-covered'),
    [{ coverage: 'release-not-covered', release: 'ubuntu:24.04', count: 1 }],
  );

  await t.test('a newer feed changes the findings, and a removed one ends them', async (t) => {
    const newer = osvZip([
      ...advisories.slice(1),
      {
        ...advisories[0]!,
        modified: '2026-05-01T00:00:00Z',
        fixes: { 'Ubuntu:22.04:LTS openssl': '3.0.2-0ubuntu1.19' },
        binaries: {},
      },
    ]);
    await commands.json(`feed import ${file('osv.zip', newer)}`);
    await commands.json('feed match');
    t.notOk(
      (await readFindings('snap', 'hello', 1))?.findings.includes('libssl3 UBUNTU-CVE-2026-1001 3.0.2-0ubuntu1.20'),
    );
    await commands.json('feed remove alpine+debian+ubuntu --yes');
    await commands.json('feed match');
    t.same(await readFindings('snap', 'hello', 1), {
      coverage: 'release-not-covered',
      release: 'ubuntu:22.04',
      findings: [],
    });
  });
});
