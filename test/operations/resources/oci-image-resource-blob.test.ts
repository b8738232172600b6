import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { declare, digestOf, logIn, pushImage, uploadLogin } from '#test/fixtures/images.ts';

const path = (name = 'hello', resource = 'image'): string => `/v1/charm/${name}/resources/${resource}/oci-image/blob`;

t.test('the same digest answers the same bytes, also after a restart and for somebody else', async (t) => {
  const store = await startStore(t);
  const id = await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const client = await logIn(store, await uploadLogin(ada, 'hello'));
  const [one, two] = [await pushImage(client, 'latest', 'one'), await pushImage(client, 'latest', 'two')];
  const text = async (token: string, digest: string): Promise<string> =>
    (
      await fetch(store.url + path(), {
        method: 'POST',
        headers: { authorization: `Macaroon ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ 'image-digest': digest }),
      })
    ).text();
  const answers = new Set(await Promise.all([text(ada.token, one), text(ada.token, one), text(ada.token, one)]));
  await store.restart();
  answers.add(await text(ada.token, one));
  answers.add(await text((await store.as('root')).token, one));
  t.equal(answers.size, 1);
  const [answer = ''] = answers;
  const body = JSON.parse(answer) as Record<string, string>;
  t.same(Object.keys(body), ['ImageName', 'Username', 'Password']);
  t.equal(body['ImageName'], `127.0.0.1:8080/images/${id.toLowerCase()}/image@${one}`);
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
