// A charm with a file and an image, from its registration to a release, in the requests that charmcraft sends.
import t from 'tap';

import { charm } from '#test/fixtures/packages/archives.ts';
import { charmcraft } from '#test/fixtures/clients/charmcraft.ts';
import { startStore } from '#test/fixtures/appliance.ts';

t.test('a charm that needs a file and an image goes from registration to a release', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada', {
    permissions: ['account-register-package', 'account-view-packages', 'package-manage', 'package-view'],
  });
  const hers = charmcraft(store, ada);

  // ada logs in, registers the name, and finds it in the list of own names.
  t.match(await hers.whoami(), { id: store.ids.ada, username: 'ada' });
  t.match(await hers.register('hello'), { status: 200, body: { id: /^\w{32}$/ } });
  t.same(await hers.names(), [{ name: 'hello', status: 'registered', publisher: store.ids.ada }]);

  // ada packs a charm that declares a file and an image, uploads it, then a better one.
  const declared = 'resources:\n  config: {type: file, filename: config.txt}\n  image: {type: oci-image}\n';
  t.equal(await hers.upload('hello', charm('hello', {}, declared)), 1);
  t.equal(await hers.upload('hello', charm('hello', { dispatch: '#!/bin/sh\n# second\n' }, declared)), 2);
  await t.rejects(hers.upload('hello', charm('hello', {}, declared)), /already exists in the database, as revision 1/);
  t.match(await hers.revisions('hello'), [
    { revision: 2, version: '2', status: 'approved' },
    { revision: 1, version: '1', status: 'approved' },
  ]);
  t.match((await ada.get('/publishergw/v1/charm/hello/revisions?include-craft-yaml=true&revision=1')).body.revisions, [
    { 'craft-yaml': /^type: charm/ },
  ]);
  t.match(await hers.resources('hello'), [
    { name: 'config', type: 'file' },
    { name: 'image', type: 'oci-image' },
  ]);

  // Without its file the charm cannot be released.
  t.match(await hers.release('hello', 2, ['edge']), {
    status: 400,
    body: { 'error-list': [{ code: 'api-error', message: /^Resource 'config' doesn't have a released revision/ }] },
  });

  // The file, twice, the second time for one architecture more; then the image, by way of the registry, also twice.
  t.equal(await hers.uploadResource('hello', 'config', 'a: b'), 1);
  t.equal(await hers.uploadResource('hello', 'config', 'a: c'), 2);
  t.equal(await hers.uploadResource('hello', 'config', 'a: b'), 1, 'the same file is the same revision');
  const [, second] = await hers.setResourceArchitectures('hello', 'config', 2, 'amd64', 'arm64');
  t.match(second, { revision: 2, bases: [{ name: 'all', channel: 'all', architectures: ['amd64', 'arm64'] }] });
  t.equal(await hers.uploadImage('hello', 'image', 'a layer'), 1);
  t.equal(await hers.uploadImage('hello', 'image', 'a layer'), 1, 'the same image is the same revision');
  t.equal(await hers.uploadImage('hello', 'image', 'a layer', 'and another'), 2);
  t.match(await hers.resources('hello'), [
    { name: 'config', revision: 2 },
    { name: 'image', revision: 2 },
  ]);

  // ada releases all of it to edge and to a branch, and checks the channels.
  const resources = [
    { name: 'config', revision: 2 },
    { name: 'image', revision: 2 },
  ];
  t.match(await hers.release('hello', 2, ['edge', 'edge/fix'], resources), {
    status: 200,
    body: { released: [{ channel: 'latest/edge', revision: 2, resources }, { channel: 'latest/edge/fix' }] },
  });
  const status = await hers.status('hello');
  t.match(status.package.channels, [
    { name: 'latest/stable', fallback: null },
    { name: 'latest/candidate', fallback: 'latest/stable' },
    { name: 'latest/beta', fallback: 'latest/candidate' },
    { name: 'latest/edge', fallback: 'latest/beta' },
    { name: 'latest/edge/fix', fallback: 'latest/edge' },
  ]);
  t.same(
    status['channel-map'].map((release) => [
      release.channel,
      release.base?.architecture,
      release.revision,
      release['expiration-date'],
    ]),
    [
      ['latest/edge', 'amd64', 2, null],
      ['latest/edge', 'arm64', 2, null],
      ['latest/edge/fix', 'amd64', 2, '2026-03-31T12:00:00.000Z'],
      ['latest/edge/fix', 'arm64', 2, '2026-03-31T12:00:00.000Z'],
    ],
  );
  t.same(await hers.names(), [{ name: 'hello', status: 'published', publisher: store.ids.ada }]);

  t.match(status['channel-map'][0]?.resources, [
    { name: 'config', revision: 2, type: 'file' },
    { name: 'image', revision: 2, type: 'oci-image' },
  ]);

  // The branch is closed; a charm with revisions keeps its name.
  t.match(await hers.close('hello', 'edge/fix'), { status: 200 });
  t.equal((await hers.status('hello')).package.channels.length, 4);
  t.match(await hers.unregister('hello'), {
    status: 403,
    body: { 'error-list': [{ message: 'Cannot unregister a package with existing revisions' }] },
  });
});
