// Acts that wait for no approval because a release follows: a device gets the same before and after, until there is the release.
import t, { type Test } from 'tap';

import { setManualReview } from '#acts/packages/registration.ts';
import { everyAct } from '#acts/index.ts';
import { restoreRevision, withdrawRevision } from '#acts/revisions/revisions.ts';
import { deleteRevisions } from '#acts/revisions/old-revisions.ts';
import { updateResourceRevisions } from '#acts/resources/resources.ts';
import { addGuardrail, createTracks, deleteTrack, updateTrack } from '#acts/releases/tracks.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { componentFile } from '#test/fixtures/packages/components.ts';
import { deviceHeaders, servingSnaps } from '#test/fixtures/devices.ts';
import { logIn, pushImage, uploadLogin } from '#test/fixtures/packages/images.ts';
import { askedOne, pushCharm, pushResource, servingCharms } from '#test/fixtures/clients/juju.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { days } from '#domain/clock.ts';

/** Acts with a reason about releases or channels that are not tried here, and why. */
const elsewhere: Readonly<Record<string, string>> = {
  create_fleet: 'a new fleet has no settings, and each setting waits: test/acts/fleets/fleet-approvals.test.ts',
  delete_fleet: 'a fleet with settings is not deleted, which test/operations/fleets/fleets.test.ts says',
  raise_rollout: 'its steps are in the line of its release: test/operations/releases/rollouts.test.ts',
  end_rollout: 'it records that a rollout has ended: test/jobs/releases/raise-rollouts.test.ts',
  delete_image_manifest: 'test/operations/registry/deletions.test.ts says what stays',
  grant_to_devices:
    'a grant decides who gets a release, which test/operations/devices/grants/device-grants.test.ts says',
  hand_over_package: 'it changes who may release, and nothing of what is released',
  import_package: 'test/cli/packages/package-import.test.ts says that nothing of it is in a channel',
  invite_collaborators: 'it changes who may release, and nothing of what is released',
  offer_package: 'it changes who may release, and nothing of what is released',
  issue_push_credential: 'they are used below to push an image',
  push_external_image: 'it tells of an image in another registry, which serves it itself',
  publish_library: 'a library is for charmcraft; devices fetch charms',
  upgrade_store: 'a test of each migration says what it leaves',
};

const packageYaml = 'name: tiny-app\nversion: "2"\ncomponents:\n  words: {type: standard}\n';
const declared = 'resources:\n  site: {type: file, filename: a}\n  image: {type: oci-image}\n';

/** A store with a snap and a charm in stable, and all that a device can find out about them. */
async function released(t: Test) {
  const store = await startStore(t, (text) => servingCharms(servingSnaps(text)));
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body as { id: string };
  await addRevision(store, id, 1, { packageYaml });
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'declare', object: id }, (tx) =>
    tx.resources.declare(id, 1, { name: 'words', type: 'component/standard', optional: true }),
  );
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: 1 }]);
  const { id: charmId } = (await ada.post('/v1/charm', { name: 'hello' })).body as { id: string };
  await pushCharm(ada, 'hello', { metadata: declared });
  await pushResource(store, ada, '/v1/charm/hello/resources/site', 'the pages');
  const client = await logIn(store, await uploadLogin(ada, 'hello'));
  const push = async (...layers: string[]): Promise<void> => {
    const image = await pushImage(client, 'latest', ...layers);
    const login = await ada.post('/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': image });
    await pushResource(store, ada, '/v1/charm/hello/resources/image', JSON.stringify(login.body));
  };
  await push('layer one');
  const resources = [
    { name: 'site', revision: 1 },
    { name: 'image', revision: 1 },
  ];
  const done = await ada.post('/v1/charm/hello/releases', [{ channel: 'stable', revision: 1, resources }]);
  if (done.status !== 200) throw new Error(JSON.stringify(done.body));

  const snap = async (action: object): Promise<unknown> => {
    const whole = { action: 'install', 'instance-key': 'install-1', name: 'tiny-app', ...action };
    const fields = ['revision', 'version', 'download', 'resources', 'snap-yaml'];
    const body = { context: [], actions: [whole], fields };
    return (await store.anyone.post('/v2/snaps/refresh', body, deviceHeaders())).body.results[0];
  };
  const status = async (path: string): Promise<string> =>
    `${path} ${String((await fetch(store.url + path, { method: 'HEAD' })).status)}`;
  const numbers = [1, 2, 3];
  /** Everything that a device or a controller is given, by channel, number, or guess. */
  const collectReplies = async (): Promise<unknown> => ({
    channels: await Promise.all(
      ['stable', 'candidate', 'edge', '2.0/stable', 'stable/fix'].map((channel) => snap({ channel })),
    ),
    numbers: await Promise.all(numbers.map((revision) => snap({ revision }))),
    info: (await store.anyone.get('/v2/snaps/info/tiny-app?fields=revision,resources', deviceHeaders())).body[
      'channel-map'
    ],
    charms: await Promise.all(
      ['stable', 'edge', '2.0/stable'].map((channel) => askedOne(store, { name: 'hello', channel })),
    ),
    charmNumbers: await Promise.all(numbers.map((revision) => askedOne(store, { name: 'hello', revision }))),
    files: await Promise.all(
      numbers.flatMap((number) => [
        status(`/api/v1/snaps/download/${id}_${number}.snap`),
        status(`/api/v1/snaps/download/${id}_words_${number}.comp`),
        status(`/api/v1/charms/download/${charmId}_${number}.charm`),
      ]),
    ),
  });
  return { store, ada, client, push, given: collectReplies, id, charmId };
}

