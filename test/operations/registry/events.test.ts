import t from 'tap';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import {
  declare,
  digestOf,
  fetchToken,
  logIn,
  mediaTypes,
  pushImage,
  repositoryOf,
  uploadLogin,
} from '#test/fixtures/packages/images.ts';
import { larder } from '#test/cli/world.ts';
import { footprint } from '#test/fixtures/footprint.ts';

const host = 'registry.example:5000';
const external = (text: string): string => text.replace(/^# external = .*$/m, `external = "${host}"`);

interface Settings {
  auth: { token: Record<string, string> };
  notifications: { endpoints: [{ url: string; headers: { Authorization: [string] } }] };
}

async function settingsOf(store: TestAppliance): Promise<Settings> {
  return JSON.parse((await larder(`registry settings --data ${store.directory} --json`)).out) as Settings;
}

async function tell(store: TestAppliance, authorization: string, content: unknown): Promise<Response> {
  return fetch(`${store.url}/registry/events`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/vnd.docker.distribution.events.v1+json' },
    body: typeof content === 'string' ? content : JSON.stringify(content),
  });
}

t.test('the registry reports a push, and the image exists; other events are accepted too', async (t) => {
  const store = await startStore(t, external);
  await declare(store, 'ada', 'hello');
  await declare(store, 'bob', 'other');
  const ada = await store.as('ada');
  const login = await uploadLogin(ada, 'hello');
  const bobs = await uploadLogin(await store.as('bob'), 'other');
  const { notifications } = await settingsOf(store);
  const [{ url, headers }] = notifications.endpoints;
  t.equal(url, 'http://127.0.0.1:8080/registry/events');
  const [secret] = headers.Authorization;

  const digest = digestOf('manifest');
  const push = {
    action: 'push',
    target: { mediaType: mediaTypes.manifest, digest, size: 8, repository: repositoryOf(login), tag: 'latest' },
    actor: { name: login.username },
    source: { addr: host },
  };
  const blob = (name: string, who = ada) =>
    who.post(`/v1/charm/${name}/resources/image/oci-image/blob`, { 'image-digest': digest });
  const ignored = [
    { action: 'pull' },
    { ...push, action: 'pull' },
    { ...push, actor: {} },
    { ...push, actor: { name: 'nobody' } },
    { ...push, actor: { name: bobs.username } },
    { ...push, target: { ...push.target, repository: repositoryOf(bobs) } },
    { ...push, target: { ...push.target, digest: 'sha256:x' } },
    { ...push, target: { ...push.target, mediaType: 'application/octet-stream' } },
  ];
  const before = footprint(store.directory);
  t.equal((await tell(store, secret, { events: ignored })).status, 200);
  t.same(footprint(store.directory), before);

  const waiting = blob('hello');
  t.equal((await tell(store, secret, { events: [push, push] })).status, 200);
  t.match(await waiting, { status: 200, body: { ImageName: `${login.image}@${digest}` } }, 'whoever waits is woken');
  t.equal((await tell(store, secret, { events: [push] })).status, 200, 'told again');
  t.match(await blob('hello'), { status: 200 });
  t.match(await blob('other', await store.as('bob')), { status: 404 });
  await store.restart();
  t.match(await blob('hello'), { status: 200 });
});

t.test('no other client may report events', async (t) => {
  const store = await startStore(t, external);
  const { notifications } = await settingsOf(store);
  const [secret] = notifications.endpoints[0].headers.Authorization;
  const { token } = await store.as('root');
  const before = footprint(store.directory);
  for (const wrong of ['', 'Bearer ', 'Bearer wrong', `Macaroon ${token}`, `Bearer ${token}`, secret.slice(0, -1)]) {
    t.equal((await tell(store, wrong, { events: [] })).status, 401, wrong.slice(0, 12));
  }
  for (const content of ['', '{', '[]', '{}', '{"events":{}}', '{"events":[1]}', '{"events":[{"action":1}]}']) {
    t.equal((await tell(store, secret, content)).status, 400, content);
  }
  t.equal((await tell(store, secret, 'x'.repeat(1024 * 1024 + 1))).status, 413);
  t.same(footprint(store.directory), before);
});

