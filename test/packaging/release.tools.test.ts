// The signature of a release is one of ssh-keygen, and skopeo carries the image of larder to a registry.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { releaseFingerprint, sshLineOf } from '#transfers/larder-release/manifest.ts';
import { folder } from '#test/cli/process.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { until } from '#test/fixtures/until.ts';
import { makeRelease, newSigner } from '#test/transfers/larder-release/releases.ts';
import { ociImage } from '../../packaging/oci.ts';

t.test('ssh-keygen verifies the manifest', { skip: withoutPrograms('ssh-keygen') }, (t) => {
  const place = folder(t);
  const signer = newSigner(place);
  const release = makeRelease(place, signer);
  writeFileSync(join(place, 'signers'), `larder namespaces="larder-release" ${sshLineOf(signer.publicKey)}\n`);
  const verify = (action: string[], input: Buffer): string =>
    execFileSync('ssh-keygen', ['-Y', ...action, '-n', 'larder-release', '-s', join(release, 'manifest.json.sig')], {
      input,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  const manifest = readFileSync(join(release, 'manifest.json'));
  const byKey = ['verify', '-f', join(place, 'signers'), '-I', 'larder'];
  t.match(verify(byKey, manifest), /^Good "larder-release" signature for larder/);
  t.match(verify(['check-novalidate'], manifest), releaseFingerprint(signer.publicKey));
  t.throws(() => verify(byKey, Buffer.from('another')));
  t.end();
});

t.test('skopeo copies the image with both architectures', { skip: withoutPrograms('skopeo') }, (t) => {
  const place = folder(t);
  const image = stored(place);
  t.equal(image, stored(place), 'the same bytes each time');
  const skopeo = (...args: string[]): string => execFileSync('skopeo', args, { encoding: 'utf8' });
  const source = `oci-archive:${join(place, 'larder.oci.tar')}:1.2.0`;
  for (const architecture of ['amd64', 'arm64']) {
    const config = JSON.parse(skopeo(`--override-arch=${architecture}`, 'inspect', '--config', source)) as object;
    t.match(config, { architecture, config: { User: '65532:65532', Entrypoint: ['/usr/bin/larder'] } });
  }
  skopeo('--insecure-policy', 'copy', '--all', '--quiet', source, `dir:${join(place, 'copied')}`);
  skopeo('--insecure-policy', 'copy', '--all', '--quiet', source, `oci:${join(place, 'layout')}:1.2.0`);
  t.match(JSON.parse(readFileSync(join(place, 'copied/manifest.json'), 'utf8')), { manifests: [{}, {}] });
  t.end();
});

t.test(
  'skopeo carries the image into a registry, with the same digests and bytes for both architectures',
  { skip: withoutPrograms('skopeo', 'docker-registry') },
  async (t) => {
    const place = folder(t);
    stored(place);
    const registry = await startRegistry(t, place);
    const source = `oci-archive:${join(place, 'larder.oci.tar')}:1.2.0`;
    const target = `${registry.host}/larder:1.2.0`;
    const skopeo = (...args: string[]): string =>
      execFileSync('skopeo', ['--insecure-policy', ...args], { encoding: 'utf8' });
    skopeo('copy', '--all', '--preserve-digests', '--quiet', '--dest-tls-verify=false', source, `docker://${target}`);
    skopeo('copy', '--all', '--preserve-digests', '--quiet', source, `oci:${join(place, 'layout')}:1.2.0`);
    const { manifests } = JSON.parse(readFileSync(join(place, 'layout/index.json'), 'utf8')) as ImageIndex;
    const seen = new Set<string>();
    const check = async (kind: 'manifests' | 'blobs', digest: string): Promise<Buffer> => {
      const bytes = readFileSync(join(place, 'layout/blobs', digest.replace(':', '/')));
      t.ok((await registry.fetch(`larder/${kind}/${digest}`)).equals(bytes), `${kind} ${digest}`);
      seen.add(digest);
      return bytes;
    };
    const index = await check('manifests', manifests[0]!.digest);
    t.ok((await registry.fetch('larder/manifests/1.2.0')).equals(index), 'the tag names the index');
    const images = (JSON.parse(index.toString()) as ImageIndex).manifests;
    t.strictSame(
      images.map(({ platform }) => platform?.architecture),
      ['amd64', 'arm64'],
    );
    for (const { digest, platform } of images) {
      const { config, layers } = JSON.parse((await check('manifests', digest)).toString()) as ImageManifest;
      for (const layer of layers) await check('blobs', layer.digest);
      const { architecture, config: run } = JSON.parse((await check('blobs', config.digest)).toString()) as {
        architecture: string;
        config: { User: string };
      };
      t.strictSame([architecture, run.User], [platform?.architecture, '65532:65532'], 'its processes are not of root');
    }
    t.ok(seen.size >= 7, `${String(seen.size)} objects`);
  },
);

interface ImageIndex {
  manifests: { digest: string; platform?: { architecture: string } }[];
}

interface ImageManifest {
  config: { digest: string };
  layers: { digest: string }[];
}

/** Serves an empty docker-registry with its files below `place`. */
async function startRegistry(t: { teardown(work: () => unknown): void }, place: string) {
  const host = `127.0.0.1:${String(await freePort())}`;
  const config = {
    version: '0.1',
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(place, 'registry') } },
    http: { addr: host },
  };
  writeFileSync(join(place, 'registry.yml'), JSON.stringify(config));
  const child = spawn('docker-registry', ['serve', join(place, 'registry.yml')], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  t.teardown(() => {
    child.kill();
    return ended;
  });
  await until(
    () =>
      fetch(`http://${host}/v2/`).then(
        ({ ok }) => ok,
        () => false,
      ),
    ended,
  );
  const accept = 'application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json';
  return {
    host,
    fetch: async (path: string): Promise<Buffer> => {
      const response = await fetch(`http://${host}/v2/${path}`, { headers: { accept } });
      if (!response.ok) throw new Error(`${path}: ${String(response.status)}`);
      return Buffer.from(await response.arrayBuffer());
    },
  };
}

/** Writes an image with stand-ins for the programs, and returns its digest. */
function stored(place: string): string {
  const program = join(place, 'program');
  writeFileSync(program, 'a program');
  const platforms = (['amd64', 'arm64'] as const).map((architecture) => ({
    architecture,
    libraries: { 'lib/libc.so.6': program },
    program: { 'usr/bin/larder': program },
  }));
  const image = ociImage({ version: '1.2.0', commit: undefined, at: new Date('2026-03-01T00:00:00Z'), platforms });
  writeFileSync(join(place, 'larder.oci.tar'), image);
  return createHash('sha256').update(image).digest('hex');
}
