// Copies by skopeo, and an export of images, are gathered.
import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

import t from 'tap';

import { folder } from '#test/cli/process.ts';
import { tar } from '#test/fixtures/packages/archives.ts';
import { fetchedCharm, secret, snapInfo, writeCharm } from '#test/fixtures/packages/fetched.ts';
import { writeLayout } from '#test/fixtures/packages/image-layout.ts';
import { download, offered } from '#test/fixtures/packages/online-store.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { collector, believing } from './gather-world.ts';

const skip = withoutPrograms('skopeo');
const run = promisify(execFile);

/** An image for two architectures, copied by skopeo from a layout to another place; its digest. */
async function copyImage(scratch: string, target: string, content?: string): Promise<string> {
  mkdirSync(scratch, { recursive: true });
  const digest = writeLayout(scratch, content);
  const policy = join(scratch, 'policy.json');
  writeFileSync(policy, '{"default":[{"type":"insecureAcceptAnything"}]}');
  await run('skopeo', ['--policy', policy, 'copy', '--all', '--preserve-digests', `oci:${scratch}:v1`, target]);
  return digest;
}

t.test('a site receives the snaps, charms, files and images of a folder, and no credential', { skip }, async (t) => {
  const [fetched, stick, scratch] = [folder(t), folder(t), folder(t)];
  const hello = offered('hello-on', 12);
  await download(fetched, hello);
  writeFileSync(join(fetched, 'hello.info'), JSON.stringify(snapInfo(hello, 'candidate')));
  await download(fetched, offered('other-on', 3));
  mkdirSync(join(fetched, 'images'));
  const layout = await copyImage(join(scratch, 'one'), `oci:${join(fetched, 'images/one')}:v1`);
  const plain = await copyImage(join(scratch, 'two'), `dir:${join(fetched, 'images/two')}`, 'another ');
  writeCharm(fetched, fetchedCharm('wordpress', 34, layout));
  writeCharm(fetched, fetchedCharm('postgresql', 5, plain), '14/stable');
  const desk = await collector(t);
  const file = join(stick, 'in.tar');
  const made = await desk.done(`transfer gather ${fetched} ${file} --release stable`);
  t.same(made['left-out'], []);
  t.match(made, { sequence: 1, packages: 4, revisions: 4, fingerprint: desk.fingerprint });
  t.notOk(readFileSync(file).includes(secret), 'no credential that lay there has left');
  t.notOk(readFileSync(file).includes('url-secret'));

  const receiver = await believing(t, desk, stick);
  t.match(await receiver.done(`transfer receive ${file}`), { lacking: [] });
  const seen = await receiver.done(`transfer preview ${made.id}`);
  t.same(seen.problems, []);
  t.match(
    seen.lines.filter(({ kind }: { kind: string }) => kind === 'revision' || kind === 'release' || kind === 'image'),
    [
      { package: 'charm/postgresql', kind: 'revision', what: 'revision 5', to: '1', word: 'source' },
      { package: 'charm/postgresql', kind: 'image', what: 'image', to: '3 manifests, 5 blobs' },
      { package: 'charm/postgresql', kind: 'release', what: '14/stable (ubuntu/22.04/amd64)', to: '5' },
      { package: 'charm/wordpress', kind: 'revision', what: 'revision 34' },
      { package: 'charm/wordpress', kind: 'image', to: '3 manifests, 5 blobs' },
      { package: 'charm/wordpress', kind: 'release', what: 'latest/stable (ubuntu/22.04/amd64)', to: '34' },
      { package: 'snap/hello-on', kind: 'revision', what: 'revision 12', word: 'upstream' },
      { package: 'snap/hello-on', kind: 'release', what: 'latest/candidate (amd64)', to: '12' },
      { package: 'snap/other-on', kind: 'revision', what: 'revision 3', word: 'upstream' },
      { package: 'snap/other-on', kind: 'release', what: 'latest/stable (amd64)', to: '3' },
    ],
  );
  await receiver.done(`transfer accept ${made.id} --yes`);
  t.match(await receiver.json('package show charm/wordpress'), { name: 'wordpress' });
});

t.test('an unknown file is listed with the reason, and nothing is guessed', { skip }, async (t) => {
  const [fetched, stick, scratch] = [folder(t), folder(t), folder(t)];
  const hello = offered('hello-on', 12);
  const { assert, snap } = await download(fetched, hello);
  writeFileSync(join(fetched, 'alone.snap'), Buffer.concat([readFileSync(snap), Buffer.alloc(8)]));
  symlinkSync(assert, join(fetched, 'link.assert'));
  mkdirSync(join(fetched, 'image'));
  const digest = await copyImage(join(scratch, 'one'), `oci:${join(fetched, 'image/one')}:v1`);
  await copyImage(join(scratch, 'two'), `docker-archive:${join(fetched, 'docker.tar')}:name:v1`).catch(() => undefined);
  const unknown = fetchedCharm('unknown', 1, digest);
  writeFileSync(join(fetched, 'unknown.charm'), unknown.file);
  const lacking = fetchedCharm('lacking', 2, `sha256:${'0'.repeat(64)}`);
  writeCharm(fetched, lacking);
  writeFileSync(join(fetched, 'login.json'), JSON.stringify({ auths: { host: { auth: secret } } }));
  writeFileSync(join(fetched, 'notes.txt'), 'do not forget');
  writeFileSync(join(fetched, 'cut.assert'), 'type: account\nauthority-id: nobody\n');
  const twofold = tar(['a', 'a/b'].map((name) => ({ name, content: 'x' })));
  writeFileSync(join(fetched, 'twofold.tar'), twofold);
  writeFileSync(join(fetched, 'layers.tar.gz'), gzipSync(tar([{ name: 'etc/passwd', content: 'root' }])));
  const desk = await collector(t);
  const made = await desk.done(`transfer gather ${fetched} ${join(stick, 'in.tar')}`);
  const reasons = Object.fromEntries(
    made['left-out'].map((left: { what: string; why: string }) => [left.what, left.why]),
  );
  t.match(reasons, {
    'alone.snap': /No assertion in the folder describes this file/,
    'link.assert': /symbolic link/,
    'unknown.charm': /No response in the folder says which revision of charm\/unknown it is/,
    'lacking/d-image': /The image sha256:0{64} is not in the folder/,
    'charm/lacking latest/stable': /Its resource image, revision 7, is not in the folder/,
    'login.json': /Its format is not known/,
    'notes.txt': /Its format is not known/,
    'image/one': /No resource of a charm in the folder names the image/,
    'layers.tar.gz': /an archive of 1 file, and none can be part of a transfer/,
    'twofold.tar': /names that cannot be in one folder/,
  });
  t.ok(reasons['cut.assert']);
  t.notOk(readFileSync(join(stick, 'in.tar')).includes(secret));
});
