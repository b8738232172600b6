// A charm that runs an image: declared by a revision, pushed to the registry, uploaded as its resource, and fetched.
import t from 'tap';

import { charm } from '#test/fixtures/packages/archives.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { logIn, pushImage, uploadLogin } from '#test/fixtures/packages/images.ts';

t.test(
  'an image is pushed for the charm that declares it, and a deployment pulls the image of the resource',
  async (t) => {
    const store = await startStore(t);
    const ada = await store.as('ada');
    await ada.post('/v1/charm', { name: 'hello' });
    const address = '/v1/charm/hello/resources/image';
    t.match(await ada.get(`${address}/oci-image/upload-credentials`), { status: 404 }, 'no revision declares it yet');
    await ada.push('charm', 'hello', charm('hello', {}, 'resources:\n  image:\n    type: oci-image\n'));

    const digest = await pushImage(await logIn(store, await uploadLogin(ada, 'hello')), 'latest', 'layer');
    const { body: blob } = await ada.post(`${address}/oci-image/blob`, { 'image-digest': digest });
    const text = JSON.stringify(blob);
    for (const revision of [1, 1]) {
      const upload = await ada.upload(text);
      const pushed = await ada.post(`${address}/revisions`, { 'upload-id': upload, type: 'oci-image' });
      await store.appliance.reviewed();
      t.match(await ada.get(pushed.body['status-url']), { body: { revisions: [{ status: 'approved', revision }] } });
    }

    const login = { image: blob.ImageName, username: blob.Username, password: blob.Password };
    const deployment = await logIn(store, login, 'pull');
    t.match(await deployment.call('GET', `manifests/${digest}`), { status: 200 });
    t.match(await deployment.call('POST', 'blobs/uploads/'), { status: 401 });
  },
);
