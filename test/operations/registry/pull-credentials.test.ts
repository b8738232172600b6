// Credentials to pull images: listed, ended, and others in their place.
import t from 'tap';

import { command, newest, startNow } from '#test/acts/ways.ts';
import { hours } from '#domain/clock.ts';
import { declare, fetchToken, logIn, pushImage, uploadLogin, type Login } from '#test/fixtures/packages/images.ts';

interface Listed {
  id: string;
  'ends-at': string | null;
}

t.test('credentials to pull are listed and ended, and the next image is given others', async (t) => {
  const store = await startNow(t);
  await declare(store, 'ada', 'hello');
  const [root, ada] = [await store.as('root'), await store.as('ada')];
  const digest = await pushImage(await logIn(store, await uploadLogin(ada, 'hello')), 'latest', 'layer');
  const handedOut = async (): Promise<Login> => {
    const path = '/v1/charm/hello/resources/image/oci-image/blob';
    const { body } = await ada.post(path, { 'image-digest': digest });
    return { image: body.ImageName, username: body.Username, password: body.Password };
  };
  const listed = async () => (await root.get('/internal/v1/pull-credentials')).body.credentials as Listed[];
  const scope = (login: Login) =>
    `repository:${login.image.slice(login.image.indexOf('/') + 1).replace(/@.*$/, '')}:pull`;
  const pulls = async (login: Login) => (await fetchToken(store, login, scope(login))).status === 200;
  t.same(await listed(), []);

  const first = await handedOut();
  t.match(await listed(), [
    { id: first.username, namespace: 'charm', name: 'hello', resource: 'image', 'ends-at': null },
  ]);
  t.notMatch(JSON.stringify(await listed()), first.password);
  t.same(await command(store, 'pull-credential list'), { credentials: await listed(), more: false });
  const client = await logIn(store, first, 'pull');
  t.equal((await client.call('GET', `manifests/${digest}`)).status, 200);

  t.match(await command(store, `pull-credential rotate ${first.username} --overlap 2h`), { id: first.username });
  t.match(await newest(store), {
    action: 'end_pull_credential',
    object: `image-credential/${first.username}`,
    details: { package: 'charm/hello', resource: 'image' },
  });
  const second = await handedOut();
  t.not(second.username, first.username);
  t.same(await handedOut(), second, 'and the same from then on');
  t.ok((await pulls(first)) && (await pulls(second)), 'both are good for a while');
  t.match(
    await command(store, `pull-credential rotate ${first.username}`),
    { code: 'conflict' },
    'an end is not put off',
  );
  store.clock.advance(hours(2) + hours(1));
  t.notOk(await pulls(first));
  t.ok(await pulls(second));
  t.match(await client.call('GET', `manifests/${digest}`), { status: 401 }, 'nor is a token good that they were given');

  const end = () => root.post(`/internal/v1/pull-credentials/${second.username}/end`);
  const twice = await Promise.all([end(), end()]);
  t.same(twice.map(({ status }) => status).sort(), [200, 409], 'of two at once one does it');
  t.notOk(await pulls(second));
  t.ok(await pulls(await handedOut()));
  t.equal((await listed()).length, 3);
  const page = (await root.get('/internal/v1/pull-credentials?page-size=2')).body;
  const rest = await root.get(`/internal/v1/pull-credentials?page-size=2&cursor=${page['next-cursor'] as string}`);
  t.match([(page.credentials as Listed[]).length, (rest.body.credentials as Listed[]).length], [2, 1]);

  const push = (await uploadLogin(ada, 'hello')).username;
  const path = (id: string) => `/internal/v1/pull-credentials/${id}/end`;
  t.match(await root.post(path(push)), { status: 404 }, 'what is for pushing ends with its token');
  t.match(await root.post(path('nothing')), { status: 404 });
  for (const body of [{ overlap: -1 }, { overlap: 31_536_001 }, { overlap: '1h' }, { overlap: 1.5 }, { more: 1 }]) {
    t.match(await root.post(path(first.username), body), { status: 400 }, JSON.stringify(body));
  }
  t.match(await ada.post(path(first.username)), { status: 401 });
  t.match(await ada.get('/internal/v1/pull-credentials'), { status: 401 });
  t.match(await command(store, 'pull-credential end nothing --yes'), { code: 'resource-not-found' });
});