t.test('an act without approval before a release gives devices nothing until the release', async (t) => {
  const { store, ada, client, push, given: collectReplies, id } = await released(t);
  const { acts, records } = store.beside;
  const actor = { actor: store.ids.ada };
  const [snap, charmed] = [
    async () => (await records.packages.find('snap', 'tiny-app'))!,
    async () => (await records.packages.find('charm', 'hello'))!,
  ];
  const component = async (text: string) => {
    const content = componentFile('tiny-app+words', { text });
    const body = { 'upload-id': await ada.upload(content), type: 'component/standard' };
    await ada.post('/v1/snap/tiny-app/resources/words/revisions', { ...body, 'package-revision': 1 });
    await store.appliance.reviewed();
  };
  const track = { versionPattern: null, automaticPhasingPercentage: null };
  const steps: [acts: string[], go: () => Promise<unknown>][] = [
    [['push_revision', 'approve_upload'], async () => ada.push('snap', 'tiny-app', await snapFixture('app-xz'))],
    [['push_resource'], () => component('all words')],
    [['push_resource'], () => component('other words')],
    [['push_revision', 'approve_upload'], () => ada.push('charm', 'hello', charm('hello', { version: '2' }, declared))],
    [['push_resource'], () => pushResource(store, ada, '/v1/charm/hello/resources/site', 'other pages')],
    [['push_image_blob', 'push_image_manifest'], () => push('layer two')],
    [['delete_image_tag'], () => client.call('DELETE', 'manifests/latest')],
    [
      ['update_resource_revisions'],
      async () => {
        const bases = [{ name: 'ubuntu', channel: '24.04', architectures: ['arm64'] }];
        const updates = [{ revision: 1, bases }];
        return acts.do(updateResourceRevisions, actor, { package: await charmed(), resource: 'site', updates });
      },
    ],
    [['add_guardrail'], async () => acts.do(addGuardrail, actor, { package: await snap(), pattern: '^[23].0$' })],
    [
      ['create_tracks'],
      async () =>
        acts.do(createTracks, actor, {
          package: await snap(),
          tracks: ['2.0', '3.0'].map((name) => ({ name, ...track })),
        }),
    ],
    [
      ['update_track'],
      async () =>
        acts.do(updateTrack, actor, { package: await snap(), track: '2.0', changes: { versionPattern: '^2' } }),
    ],
    [['delete_track'], async () => acts.do(deleteTrack, actor, { package: await snap(), track: '3.0' })],
    [['set_manual_review'], async () => acts.do(setManualReview, actor, { package: await snap(), on: true })],
    [
      ['restore_revision'],
      async () => {
        await acts.do(withdrawRevision, actor, { package: await snap(), revision: 2, reason: 'it is bad' });
        await acts.do(restoreRevision, actor, { package: await snap(), revision: 2 });
      },
    ],
    [
      ['delete_revisions'],
      async () => {
        for (const number of [5, 6]) await addRevision(store, id, number);
        const rule = { keep: 2 };
        return acts.do(deleteRevisions, actor, { package: await snap(), rule, revisions: [2] });
      },
    ],
  ];
  const before = await collectReplies();
  t.match(before, { channels: [{ snap: { revision: 1 } }], charms: [{ charm: { revision: 1 } }] });
  for (const [names, go] of steps) {
    const seq = (await records.audit.head())?.seq ?? 0;
    await go();
    const done = (await records.audit.newest(Number.MAX_SAFE_INTEGER, 20)).filter((row) => row.seq > seq);
    for (const name of names)
      t.ok(
        done.some(({ action, outcome }) => action === name && outcome === 'done'),
        name,
      );
    t.same(await collectReplies(), before, names.join(', '));
  }
  const tried = new Set([...steps.flatMap(([names]) => names), ...Object.keys(elsewhere)]);
  const reasoned = everyAct.flatMap(({ name, gate }) =>
    'never' in gate && /releas|channel/.test(gate.never) ? [name] : [],
  );
  t.same(
    reasoned.filter((name) => !tried.has(name)),
    [],
    'each act with such a reason is tried here, or says where',
  );
  store.clock.advance(days(1));
  t.same(await collectReplies(), before, 'nor later');
  const words = [{ name: 'words', revision: 2 }];
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: 1, resources: words }]);
  t.match(
    await collectReplies(),
    { channels: [{ snap: { resources: [{ name: 'words', revision: 2 }] } }] },
    'a release does',
  );
});
