import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { declare, logIn, repositoryOf, uploadLogin } from '#test/fixtures/packages/images.ts';

const path = (resource: string, name = 'hello'): string =>
  `/v1/charm/${name}/resources/${resource}/oci-image/upload-credentials`;

t.test('a publisher gets credentials to push the image of a declared resource, other ones each time', async (t) => {
  const store = await startStore(t);
  const id = await declare(store, 'ada', 'hello');
  const ada = await store.as('ada', { permissions: ['package-manage-revisions'] });
  const reply = await ada.get(path('image'));
  t.equal(reply.status, 200);
  t.same(Object.keys(reply.body).sort(), ['image-name', 'password', 'username']);
  t.equal(reply.body['image-name'], `127.0.0.1:8080/images/${id.toLowerCase()}/image`);
  const [first, second] = [await uploadLogin(ada, 'hello'), await uploadLogin(ada, 'hello')];
  t.not(first.username, second.username);
  t.not(first.password, second.password);
  for (const login of [first, second]) t.equal((await logIn(store, login)).repository, repositoryOf(login));
});

t.test('an undeclared resource is not found', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  t.match(await ada.get(path('other')), { status: 404, body: { 'error-list': [{ code: 'resource-not-found' }] } });
  t.match(await ada.get(path('image', 'nobody')), { status: 404 });
});

t.test('a resource of another type has no image', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello', 'settings', 'file');
  t.match(await (await store.as('ada')).get(path('settings')), {
    status: 400,
    body: { 'error-list': [{ code: 'api-error', message: /type file/ }] },
  });
});

t.test('a resource with a name that cannot be a repository is refused with a sentence', async (t) => {
  const store = await startStore(t);
  for (const resource of ['Image', 'a--b-', '_x']) {
    await declare(store, 'ada', 'hello', resource);
    t.match(
      await (await store.as('ada')).get(path(resource)),
      { status: 400, body: { 'error-list': [{ code: 'api-error' }] } },
      resource,
    );
  }
});

t.test('a stranger, and a token for something else, get none', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  t.match(await (await store.as('bob')).get(path('image')), { status: 404 });
  t.match(await (await store.as('ada', { permissions: ['package-view'] })).get(path('image')), { status: 401 });
  t.match(await (await store.as('ada', { packages: [{ type: 'charm', name: 'other' }] })).get(path('image')), {
    status: 401,
  });
});