t.test('a store with its own images, or without registry events, has no such address', async (t) => {
  for (const configure of [
    (text: string) => text,
    (text: string) => external(text).replace('# notifications = true', 'notifications = false'),
  ]) {
    const store = await startStore(t, configure);
    t.equal((await tell(store, 'Bearer x', { events: [] })).status, 404);
  }
  const alone = await startStore(t);
  const { code, err } = await larder(`registry settings --data ${alone.directory}`);
  t.equal(code, 1);
  t.match(err, /set registry\.external/);
});

t.test('images from before are still pulled here, and none is pushed here any more', async (t) => {
  let configure = (text: string): string => text;
  const store = await startStore(t, (text) => configure(text));
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const login = await uploadLogin(ada, 'hello');
  const digest = await pushImage(await logIn(store, login), 'latest', 'layer');
  const ask = () => ada.post('/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': digest });
  const { body: earlier } = await ask();
  configure = external;
  const { readFileSync, writeFileSync } = await import('node:fs');
  const file = `${store.directory}/larder.toml`;
  writeFileSync(file, external(readFileSync(file, 'utf8')));
  store.appliance.reload();

  t.same((await ask()).body, earlier, 'the same image comes out the same');
  const reader = { image: earlier.ImageName, username: earlier.Username, password: earlier.Password };
  t.match(await (await logIn(store, reader)).call('GET', `manifests/${digest}`), { status: 200 });
  const fresh = await uploadLogin(ada, 'hello');
  t.equal(fresh.image, login.image.replace('127.0.0.1:8080', host));
  const client = await logIn(store, fresh);
  t.match(await client.call('GET', `manifests/${digest}`), { status: 200 });
  t.match(await client.blob('more'), { status: 401 });
});

t.test('a token for the other registry has the permitted actions, and an expiry', async (t) => {
  const store = await startStore(t, external);
  await declare(store, 'ada', 'hello');
  const login = await uploadLogin(await store.as('ada'), 'hello');
  const scope = `repository:${repositoryOf(login)}:pull,push,delete repository:library/debian:pull registry:catalog:*`;
  const query = new URLSearchParams({ service: host, scope }).toString();
  const authorization = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
  const ask = async () =>
    (await (await fetch(`${store.url}/registry/token?${query}`, { headers: { authorization } })).json()) as {
      token: string;
    };
  const [first, second] = [await ask(), await ask()].map(({ token }) =>
    token
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object),
  );
  const now = store.clock.now.getTime() / 1000;
  const { auth } = await settingsOf(store);
  t.match(first, [
    { typ: 'JWT', alg: 'RS256', x5c: [String] },
    {
      iss: auth.token['issuer'],
      aud: host,
      sub: login.username,
      iat: now,
      nbf: now - 60,
      exp: now + 300,
      access: [{ type: 'repository', name: repositoryOf(login), actions: ['pull', 'push'] }],
    },
  ]);
  t.not((first?.[1] as { jti: string }).jti, (second?.[1] as { jti: string }).jti);
  await store.restart();
  t.same((await settingsOf(store)).notifications, (await settingsOf(store)).notifications, 'the key stays');
  t.equal((await fetchToken(store, { ...login, password: 'x' })).status, 401);
});

t.test('the key of the tokens is made once, by the server or by a command', async (t) => {
  const entries: object[] = [];
  for (const byCommand of [false, true]) {
    const store = await startStore(t, external);
    await declare(store, 'ada', 'hello');
    const login = await uploadLogin(await store.as('ada'), 'hello');
    const basic = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
    const needs = [
      () => fetch(`${store.url}/registry/token?service=${host}`, { headers: { authorization: basic } }),
      () => larder(`registry certificate --data ${store.directory}`),
    ];
    for (const need of byCommand ? needs.reverse() : needs) await need();
    const all = await store.beside.records.audit.list(0, 1000);
    const made = all.filter(({ action }) => action === 'make_registry_key');
    t.match(made, [{ actor: byCommand ? /^cli:/ : 'larder' }]);
    entries.push(made.map(({ object, outcome, details }) => ({ object, outcome, details })));
  }
  t.same(entries[1], entries[0]);
});
