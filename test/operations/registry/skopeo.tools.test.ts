// The registry and the tool of the stock client: images that it copies in and out are unchanged.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { reachable } from '#test/fixtures/free-port.ts';
import { writeLayout } from '#test/fixtures/packages/image-layout.ts';
import { declare, digestOf, mediaTypes, uploadLogin } from '#test/fixtures/packages/images.ts';
import { contentFiles } from '#test/fixtures/contents.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';

const skip = withoutPrograms('skopeo');
const run = promisify(execFile);

t.test('an image for several architectures is pushed and pulled with its digests', { skip }, async (t) => {
  const store = await startStore(t, await reachable());
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const folder = mkdtempSync(join(tmpdir(), 'larder-skopeo-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const digest = writeLayout(join(folder, 'in'));
  const addressOf = (image: string): string => `docker://${image}`;

  const login = await uploadLogin(ada, 'hello');
  const push = (credentials: string): Promise<unknown> =>
    run('skopeo', [
      ...['--insecure-policy', 'copy', '--all', '--preserve-digests', '--dest-tls-verify=false'],
      ...['--dest-creds', credentials, `oci:${join(folder, 'in')}:v1`, addressOf(login.image)],
    ]);
  await push(`${login.username}:${login.password}`);
  const files = contentFiles(store.directory);
  t.equal(files.length, 8, 'two configs, three layers, two manifests and the index: the shared layer once');
  await push(`${login.username}:${login.password}`);
  t.same(contentFiles(store.directory), files, 'the second time there is nothing to send');
  await t.rejects(push(`${login.username}:wrong`), 'a wrong password is refused');

  const { status, body } = await ada.post('/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': digest });
  t.equal(status, 200);
  const pull = (to: string, credentials: string): Promise<unknown> =>
    run('skopeo', [
      ...['--insecure-policy', 'copy', '--all', '--preserve-digests', '--src-tls-verify=false'],
      ...['--src-creds', credentials, addressOf(body.ImageName), `oci:${join(folder, to)}:v1`],
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
    ...[
      'inspect',
      '--raw',
      '--tls-verify=false',
      '--creds',
      `${body.Username}:${body.Password}`,
      addressOf(body.ImageName),
    ],
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
      ...[`oci:${join(folder, 'in')}:v1`, `${addressOf(login.image)}:other`],
    ]),
    'who may only pull cannot push',
  );
});

t.test('an image goes in after the older format as well', { skip }, async (t) => {
  const store = await startStore(t, await reachable());
  await declare(store, 'ada', 'hello');
  const folder = mkdtempSync(join(tmpdir(), 'larder-skopeo-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeLayout(join(folder, 'in'));
  const login = await uploadLogin(await store.as('ada'), 'hello');
  const image = `docker://${login.image}:old`;
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
