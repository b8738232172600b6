// The registry and the tools that build, run and inspect images: one tool pulls the pushes of another, until they are
// deleted.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t, { type Test } from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { reachable } from '#test/fixtures/free-port.ts';
import { declare, logIn, uploadLogin } from '#test/fixtures/packages/images.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';

const skip =
  withoutPrograms('buildah', 'podman', 'skopeo', 'umoci') || (!mayBuild() && 'this machine lets us build no image');

/** A user other than root needs subordinate ids for the files in images, which not every machine provides. */
function mayBuild(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'larder-tools-'));
  try {
    const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
    const env = { ...process.env, HOME: folder, XDG_RUNTIME_DIR: folder };
    return spawnSync('buildah', [...storage, 'from', 'scratch'], { stdio: 'ignore', env }).status === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs one of the tools; its own files are in a folder of this test. */
function toolbox(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'larder-tools-'));
  // Unpacked images may have folders that their owner cannot write.
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  const run = async (tool: string, ...args: string[]): Promise<string> => {
    const all = tool === 'buildah' || tool === 'podman' ? [...storage, ...args] : args;
    const env = { ...process.env, TMPDIR: folder, XDG_RUNTIME_DIR: folder, HOME: folder };
    return (await promisify(execFile)(tool, all, { env, cwd: folder })).stdout.trim();
  };
  return { folder, run };
}

t.test('buildah pushes, podman pulls and pushes again, umoci unpacks, skopeo deletes', { skip }, async (t) => {
  const store = await startStore(t, await reachable());
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const { folder, run } = toolbox(t);
  const login = await uploadLogin(ada, 'hello');
  const credentials = `${login.username}:${login.password}`;
  const image = login.image;

  writeFileSync(join(folder, 'greeting'), 'hello\n');
  const container = await run('buildah', 'from', 'scratch');
  await run('buildah', 'copy', container, join(folder, 'greeting'), '/greeting');
  await run('buildah', 'commit', '--quiet', '--rm', container, 'greeter:1');
  await run('buildah', 'push', '--tls-verify=false', '--creds', credentials, 'greeter:1', `docker://${image}:built`);
  const client = await logIn(store, login);
  const digest = (await client.call('HEAD', 'manifests/built')).headers.get('docker-content-digest') ?? '';
  t.match(digest, /^sha256:/);

  const { status, body } = await ada.post('/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': digest });
  t.equal(status, 200);
  const deployed = body.ImageName as string;
  await run('podman', 'rmi', '--all', '--force');
  await run(
    'podman',
    'pull',
    '--quiet',
    '--tls-verify=false',
    '--creds',
    `${body.Username}:${body.Password}`,
    deployed,
  );
  t.match(await run('podman', 'images', '--digests', '--format', '{{.Digest}}'), digest);
  await run('podman', 'push', '--tls-verify=false', '--creds', credentials, deployed, `docker://${image}:again`);

  await run(
    'skopeo',
    'copy',
    '--src-tls-verify=false',
    '--src-creds',
    credentials,
    `docker://${image}:again`,
    'oci:layout:v1',
  );
  await run('umoci', 'unpack', '--rootless', '--image', 'layout:v1', 'bundle');
  t.equal(readFileSync(join(folder, 'bundle/rootfs/greeting'), 'utf8'), 'hello\n');
  t.ok(existsSync(join(folder, 'bundle/config.json')));

  await run('skopeo', 'delete', '--tls-verify=false', '--creds', credentials, `docker://${image}:built`);
  t.match(await client.call('GET', 'manifests/built'), { status: 404, code: 'MANIFEST_UNKNOWN' });
  await t.rejects(
    run('skopeo', 'delete', '--tls-verify=false', '--creds', credentials, `docker://${image}:built`),
    /manifest unknown|Image may not exist/i,
  );
});

t.test('skopeo shows why an image of a resource is not deleted', { skip }, async (t) => {
  const store = await startStore(t, await reachable());
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const { folder, run } = toolbox(t);
  const login = await uploadLogin(ada, 'hello');
  const credentials = `${login.username}:${login.password}`;
  const image = login.image;
  writeFileSync(join(folder, 'greeting'), 'hello\n');
  const container = await run('buildah', 'from', 'scratch');
  await run('buildah', 'copy', container, join(folder, 'greeting'), '/greeting');
  await run('buildah', 'commit', '--quiet', '--rm', container, 'greeter:1');
  await run('buildah', 'push', '--tls-verify=false', '--creds', credentials, 'greeter:1', `docker://${image}:1`);
  const digest = (await (await logIn(store, login)).call('HEAD', 'manifests/1')).headers.get('docker-content-digest');
  const { body } = await ada.post('/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': digest });
  const upload = await ada.upload(JSON.stringify(body));
  await ada.post('/v1/charm/hello/resources/image/revisions', { 'upload-id': upload, type: 'oci-image' });
  await store.appliance.reviewed();
  await t.rejects(
    run('skopeo', 'delete', '--tls-verify=false', '--creds', credentials, `docker://${image}:1`),
    /A revision of the resource names this image/,
  );
});
