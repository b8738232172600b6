// The preview of a transfer: the vulnerabilities that it adds and fixes, by the feeds of this moment.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { commandsOn, folder } from '#test/cli/process.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { charm, rock, tar } from '#test/fixtures/packages/archives.ts';
import { logIn, pushImage, uploadLogin } from '#test/fixtures/packages/images.ts';
import { kevCatalog, osvZip, type AdvisorySketch } from '#test/fixtures/vulnerabilities/feeds.ts';
import { site, trust, type SiteUnderTest } from '../sites.ts';

t.setTimeout(600_000);

/** A rock of Ubuntu with these packages and versions. */
const rockOf = (name: string, packages: Readonly<Record<string, string>>, release = '22.04') => {
  const entries = Object.entries(packages).map(
    ([called, version]) =>
      `Package: ${called}\nStatus: install ok installed\nArchitecture: amd64\nVersion: ${version}\n`,
  );
  const layer = tar([
    { name: 'usr/lib/os-release', content: `ID=ubuntu\nVERSION_ID="${release}"\n` },
    { name: 'var/lib/dpkg/status', content: entries.join('\n') },
  ]);
  return rock(name, { layers: [layer] });
};

const advisory = (number: number, source: string, fixed: string, severity: string): AdvisorySketch => ({
  id: `UBUNTU-CVE-2026-${String(number)}`,
  upstream: [`CVE-2026-${String(number)}`],
  severity: [{ type: 'Ubuntu', score: severity }],
  fixes: { [`Ubuntu:22.04:LTS ${source}`]: fixed },
});

