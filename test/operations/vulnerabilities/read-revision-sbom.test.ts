// The bill of materials of a revision, from its push on: over HTTP and by command.
import t from 'tap';

import { commandsOn } from '#test/cli/process.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { charm, rock, tar } from '#test/fixtures/packages/archives.ts';
import { cycloneDxFaults } from '#test/fixtures/packages/cyclonedx-schema.ts';
import { squashfsImage } from '#test/fixtures/packages/squashfs-image.ts';

const manifest = (version: string) => `primed-stage-packages: [libssl3=${version}]\n`;
const snap = (version: string) =>
  squashfsImage({
    'meta/snap.yaml': `name: hello\nversion: '${version}'\nbase: core22\n`,
    'snap/manifest.yaml': manifest(`3.0.2-0ubuntu1.${version}`),
  });

t.test('a revision has the bill of materials of its own content', async (t) => {
  const store = await startStore(t);
  const [ada, bob, root] = [await store.as('ada'), await store.as('bob'), await store.as('root')];
  const { larder } = commandsOn(store.directory);
  for (const [namespace, name] of [
    ['snap', 'hello'],
    ['charm', 'greeter'],
    ['rock', 'stone'],
  ])
    await ada.post(`/v1/${namespace}`, { name });
  await ada.push('snap', 'hello', snap('1'));
  await ada.push('snap', 'hello', snap('2'));
  await ada.push('charm', 'greeter', charm('greeter', { 'requirements.txt': 'ops==2.1.0\n' }));
  const layer = tar([{ name: 'lib/apk/db/installed', content: 'P:musl\nV:1.2.4-r2\n' }]);
  await ada.push('rock', 'stone', rock('stone', { layers: [layer] }));
  const at = (of: string, revision: string | number) => `/internal/v1/packages/${of}/revisions/${revision}/sbom`;
  const read = async (of: string, revision = 1) => {
    const { status, headers, body } = await ada.get(at(of, revision));
    t.equal(status, 200);
    t.equal(headers.get('content-type'), 'application/vnd.cyclonedx+json');
    const document = JSON.parse(body as string);
    t.same(cycloneDxFaults(document), [], of);
    return document;
  };

  await t.test('a snap lists the packages that it primed', async (t) => {
    t.match(await read('snap/hello', 2), {
      specVersion: '1.6',
      metadata: { component: { name: 'snap/hello', version: '2', type: 'application' } },
      components: [
        {
          name: 'libssl3',
          version: '3.0.2-0ubuntu1.2',
          purl: 'pkg:deb/ubuntu/libssl3@3.0.2-0ubuntu1.2?distro=ubuntu-22.04',
        },
      ],
      compositions: [{ aggregate: 'not_specified' }],
    });
    t.not((await read('snap/hello', 1)).serialNumber, (await read('snap/hello', 2)).serialNumber);
  });

  await t.test('a charm and a rock list theirs', async (t) => {
    t.match(await read('charm/greeter'), { components: [{ purl: 'pkg:pypi/ops@2.1.0' }] });
    t.match(await read('rock/stone'), {
      metadata: { component: { type: 'container' } },
      components: [{ name: 'musl', version: '1.2.4-r2' }],
    });
  });

  await t.test('the command prints the same bytes, of the newest revision unless another is named', async (t) => {
    const sbom = (line: string) => larder(`package sbom ${line}`);
    const response = await fetch(`${store.url}${at('snap/hello', 2)}`, {
      headers: { authorization: `Macaroon ${ada.token}` },
    });
    const newest = await sbom('snap/hello');
    t.equal(newest.out, await response.text());
    t.equal((await sbom('snap/hello 2')).out, newest.out);
    t.match(JSON.parse((await sbom('snap/hello 1 --json')).out), { components: [{ version: '3.0.2-0ubuntu1.1' }] });
    t.match(await sbom('snap/hello 9'), { code: 1, err: /no revision 9 of snap\/hello/ });
    await ada.post('/v1/snap', { name: 'empty' });
    t.match(await sbom('snap/empty'), { code: 1, err: /has no revision/ });
  });

  await t.test('only people of the package and of the store read it', async (t) => {
    t.equal((await bob.get(at('snap/hello', 1))).status, 404);
    t.equal((await root.get(at('snap/hello', 1))).status, 200);
    t.equal((await store.anyone.get(at('snap/hello', 1))).status, 401);
    for (const revision of ['9', '0', 'x']) t.equal((await ada.get(at('snap/hello', revision))).status, 404);
  });

  await t.test('an upload that waits for a person keeps its bill', async (t) => {
    await larder('package manual-review snap/hello on');
    const upload = await ada.upload(snap('3'));
    await ada.post('/v1/snap/hello/revisions', { 'upload-id': upload });
    await store.appliance.reviewed();
    t.match(await larder(`review approve ${upload}`), { code: 0 });
    t.match(await read('snap/hello', 3), { components: [{ version: '3.0.2-0ubuntu1.3' }] });
  });
});
