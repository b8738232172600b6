import t from 'tap';

import { days } from '#domain/clock.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { declare, digestOf, logIn, pushImage, uploadLogin } from '#test/fixtures/packages/images.ts';

const path = (name = 'hello', resource = 'image'): string => `/v1/charm/${name}/resources/${resource}/oci-image/blob`;

t.test('the same digest gets the same bytes, also after a restart and for another account', async (t) => {
  const store = await startStore(t);
  const id = await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const client = await logIn(store, await uploadLogin(ada, 'hello'));
  const [first, two] = [await pushImage(client, 'latest', 'one'), await pushImage(client, 'latest', 'two')];
  const text = async (token: string, digest: string): Promise<string> =>
    (
      await fetch(store.url + path(), {
        method: 'POST',
        headers: { authorization: `Macaroon ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ 'image-digest': digest }),
      })
    ).text();
  const answers = new Set(await Promise.all([text(ada.token, first), text(ada.token, first), text(ada.token, first)]));
  await store.restart();
  answers.add(await text(ada.token, first));
  answers.add(await text((await store.as('root')).token, first));
  t.equal(answers.size, 1);
  const [answer = ''] = answers;
  const body = JSON.parse(answer) as Record<string, string>;
  t.same(Object.keys(body), ['ImageName', 'Username', 'Password']);
  t.equal(body['ImageName'], `127.0.0.1:8080/images/${id.toLowerCase()}/image@${first}`);
  t.match(JSON.parse(await text(ada.token, two)), { Username: body['Username'], Password: body['Password'] });
});

t.test('an image that was not pushed is not there', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  await declare(store, 'ada', 'other');
  const ada = await store.as('ada');
  const digest = await pushImage(await logIn(store, await uploadLogin(ada, 'other')), 'latest', 'layer');
  for (const unknown of [digest, digestOf('layer'), digestOf('x'), 'latest', 'sha256:x', `sha512:${'0'.repeat(128)}`]) {
    t.match(
      await ada.post(path(), { 'image-digest': unknown }),
      { status: 404, body: { 'error-list': [{ code: 'resource-not-found' }] } },
      unknown,
    );
  }
  t.match(await ada.post(path('other'), { 'image-digest': digest }), { status: 200 });
  t.match(await ada.post(path('other', 'nothing'), { 'image-digest': digest }), { status: 404 });
  t.match(await ada.post(path(), {}), { status: 400 });
});

/** The audit entries about images that were handed out. */
const handedOut = async ({ beside: hostStore }: TestAppliance): Promise<Record<string, unknown>[]> =>
  (await hostStore.records.audit.list(0, 1000))
    .filter(({ action }) => action === 'issue_pull_credential')
    .map(({ details }) => JSON.parse(details) as Record<string, unknown>);

t.test('the audit log records new credentials, and the use of an old image', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const digest = await pushImage(await logIn(store, await uploadLogin(ada, 'hello')), 'latest', 'one');
  const ask = async () => (await (await store.as('ada')).post(path(), { 'image-digest': digest })).body;
  const first = await ask();
  const credentials = first.Username as string;
  const made = { resource: 'image', digest, credentials };
  t.same(await handedOut(store), [made]);
  t.same(await ask(), first);
  t.same(await handedOut(store), [made], 'nothing is new');
  store.clock.advance(days(2));
  t.same(await ask(), first);
  t.same(await handedOut(store), [made, { resource: 'image', digest }], 'it waits longer for a resource');
  t.same(await ask(), first);
  t.equal((await handedOut(store)).length, 2);
});

t.test('for a silent registry, the statement of the pusher is used', async (t) => {
  const host = 'registry.example:5000';
  const store = await startStore(t, (text) =>
    text
      .replace(/^# external = .*$/m, `external = "${host}"`)
      .replace(/^# notifications = .*$/m, 'notifications = false'),
  );
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const digest = digestOf('manifest');
  const first = (await ada.post(path(), { 'image-digest': digest })).body;
  t.ok(String(first.ImageName).startsWith(`${host}/images/`));
  t.same((await ada.post(path(), { 'image-digest': digest })).body, first);
  t.same(await handedOut(store), [{ resource: 'image', digest, registry: host, credentials: first.Username }]);
});
