// A site with an existing registry of images: docker-registry of Debian stores the images, and this store decides on
// access to it. The tool of the stock client copies in and out.
import { execFile, spawn } from 'node:child_process';
import { sign, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import t from 'tap';

import { hours, minutes } from '#domain/clock.ts';
import { makeSigningCertificate } from '#tls/certificates.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { writeLayout } from '#test/fixtures/packages/image-layout.ts';
import { declare, fetchToken, repositoryOf, uploadLogin, type Login } from '#test/fixtures/packages/images.ts';
import { larder } from '#test/cli/world.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';

const skip = withoutPrograms('skopeo', 'docker-registry');
const run = promisify(execFile);

interface Site {
  store: TestAppliance;
  folder: string;
  host: string;
  copyIn(login: Login, layout: string, image?: string): Promise<unknown>;
  copyOut(image: string, credentials: string, to: string): Promise<string | undefined>;
}

/**
 * A store with its images in another registry, and that registry, configured with the output of the command of the
 * store.
 */
async function site(
  t: Parameters<typeof startStore>[0],
  configuration: [from: string, to: string] = ['', ''],
): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'larder-external-'));
  const host = `127.0.0.1:${String(await freePort())}`;
  const store = await startStore(
    t,
    (text) => text.replace(/^# external = .*$/m, `external = "${host}"`).replace(...configuration),
    new Date(),
  );
  const settings = JSON.parse((await larder(`registry settings --data ${store.directory} --json`)).out) as {
    auth: { token: Record<string, string> };
    notifications?: { endpoints: { url: string }[] };
  };
  const { certificate } = JSON.parse((await larder(`registry certificate --data ${store.directory} --json`)).out) as {
    certificate: string;
  };
  writeFileSync(join(folder, 'larder.pem'), certificate);
  settings.auth.token['rootcertbundle'] = join(folder, 'larder.pem');
  const localize = (address = ''): string => address.replace('http://127.0.0.1:8080', store.url);
  settings.auth.token['realm'] = localize(settings.auth.token['realm']);
  for (const endpoint of settings.notifications?.endpoints ?? []) endpoint.url = localize(endpoint.url);
  const config = {
    version: '0.1',
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') } },
    http: { addr: host },
    ...settings,
  };
  writeFileSync(join(folder, 'config.yml'), JSON.stringify(config));
  const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  while ((await fetch(`http://${host}/v2/`).catch(() => undefined)) === undefined) await sleep(50);

  return {
    store,
    folder,
    host,
    copyIn: (login, layout, image = login.image) =>
      run('skopeo', [
        ...['--insecure-policy', 'copy', '--all', '--preserve-digests', '--dest-tls-verify=false'],
        ...['--dest-creds', `${login.username}:${login.password}`, `oci:${layout}:v1`, `docker://${image}`],
      ]),
    async copyOut(image, credentials, to) {
      await run('skopeo', [
        ...['--insecure-policy', 'copy', '--all', '--preserve-digests', '--src-tls-verify=false'],
        ...['--src-creds', credentials, `docker://${image}`, `oci:${join(folder, to)}:v1`],
      ]);
      const index = JSON.parse(readFileSync(join(folder, to, 'index.json'), 'utf8')) as {
        manifests: { digest: string }[];
      };
      return index.manifests[0]?.digest;
    },
  };
}

t.test(
  'an image is pushed to and pulled from the registry of the site with credentials of this store',
  { skip },
  async (t) => {
    const { store, folder, host, copyIn, copyOut } = await site(t);
    const id = await declare(store, 'ada', 'hello');
    const ada = await store.as('ada');
    const login = await uploadLogin(ada, 'hello');
    t.equal(login.image, `${host}/images/${id.toLowerCase()}/image`);

    const digest = writeLayout(join(folder, 'in'));
    await copyIn(login, join(folder, 'in'));
    const address = '/v1/charm/hello/resources/image';
    const { status, body: blob } = await ada.post(`${address}/oci-image/blob`, { 'image-digest': digest });
    t.equal(status, 200);
    t.equal(blob.ImageName, `${login.image}@${digest}`);
    t.same((await ada.post(`${address}/oci-image/blob`, { 'image-digest': digest })).body, blob, 'always the same');

    const upload = await ada.upload(JSON.stringify(blob));
    const pushed = await ada.post(`${address}/revisions`, { 'upload-id': upload, type: 'oci-image' });
    await store.appliance.reviewed();
    t.match(await ada.get(pushed.body['status-url']), { body: { revisions: [{ status: 'approved', revision: 1 }] } });
    await ada.post('/v1/charm/hello/releases', [
      { channel: 'latest/stable', revision: 1, resources: [{ name: 'image', revision: 1 }] },
    ]);

    const reader = `${String(blob.Username)}:${String(blob.Password)}`;
    t.equal(await copyOut(blob.ImageName, reader, 'out'), digest);
    await t.rejects(
      copyIn(
        { ...login, username: blob.Username, password: blob.Password },
        join(folder, 'in'),
        `${login.image}:other`,
      ),
      'and only pull',
    );
    const audit = await store.beside.records.audit.list(0, 1000);
    t.match(
      audit.find(({ action }) => action === 'push_external_image'),
      { actor: store.ids.ada, object: 'charm/hello' },
      'who pushed is in the audit log',
    );
  },
);