t.test('a preview shows the vulnerabilities that a transfer adds and fixes', async (t) => {
  const depotStore = await startStore(t);
  const ada = await depotStore.as('ada');
  const commands = commandsOn(depotStore.directory);
  const done = async (line: string) => {
    const { code, out, err } = await commands.larder(`${line} --json`);
    if (code !== 0) throw new Error(`${line}: ${err || out}`);
    return JSON.parse(out) as unknown;
  };
  const depot: SiteUnderTest = { ...commands, done };
  await done('site init depot');
  const [receiver, stick] = [await site(t, 'site-a'), folder(t)];
  await trust(receiver, depot, join(stick, 'depot.json'));
  const feed = async (name: string, content: string | Uint8Array) => {
    writeFileSync(join(stick, name), content);
    await receiver.done(`feed import ${join(stick, name)}`);
  };
  const publish = async (name: string, revision: number, content: Uint8Array) => {
    await ada.push('rock', name, content);
    await ada.post(`/v1/rock/${name}/releases`, [{ channel: 'latest/stable', revision }]);
  };
  const receive = async (name: string): Promise<string> => {
    const { id } = (await done(`transfer make ${join(stick, name)}`)) as { id: string };
    await receiver.done(`transfer receive ${join(stick, name)}`);
    return id;
  };
  const preview = async (id: string) => (await receiver.larder(`transfer preview ${id}`)).out;

  for (const name of ['moved', 'other', 'stone']) await ada.post('/v1/rock', { name });
  await publish('stone', 1, rockOf('stone', { openssl: '3.0.1', zlib: '1.0' }));
  await publish('moved', 1, rockOf('moved', { openssl: '3.0.1' }));
  const first = await receive('1.tar');
  t.match(await preview(first), /no feed is in force/);
  t.notOk('vulnerabilities' in (await receiver.done(`transfer preview ${first}`)), 'nothing is counted without a feed');
  await receiver.done(`transfer accept ${first} --yes`);

  const ssl = advisory(1001, 'openssl', '3.0.2', 'high');
  const curl = advisory(1002, 'curl', '8.1', 'medium');
  const zlib = advisory(1003, 'zlib', '2.0', 'low');
  await feed('ubuntu-1.zip', osvZip([ssl, curl, zlib]));
  await feed('kev.json', kevCatalog(['CVE-2026-1002']));
  await publish('stone', 2, rockOf('stone', { openssl: '3.0.2', zlib: '1.0', curl: '8.0' }));
  await publish('moved', 2, rockOf('moved', { openssl: '3.0.2' }, '99.04'));
  await publish('other', 1, rockOf('other', { openssl: '3.0.1' }, '99.04'));
  await ada.post('/v1/charm', { name: 'hello' });
  await ada.push('charm', 'hello', charm('hello', {}, 'resources:\n  image:\n    type: oci-image\n'));
  const image = await pushImage(await logIn(depotStore, await uploadLogin(ada, 'hello')), 'latest', 'layer');
  const { body } = await ada.post('/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': image });
  const upload = await ada.upload(JSON.stringify(body));
  await ada.post('/v1/charm/hello/resources/image/revisions', { 'upload-id': upload, type: 'oci-image' });
  await depotStore.appliance.reviewed();
  const resources = [{ name: 'image', revision: 1 }];
  await ada.post('/v1/charm/hello/releases', [{ channel: 'latest/stable', revision: 1, resources }]);
  await depotStore.appliance.reviewed();
  const second = await receive('2.tar');

  await t.test('new ones, known-exploited ones first, fixed ones, and revisions that no feed covers', async (t) => {
    const text = (await preview(second)).replace(/\s+/g, ' ');
    t.match(
      text,
      /it adds, known to be exploited: rock\/stone revision 2 in latest\/stable: CVE-2026-1002, medium, in curl 8\.0, fixed in 8\.1/,
    );
    t.match(text, /it fixes: rock\/stone revision 1 in latest\/stable: CVE-2026-1001, high, in openssl 3\.0\.1/);
    t.match(
      text,
      /Not known to be free of vulnerabilities: charm\/hello revision 1: Unknown: [^:]* charm\/hello resource image revision 1: Unknown: A layer cannot be read: it ends too early\. rock\/moved revision 2: Not covered: no feed covers ubuntu:99\.04\. rock\/other revision 1: Not covered/,
    );
    t.notMatch(text, /CVE-2026-1003/, 'the channel has it before and after');
    t.match(await receiver.done(`transfer preview ${second}`), {
      vulnerabilities: {
        new: [
          { vulnerability: 'CVE-2026-1002', 'known-exploited': true, channels: ['latest/stable'], 'fixed-in': '8.1' },
        ],
        fixed: [{ vulnerability: 'CVE-2026-1001', revision: 1 }],
        incomplete: [
          { package: 'charm/hello', resource: null, revision: 1 },
          { package: 'charm/hello', resource: 'image', revision: 1 },
          { package: 'rock/moved', revision: 2 },
          { package: 'rock/other', revision: 1 },
        ],
        counts: { new: 1, 'known-exploited': 1, fixed: 1, incomplete: 4 },
      },
    });
  });

  await t.test('a changed feed shows at once, and changes nothing that was previewed', async (t) => {
    const { digest } = (await receiver.done(`transfer preview ${second}`)) as { digest: string };
    const modified = '2026-05-30T10:00:00Z';
    const later = { ...advisory(1004, 'openssl', '3.0.3', 'critical'), modified };
    await feed('ubuntu-2.zip', osvZip([ssl, curl, zlib, later].map((sketch) => ({ ...sketch, modified }))));
    const after = (await receiver.done(`transfer preview ${second}`)) as { vulnerabilities: object; digest: string };
    t.match(after.vulnerabilities, { counts: { new: 1, fixed: 1 } }, 'both revisions have the later one');
    await feed(
      'ubuntu-3.zip',
      osvZip(
        [ssl, curl, zlib, { ...later, ...advisory(1005, 'curl', '8.2', 'critical') }].map((sketch) => ({
          ...sketch,
          modified: '2026-05-31T10:00:00Z',
        })),
      ),
    );
    t.match(await preview(second), /Other vulnerabilities that it adds:\n.*CVE-2026-1005, critical/);
    t.equal(after.digest, digest);
    t.match(await receiver.larder(`transfer accept ${second} --yes --seen ${digest}`), { code: 0 });
  });
});
