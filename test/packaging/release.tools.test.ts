// The signature of a release is one of ssh-keygen, and skopeo reads the image of larder.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { releaseFingerprint, sshLineOf } from '#transfers/larder-release/manifest.ts';
import { folder } from '#test/cli/process.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
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
