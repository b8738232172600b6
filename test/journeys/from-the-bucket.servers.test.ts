// Downloads without a host: the store decides on access, and the bucket serves the file, for five minutes.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t, { type Test } from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { reachable } from '#test/fixtures/free-port.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { writeLayout } from '#test/fixtures/packages/image-layout.ts';
import { declare, digestOf, logIn, uploadLogin } from '#test/fixtures/packages/images.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { sharedSwift } from '#test/fixtures/servers/swift.ts';

const root = t;
const sha3 = (content: Uint8Array): string => createHash('sha3-384').update(content).digest('hex');
const ask = (address: string | URL, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(address, { method, headers, redirect: 'manual' });
const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer());

/** A store with a bucket that clients know by another name. */
async function storeOfAda(t: Test) {
  const server = await sharedSwift(root);
  const folder = t.testdir();
  const credentials = join(folder, 'credentials');
  writeFileSync(credentials, 'access_key_id = "larder:ada"\nsecret_access_key = "secret-of-ada"\n');
  const place = `http://localhost:${String(server.port)}/${server.bucket}/${server.newPlace().prefix}`;
  const lines = ['[blobs]', `s3 = "${place}"`, `credentials_file = "${credentials}"`];
  const configured = await reachable((text) =>
    servingSnaps(text)
      .replace('# scrub_rate = "20 MiB"', 'scrub_rate = 0')
      .replace('[blobs]', lines.join('\n'))
      .replace(/^(?:# )?redirect_downloads = false$/m, 'redirect_downloads = true'),
  );
  const store = await startStore(t, configured);
  const ada = await store.as('ada');
  await declare(store, 'ada', 'hello');
  const login = await uploadLogin(ada, 'hello');
  return { server, folder, place, store, ada, login, client: await logIn(store, login) };
}

t.test('a blob of an image comes from the bucket, for clients with access to it', async (t) => {
  const { server, place, store, client, login } = await storeOfAda(t);
  const content = randomBytes(600_000);
  t.match(await client.blob(content), { status: 201 });
  const path = `${store.url}/v2/${client.repository}/blobs/${digestOf(content)}`;
  const authorization = `Bearer ${client.token}`;
  const sent = await ask(path, { authorization, range: 'bytes=5-9' });
  t.match(
    ['docker-content-digest', 'cache-control'].map((name) => sent.headers.get(name)),
    [digestOf(content), 'no-store'],
  );
  t.equal(sent.status, 307);
  const address = new URL(sent.headers.get('location')!);
  t.equal(`${address.origin}${address.pathname}`, `${place}sha3/${sha3(content).slice(0, 2)}/${sha3(content)}`);
  t.equal(address.searchParams.get('X-Amz-Expires'), '300', 'for five minutes');
  t.equal((await ask(path)).status, 401, 'who may have it is said by the store');

  t.same(await bytesOf(await ask(address)), content);
  const part = await ask(address, { range: 'bytes=5-9' });
  t.equal(part.status, 206);
  t.same(await bytesOf(part), content.subarray(5, 10));
  t.equal((await ask(address, {}, 'DELETE')).status, 403, 'the address is good for reading alone');
  const other = new URL(address);
  other.pathname = other.pathname.replace(/sha3.*/, 'larder-store.json');
  t.equal((await ask(other)).status, 403, 'and for this alone');

  t.match(await client.call('HEAD', `blobs/${digestOf(content)}`), { status: 200 });
  t.equal((await ask(path, { authorization, range: 'bytes=600000-' })).status, 416);
  const gone = randomBytes(100);
  t.match(await client.blob(gone), { status: 201 });
  server.lose(gone);
  t.equal(
    (await ask(path.replace(/sha256.*/, digestOf(gone)), { authorization })).status,
    500,
    'nobody is sent to nothing',
  );
  t.notMatch(store.log.join(''), /X-Amz-Signature/, 'and no log has the address');

  changeConfig(join(store.directory, 'larder.toml'), { 'http.base_url': 'http://localhost:8080' });
  await store.restart();
  const again = await logIn(store, login);
  const streamed = await ask(path.replace(/^.*\/v2/, `${store.url}/v2`), { authorization: `Bearer ${again.token}` });
  t.equal(
    streamed.status,
    200,
    'clients would take their tokens to a server of the same name, so it goes through the store',
  );
  t.same(await bytesOf(streamed), content);
});

const skip = withoutPrograms('skopeo');

t.test('skopeo goes there, and no byte of a layer passes the store', { skip }, async (t) => {
  const { folder, store, login } = await storeOfAda(t);
  const run = promisify(execFile);
  const digest = writeLayout(join(folder, 'in'));
  const imageAddress = `docker://${login.image}`;
  const copy = ['--insecure-policy', 'copy', '--all', '--preserve-digests'];
  const credentials = `${login.username}:${login.password}`;
  await run('skopeo', [
    ...copy,
    '--dest-tls-verify=false',
    '--dest-creds',
    credentials,
    `oci:${join(folder, 'in')}:v1`,
    imageAddress,
  ]);
  const read = async (): Promise<number> => {
    const { body } = await store.anyone.get('/metrics');
    return Number(/^larder_s3_bytes_total\{direction="received"\} (\d+)$/m.exec(body as string)?.[1]);
  };
  const before = await read();
  await run('skopeo', [
    ...copy,
    '--src-tls-verify=false',
    '--src-creds',
    credentials,
    imageAddress,
    `oci:${join(folder, 'out')}:v1`,
  ]);
  const [sent, got] = ['in', 'out'].map((way) =>
    readFileSync(join(folder, way, 'blobs/sha256', digest.slice(7)), 'utf8'),
  );
  t.equal(got, sent);
  const manifests = 20_000;
  t.ok((await read()) - before < manifests);
});

t.test('so does the file of a snap, unless the device shows anything', async (t) => {
  const { store, ada } = await storeOfAda(t);
  const { id } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body;
  const content = await snapFixture('app-xz');
  await ada.push('snap', 'tiny-app', content);
  const path = `${store.url}/api/v1/snaps/download/${id as string}_1.snap`;
  t.equal((await ask(path)).status, 404, 'before it is released');
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: 1 }]);
  const sent = await ask(path);
  t.equal(sent.status, 302);
  t.equal(sent.headers.get('etag'), `"${sha3(content)}"`);
  t.same(await bytesOf(await fetch(path)), content);
  const rest = await fetch(path, { headers: { range: 'bytes=1000-' } });
  t.equal(rest.status, 206, 'a client that follows goes on where it was');
  t.same(await bytesOf(rest), content.subarray(1000));
  t.equal((await ask(path, { 'if-none-match': `"${sha3(content)}"` })).status, 304);
  t.equal((await ask(path, {}, 'HEAD')).status, 200);
  const token = { authorization: `Macaroon ${ada.token}` };
  t.equal((await ask(path, token)).status, 200, 'a token goes nowhere else');
  t.equal((await ask(path, { 'snap-device-authorization': 'Macaroon root="x"' })).status, 401);
});
