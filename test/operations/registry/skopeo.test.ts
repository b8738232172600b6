// The registry beside the tool that the stock client calls: images that it copies in and out come out the same.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { declare, descriptor, digestOf, mediaTypes, uploadLogin } from '#test/fixtures/images.ts';
import { contentFiles } from '#test/fixtures/footprint.ts';

const installed = spawnSync('skopeo', ['--version']).status === 0;
const skip = installed ? false : 'skopeo is not installed (Debian: apt install skopeo)';
const run = promisify(execFile);

/** A tar archive with one file, which is what a layer is. */
function layer(name: string, content: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([
    header,
    Buffer.from(content.padEnd(Math.ceil(content.length / 512) * 512, '\0')),
    Buffer.alloc(1024),
  ]);
}

/** Writes an OCI layout with an image for two architectures; the digest of its index. */
function writeLayout(directory: string): string {
  const blobs = join(directory, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const put = (content: string | Buffer): typeof content => {
    writeFileSync(join(blobs, digestOf(content).slice(7)), content);
    return content;
  };
  const shared = layer('shared', 'the same everywhere '.repeat(10_000));
  const manifests = ['amd64', 'arm64'].map((architecture) => {
    const layers = [shared, layer('own', architecture)];
    const config = put(
      JSON.stringify({
        architecture,
        os: 'linux',
        rootfs: { type: 'layers', diff_ids: layers.map(digestOf) },
        config: {},
      }),
    );
    const manifest = put(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: mediaTypes.manifest,
        config: descriptor(config, mediaTypes.config),
        layers: layers.map((tar) => descriptor(put(gzipSync(tar)), `${mediaTypes.layer}+gzip`)),
      }),
    );
    return { ...descriptor(manifest, mediaTypes.manifest), platform: { architecture, os: 'linux' } };
  });
  const index = put(JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.index, manifests }, null, 2));
  const entry = { ...descriptor(index, mediaTypes.index), annotations: { 'org.opencontainers.image.ref.name': 'v1' } };
  writeFileSync(join(directory, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  writeFileSync(join(directory, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [entry] }));
  return digestOf(index);
}

t.test('an image for several architectures goes in and comes out with its digests', { skip }, async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const folder = mkdtempSync(join(tmpdir(), 'larder-skopeo-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const digest = writeLayout(join(folder, 'in'));
  const here = (image: string): string => `docker://${image.replace('127.0.0.1:8080', new URL(store.url).host)}`;

  const login = await uploadLogin(ada, 'hello');
  const push = (credentials: string): Promise<unknown> =>
    run('skopeo', [
      ...['--insecure-policy', 'copy', '--all', '--preserve-digests', '--dest-tls-verify=false'],
      ...['--dest-creds', credentials, `oci:${join(folder, 'in')}:v1`, here(login.image)],
    ]);
  await push(`${login.username}:${login.password}`);
  const kept = contentFiles(store.directory);
  t.equal(kept.length, 8, 'two configs, three layers, two manifests and the index: the shared layer once');
  await push(`${login.username}:${login.password}`);
  t.same(contentFiles(store.directory), kept, 'the second time there is nothing to send');
  await t.rejects(push(`${login.username}:wrong`), 'a wrong password is refused');

  const { status, body } = await ada.post('/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': digest });
  t.equal(status, 200);
  const pull = (to: string, credentials: string): Promise<unknown> =>
    run('skopeo', [
      ...['--insecure-policy', 'copy', '--all', '--preserve-digests', '--src-tls-verify=false'],
      ...['--src-creds', credentials, here(body.ImageName), `oci:${join(folder, to)}:v1`],
    ]);
  await pull('out', `${body.Username}:${body.Password}`);
  const pulled = JSON.parse(readFileSync(join(folder, 'out/index.json'), 'utf8')) as {
    manifests: { digest: string }[];
  };
  t.equal(pulled.manifests[0]?.digest, digest);
  const [before, after] = ['in', 'out'].map((way) =>
    readFileSync(join(folder, way, 'blobs/sha256', digest.slice(7)), 'utf8'),
  );
  t.equal(after, before);

  const { stdout } = await run('skopeo', [
    ...['inspect', '--raw', '--tls-verify=false', '--creds', `${body.Username}:${body.Password}`, here(body.ImageName)],
  ]);
  t.equal(digestOf(stdout), digest);
  await t.rejects(
    run('skopeo', [
      ...[
        '--insecure-policy',
        'copy',
        '--all',
        '--dest-tls-verify=false',
        '--dest-creds',
        `${body.Username}:${body.Password}`,
      ],
      ...[`oci:${join(folder, 'in')}:v1`, `${here(login.image)}:other`],
    ]),
    'who may only pull cannot push',
  );
});

t.test('an image goes in after the older format as well', { skip }, async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const folder = mkdtempSync(join(tmpdir(), 'larder-skopeo-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeLayout(join(folder, 'in'));
  const login = await uploadLogin(await store.as('ada'), 'hello');
  const image = `docker://${login.image.replace('127.0.0.1:8080', new URL(store.url).host)}:old`;
  const credentials = `${login.username}:${login.password}`;
  await run('skopeo', [
    ...['--insecure-policy', 'copy', '--all', '--format', 'v2s2', '--dest-tls-verify=false'],
    ...['--dest-creds', credentials, `oci:${join(folder, 'in')}:v1`, image],
  ]);
  const { stdout } = await run('skopeo', ['inspect', '--raw', '--tls-verify=false', '--creds', credentials, image]);
  t.match(JSON.parse(stdout), {
    mediaType: mediaTypes.dockerList,
    manifests: [{ mediaType: mediaTypes.dockerManifest }, {}],
  });
});