t.test('the registry refuses other repositories, and clients without credentials for it', { skip }, async (t) => {
  const { store, folder, host, copyIn } = await site(t);
  await declare(store, 'ada', 'hello');
  const other = await declare(store, 'bob', 'other');
  const ada = await store.as('ada');
  const login = await uploadLogin(ada, 'hello');
  const layout = join(folder, 'in');
  const digest = writeLayout(layout);
  await copyIn(login, layout);
  await t.rejects(copyIn(login, layout, `${host}/images/${other.toLowerCase()}/image`), "another's repository");
  await t.rejects(copyIn(login, layout, `${host}/library/debian`), 'a repository of nobody');
  await t.rejects(copyIn({ ...login, password: 'wrong' }, layout), 'a wrong password');
  t.match(
    await ada.post('/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': digest.replace(/.$/, 'z') }),
    { status: 404 },
    'no digest',
  );
  t.match(
    await (await store.as('bob')).post('/v1/charm/other/resources/image/oci-image/blob', { 'image-digest': digest }),
    { status: 404 },
    'an image of another repository is not there, however long the store waits for word of it',
  );
  store.clock.advance(hours(6));
  t.equal((await fetchToken(store, login)).status, 401);
  await t.rejects(copyIn(login, layout), 'credentials that have ended');
});

t.test('an expired token, and a token with a foreign signature, are refused by the registry', { skip }, async (t) => {
  const { store, host } = await site(t);
  await declare(store, 'ada', 'hello');
  const login = await uploadLogin(await store.as('ada'), 'hello');
  const repository = repositoryOf(login);
  const ask = async (token: string): Promise<number> =>
    (await fetch(`http://${host}/v2/${repository}/tags/list`, { headers: { authorization: `Bearer ${token}` } }))
      .status;
  const scope = `repository:${repository}:pull,push`;
  const fetched = JSON.parse(await tokenText(store, login, host, scope)) as { token: string; expires_in: number };
  t.equal(fetched.expires_in, 300);
  t.equal(await ask(fetched.token), 404, 'a good token reaches the repository, which is empty');

  const [header = '', claims = ''] = fetched.token.split('.');
  const now = Math.floor(Date.now() / 1000);
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const resign = async (changed: object, key?: string, head = header): Promise<string> => {
    const text = `${head}.${encoded({ ...(JSON.parse(Buffer.from(claims, 'base64url').toString()) as object), ...changed })}`;
    return `${text}.${sign('sha256', Buffer.from(text), key ?? (await keyOf(store))).toString('base64url')}`;
  };
  const mallory = await makeSigningCertificate('mallory', new Date());
  const x5c = [new X509Certificate(mallory.certificate).raw.toString('base64')];
  t.equal(await ask(await resign({})), 404, 'so it is signed');
  t.equal(await ask(await resign({ exp: now - 120, iat: now - 600, nbf: now - 600 })), 401, 'it has ended');
  t.equal(await ask(await resign({ aud: 'registry.elsewhere:5000' })), 401, 'it is for another registry');
  t.equal(await ask(await resign({ iss: 'http://elsewhere' })), 401, 'another store made it');
  t.equal(await ask(await resign({}, mallory.key)), 401, 'another key signed it');
  t.equal(
    await ask(await resign({}, mallory.key, encoded({ typ: 'JWT', alg: 'RS256', x5c }))),
    401,
    'and brought its own certificate',
  );
  t.equal(
    await ask(JSON.parse(await tokenText(store, login, 'elsewhere', scope)).token as string),
    401,
    'one for here',
  );
});

const tokenText = async (store: TestAppliance, login: Login, service: string, scope: string): Promise<string> =>
  (
    await fetch(`${store.url}/registry/token?${new URLSearchParams({ service, scope }).toString()}`, {
      headers: { authorization: `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}` },
    })
  ).text();

/** The store's own key, as its records keep it. */
async function keyOf({ beside: writableStore }: TestAppliance): Promise<string> {
  const { unseal } = await import('#macaroons/sealing.ts');
  const sealed = (await writableStore.records.appliance.find('registry-signing-key')) ?? '';
  const unsealed = unseal(writableStore.siteKey, sealed, 'key of the tokens for the registry of images').toString();
  return (JSON.parse(unsealed) as { key: string }).key;
}

t.test('credentials outlast a long upload that this store does not see', { skip }, async (t) => {
  const { store } = await site(t);
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const [used, unused] = [await uploadLogin(ada, 'hello'), await uploadLogin(ada, 'hello')];
  t.equal((await fetchToken(store, used)).status, 200);
  store.clock.advance(hours(6) - minutes(1));
  t.equal((await fetchToken(store, used)).status, 200);
  t.equal((await fetchToken(store, unused)).status, 401, 'what was not used within ten minutes has ended');
  store.clock.advance(minutes(1));
  t.equal((await fetchToken(store, used)).status, 401);
});

t.test('without an event of the registry, the store believes the publisher', { skip }, async (t) => {
  const { store, folder, copyIn, copyOut } = await site(t, ['# notifications = true', 'notifications = false']);
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const login = await uploadLogin(ada, 'hello');
  const digest = writeLayout(join(folder, 'in'));
  await copyIn(login, join(folder, 'in'));
  const { body } = await ada.post('/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': digest });
  t.equal(await copyOut(body.ImageName, `${String(body.Username)}:${String(body.Password)}`, 'out'), digest);
});
