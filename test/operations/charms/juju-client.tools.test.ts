// The requests of juju, byte for byte, from a client that accepts only responses that juju accepts. Needs Go.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { buildJujuClient, jujuClientMissing } from '#test/assertions/judge.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { zip } from '#test/fixtures/packages/archives.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { logIn, pushImage, uploadLogin } from '#test/fixtures/packages/images.ts';
import { jammy, pushCharm, pushResource, recorded, servingCharms } from '#test/fixtures/clients/juju.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';

const skip = withoutPackages(...jujuClientMissing());
t.setTimeout(600_000);

/** The results of a call, as the client understood them. */
interface Told {
  results: {
    charm: {
      type: string;
      revision: number;
      download: { url: string; size: number; 'hash-sha-256': string; 'hash-sha-384': string };
      resources: { name: string; revision: number; download: { url: string; size: number; 'hash-sha-384': string } }[];
    };
    error: { code: string; extra: { 'default-bases': object[]; releases: object[] } } | null;
  }[];
}

async function startForJuju(t: Parameters<typeof startStore>[0]) {
  const client = buildJujuClient();
  const port = await freePort();
  const store = await startStore(t, (text) =>
    servingCharms(text).replace('127.0.0.1:0', `127.0.0.1:${port}`).replaceAll(':8080', `:${port}`),
  );
  const folder = mkdtempSync(join(tmpdir(), 'larder-juju-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const ask = (...command: string[]) => client(store.url, command);
  const refresh = async (body: object): Promise<Told['results']> => {
    const { status, stderr, result } = await client(store.url, ['refresh'], JSON.stringify(body));
    if (status !== 0) throw new Error(`juju does not take the answer: ${stderr}`);
    return (result as unknown as Told).results;
  };
  const file = join(folder, 'file');
  /** Fetches what an answer names, as juju does, and gives its bytes. */
  const fetched = async (url: string, hash: string): Promise<Buffer> => {
    const { status, stderr } = await ask('download', url, hash, file);
    if (status !== 0) throw new Error(stderr);
    return readFileSync(file);
  };
  return { store, ask, refresh, fetched, ada: await store.as('ada') };
}

const config = 'options:\n  port: {type: int, default: 80, description: Where it listens.}\n';
const resources = `resources:
  site: {type: file, filename: site.tar, description: The pages.}
  image: {type: oci-image, description: The server.}
requires:
  db: {interface: postgresql}
`;

t.test('a charm with a file and an image is found, deployed, fetched and refreshed', { skip }, async (t) => {
  const { store, ask, refresh, fetched, ada } = await startForJuju(t);
  const { id } = (await ada.post('/v1/charm', { name: 'pages' })).body;
  const files = { 'config.yaml': config, 'actions.yaml': 'restart:\n  description: Restarts it.\n' };
  const content = await pushCharm(ada, 'pages', { files, metadata: resources });
  const at = '/v1/charm/pages/resources';
  await pushResource(store, ada, `${at}/site`, 'first pages');
  await pushResource(store, ada, `${at}/site`, 'second pages');
  const image = await pushImage(await logIn(store, await uploadLogin(ada, 'pages')), 'latest', 'server');
  const blob = await fetch(`${store.url}${at}/image/oci-image/blob`, {
    method: 'POST',
    headers: { authorization: `Macaroon ${ada.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ 'image-digest': image }),
  });
  const text = await blob.text();
  await pushResource(store, ada, `${at}/image`, text);
  t.match(await ask('info', 'pages'), { status: 1, stderr: /^not found/ }, 'nothing is released');
  const released = [
    { name: 'site', revision: 2 },
    { name: 'image', revision: 1 },
  ];
  await ada.post('/v1/charm/pages/releases', [{ channel: 'candidate', revision: 1, resources: released }]);

  t.match(await ask('find', 'PAGE'), {
    status: 0,
    result: {
      results: [
        {
          name: 'pages',
          type: 'charm',
          id,
          result: { summary: 'A greeter', publisher: { 'display-name': 'Ada' } },
          'default-release': { revision: { bases: [{ name: 'ubuntu', channel: '22.04' }, {}] } },
        },
      ],
    },
  });
  t.match(await ask('find', 'nowhere'), { status: 0, result: { results: [] } });
  t.match(await ask('info', 'pages'), {
    status: 0,
    result: {
      name: 'pages',
      'channel-map': [
        { channel: { name: 'latest/candidate', risk: 'candidate', base: jammy, 'released-at': /^\d{4}-/ } },
        { channel: { base: { architecture: 'arm64' } } },
      ],
      'default-release': {
        revision: {
          revision: 1,
          'config-yaml': config,
          'metadata-yaml': /^name: pages/,
          download: { size: content.length },
        },
      },
    },
  });

  const [first] = await refresh(recorded.install('pages', 'edge'));
  t.match(first, { error: { code: 'invalid-charm-base', extra: { 'default-bases': [jammy] } } }, 'which base?');
  t.equal(first!.error!.extra['default-bases'].length, 1, 'those of the architecture alone');
  const [result] = await refresh(recorded.install('pages', 'edge', jammy));
  t.match(result, {
    result: 'install',
    id,
    name: 'pages',
    'effective-channel': 'latest/candidate',
    charm: {
      type: 'charm',
      revision: 1,
      bases: [jammy, { architecture: 'arm64' }],
      publisher: { username: 'ada', 'display-name': 'Ada' },
      'metadata-yaml': /^name: pages/,
      'config-yaml': config,
      'actions-yaml': /^restart:/,
      resources: [
        { name: 'image', type: 'oci-image', revision: 1, description: 'The server.', download: { size: text.length } },
        { name: 'site', type: 'file', revision: 2, filename: 'site.tar', description: 'The pages.' },
      ],
    },
  });
  const {
    download,
    resources: [second, site],
  } = result!.charm;
  t.equal(download['hash-sha-384'], createHash('sha384').update(content).digest('hex'));
  const [again] = await refresh(recorded.download(id, 'latest/candidate'));
  t.same(again!.charm.download, download);
  t.same(await fetched(download.url, download['hash-sha-256']), content);
  t.equal(String(await fetched(site!.download.url, site!.download['hash-sha-384'])), 'second pages');
  t.equal(String(await fetched(second!.download.url, second!.download['hash-sha-384'])), text, 'the very bytes');

  const [exact] = await refresh(recorded.byRevision('pages', 1, [{ name: 'site', revision: 1 }]));
  t.match(exact!.charm, { revision: 1, resources: [{ name: 'site', revision: 1 }] });
  t.equal(exact!.charm.resources.length, 1, 'those alone that were named');
  t.match((await ask('resources', 'pages', 'site')).result, {
    revisions: [
      { name: 'site', type: 'file', revision: 2, filename: 'site.tar' },
      { name: 'site', revision: 1 },
    ],
  });

  await pushCharm(ada, 'pages', { files: { ...files, version: '2\n' }, metadata: resources });
  await ada.post('/v1/charm/pages/releases', [{ channel: 'candidate', revision: 2 }]);
  const [newer] = await refresh(recorded.refresh({ id, revision: 1, channel: 'latest/edge' }));
  t.match(newer, {
    result: 'refresh',
    error: null,
    charm: { revision: 2, version: '2', resources: [{ revision: 1 }, { revision: 2 }] },
  });
  t.same(await refresh(recorded.metricsAlone), []);

  await ada.patch('/v1/charm/pages', { private: true });
  t.match(await ask('download', download.url, download['hash-sha-256'], 'nowhere'), { status: 1, stderr: /404/ });
  t.match(await ask('download', site!.download.url, '', 'nowhere'), { status: 1, stderr: /404/ });
  t.match(await ask('resources', 'pages', 'site'), { status: 1, stderr: /^not found/ });
});

t.test('a bundle is answered at once, and each of its charms as any other', { skip }, async (t) => {
  const { ask, refresh, fetched, ada } = await startForJuju(t);
  await ada.post('/v1/charm', { name: 'site', type: 'bundle' });
  const bundle = 'applications:\n  pages: {charm: pages, channel: stable, num_units: 1}\n';
  const content = zip({ 'bundle.yaml': bundle, 'README.md': '' });
  await ada.push('charm', 'site', content);
  await ada.post('/v1/charm/site/releases', [{ channel: 'stable', revision: 1 }]);
  t.match(await ask('info', 'site'), {
    status: 0,
    result: { type: 'bundle', 'default-release': { revision: { 'bundle-yaml': bundle } } },
  });
  const [result] = await refresh(recorded.install('site'));
  t.match(result, { error: null, 'effective-channel': 'latest/stable', charm: { type: 'bundle', revision: 1 } });
  const { url, 'hash-sha-256': hash } = result!.charm.download;
  t.same(await fetched(url, hash), content);
  t.match((await refresh(recorded.install('pages')))[0], { error: { code: 'name-not-found' } });
});
