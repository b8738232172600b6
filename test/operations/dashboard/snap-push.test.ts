// Uploads as the older publishing tools push them: asked for first, then notified of, then watched until they are processed.
import pino from 'pino';
import t from 'tap';

import { seconds } from '#domain/clock.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { createPushFinisher } from '#jobs/uploads/finish-pushes.ts';
import { snapFixture, startStore, type Client, type Reply, type TestAppliance } from '#test/fixtures/appliance.ts';
import { componentFile } from '#test/fixtures/packages/components.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';
import { squashfsImage } from '#test/fixtures/packages/squashfs-image.ts';
import { larder } from '../../cli/world.ts';

const base = 'http://127.0.0.1:8080';
const notify = (client: Client, upload: unknown, more: object = {}): Promise<Reply> =>
  client.post('/dev/api/snap-push/', {
    name: 'tiny-app',
    series: '16',
    updown_id: upload,
    binary_filesize: 4096,
    source_uploaded: false,
    ...more,
  });
const watch = (client: Client, { body }: Reply): Promise<Reply> =>
  client.get((body.status_details_url as string).replace(base, ''));
const refused = (status: number, code: string, message = /.{10}/) => ({
  status,
  body: { error_list: [{ code, message }] },
});

async function withName(t: Parameters<typeof startStore>[0]) {
  const store = await startStore(t);
  await store.join('carol');
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body as { id: string };
  await addCollaborator(store, id, 'carol');
  /** Uploads one of the snaps, notifies of it and waits for its review. */
  const push = async (fixture: string, more: object = {}, client = ada): Promise<Reply> => {
    const reply = await notify(client, await client.upload(await snapFixture(fixture)), more);
    if (reply.status !== 202) return reply;
    await store.appliance.reviewed();
    return watch(client, reply);
  };
  const held = async (): Promise<Record<string, number>> => {
    const map = (await ada.get('/v1/snap/tiny-app/releases')).body['channel-map'] as Record<string, unknown>[];
    return Object.fromEntries(map.map(({ channel, revision }) => [channel, revision as number]));
  };
  return { store, ada, id, push, held };
}

const entries = async ({ beside: writableStore }: TestAppliance, action: string) =>
  (await writableStore.records.audit.list(0, 1000))
    .filter((entry) => entry.action === action)
    .map(({ actor, object, outcome, sessionId, requestId, details }) => ({
      actor,
      object,
      outcome,
      hasSession: sessionId !== null,
      hasRequest: requestId !== null,
      details: JSON.parse(details) as Record<string, unknown>,
    }));

t.test('the permission to push is checked before the file is sent', async (t) => {
  const { store, ada } = await withName(t);
  const ask = (client: Client, name = 'tiny-app'): Promise<Reply> =>
    client.post('/dev/api/snap-push/', { name, dry_run: true });
  t.match(await ask(ada), { status: 200, body: { success: true } });
  t.match(await ask(await store.as('carol', { permissions: ['package-manage-revisions'] })), { status: 200 });
  t.match(await ask(await store.as('root', { permissions: ['store-manage'] })), { status: 200 });
  t.match(await ask(ada, 'nothing'), refused(404, 'resource-not-found', /'?nothing'? not found/));
  t.match(await ask(await store.as('bob')), refused(404, 'resource-not-found'));
  t.match(await ask(await store.as('ada', { permissions: ['package-view'] })), refused(403, 'permission-required'));
  const other = await store.as('ada', { packages: [{ type: 'snap', name: 'other' }] });
  t.match(await ask(other), refused(403, 'permission-required', /not valid for 'tiny-app'/));
  t.match(await ask(store.anyone), refused(401, 'macaroon-authorization-required'));
  t.same(await entries(store, 'push_revision'), [], 'nothing was done');
});

t.test('an upload is pushed, reviewed and released', async (t) => {
  const { store, ada, id, push, held } = await withName(t);
  const upload = await ada.upload(await snapFixture('app-xz'));
  const accepted = await notify(ada, upload, { built_at: '2026-01-01', delta_hash: 'x' });
  t.match(accepted, { status: 202, body: { success: true } });
  t.equal(accepted.body.status_details_url, `${base}/dev/api/snaps/${id}/uploads/${upload}/status`);
  await store.appliance.reviewed();
  const done = await watch(ada, accepted);
  t.same(done.body, {
    code: 'ready_to_release',
    processed: true,
    can_release: true,
    revision: 1,
    url: `${base}/v1/snap/tiny-app`,
  });
  t.same(await held(), {});

  t.match((await push('app-gzip', { channels: ['edge', 'latest/beta'] })).body, { processed: true, revision: 2 });
  t.same(await held(), { 'latest/beta': 2, 'latest/edge': 2 });
  const released = await entries(store, 'push_releases');
  const commonFields = {
    actor: store.ids.ada,
    object: 'snap/tiny-app',
    outcome: 'done',
    hasSession: true,
    hasRequest: true,
  };
  t.same(released, [
    {
      ...commonFields,
      details: { releases: [['latest/edge', 2]], changes: ['snap/tiny-app:latest/edge (amd64): nothing → 2'] },
    },
    {
      ...commonFields,
      details: { releases: [['latest/beta', 2]], changes: ['snap/tiny-app:latest/beta (amd64): nothing → 2'] },
    },
  ]);

  await t.test('as the interface does it', async (t) => {
    await ada.push('snap', 'tiny-app', await snapFixture('app-zstd'));
    await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: 3 }]);
    const [, , lastEntry] = await entries(store, 'push_releases');
    const changes = ['snap/tiny-app:latest/edge (amd64): 2 → 3'];
    t.same(lastEntry, { ...commonFields, details: { releases: [['latest/edge', 3]], changes } });
    const own = ({ details: { upload: id, from, size, ...rest }, ...entry }: (typeof released)[number]) => ({
      ...entry,
      details: { ...rest, upload: typeof id, from, size, 'received-at': '', 'sha3-384': '' },
    });
    const [older, , interfaces] = await entries(store, 'push_revision');
    t.same(own(older!), own(interfaces!));
    const { revisions } = (await ada.get('/v1/snap/tiny-app/revisions')).body;
    const different = { revision: 0, 'sha3-384': '', size: 0 };
    t.same({ ...revisions[0], ...different }, { ...revisions[1], ...different });
    const unknown = await notify(ada, 'nothing');
    t.match(unknown, refused(404, 'resource-not-found', /no upload 'nothing' to push/));
    const reply = await ada.post('/v1/snap/tiny-app/revisions', { 'upload-id': 'nothing' });
    t.same(unknown.body.error_list, reply.body['error-list']);
  });

  await t.test('twice, also at once, it is done once, with one answer', async (t) => {
    const again = await ada.upload(await snapFixture('app-lzo'));
    const pushes = (await entries(store, 'push_revision')).length;
    const replies = await Promise.all([1, 2, 3].map(() => notify(ada, again, { channels: ['candidate'] })));
    await store.appliance.reviewed();
    replies.push(await notify(ada, again, { channels: ['candidate'] }));
    await store.appliance.reviewed();
    for (const { status, body } of replies) t.same([status, body], [202, replies[0]!.body]);
    t.match((await watch(ada, replies[0]!)).body, { processed: true, revision: 4 });
    t.equal((await entries(store, 'push_releases')).length, 4, 'released once');
    const more = (await entries(store, 'push_revision')).length - pushes;
    t.ok(more >= 1 && more <= 3, 'what came after the review changed nothing');
    await notify(ada, again, { channels: ['stable'] });
    await store.appliance.reviewed();
    t.match(await held(), { 'latest/candidate': 4, 'latest/stable': 4 }, 'another channel is another wish');
    await ada.post('/v1/snap', { name: 'other' });
    const taken = await ada.post('/dev/api/snap-push/', { name: 'other', updown_id: again });
    t.match(taken, refused(404, 'resource-not-found'), 'what one snap has pushed is not there for another');
  });
});

t.test('an unfinished push shows its reason in the status', async (t) => {
  const { store, ada, id, push, held } = await withName(t);
  const some = await push('app-xz', { channels: ['edge', '9/edge', 'sharp', ''] });
  t.match(some.body, { code: 'processing_error', processed: true, revision: 1, errors: { length: 3 } });
  t.match(some.body.errors, [
    { code: 'api-error', message: /not released to '': '' is not a channel/ },
    { code: 'api-error', message: /^Revision 1 is there, but: it was not released to '9\/edge': .* no track '9'/ },
    { code: 'api-error', message: /not released to 'sharp'/ },
  ]);
  t.same(await held(), { 'latest/edge': 1 }, 'the others are released');
  t.match((await entries(store, 'refuse_follow_up'))[1], {
    object: 'snap/tiny-app',
    details: { channel: '9/edge', error: { code: 'api-error' } },
  });

  t.same((await push('app-xz', { channels: ['stable'] })).body, {
    code: 'processing_error',
    processed: true,
    can_release: false,
    url: `${base}/v1/snap/tiny-app`,
    errors: [{ code: 'review-error', message: some.body.errors[0] && (await lastRejection(store, id)) }],
  });
  t.same(await held(), { 'latest/edge': 1 }, 'nothing is released of what was rejected');

  t.match((await push('app-gzip', { channels: ['edge'], only_if_newer: true })).body, { revision: 2, processed: true });
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'beta', revision: 2 }]);
  t.same(await held(), { 'latest/edge': 2, 'latest/beta': 2 });
  const waiting = await ada.upload(await snapFixture('app-zstd'));
  await larder(`package manual-review snap/tiny-app on --data ${store.directory}`);
  const accepted = await notify(ada, waiting, { channels: ['edge', 'beta'], only_if_newer: true });
  await store.appliance.reviewed();
  t.match((await watch(ada, accepted)).body, {
    code: 'need_manual_review',
    processed: true,
    can_release: false,
    errors: [{ code: 'review-queued', message: /waits for a person/ }],
  });
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'beta', revision: null }]);
  await larder(`review approve ${waiting} --data ${store.directory}`);
  t.same((await watch(ada, accepted)).body, { code: 'being_processed', processed: false }, 'until it is released');
  await notify(ada, waiting, { channels: ['edge', 'beta'], only_if_newer: true });
  await store.appliance.reviewed();
  t.match((await watch(ada, accepted)).body, { code: 'ready_to_release', processed: true, revision: 3 });
  t.same(await held(), { 'latest/edge': 3, 'latest/beta': 3 });
});

const lastRejection = async ({ beside: writableStore }: TestAppliance, packageId: string) =>
  (await writableStore.records.uploads.reviews(packageId, 10)).find(({ errors }) => errors !== null)?.errors?.[0]
    ?.message;

t.test('a push of a collaborator with channels is released, or refused, in their name', async (t) => {
  const { store, push, held } = await withName(t);
  const carol = await store.as('carol');
  t.match((await push('app-xz', { channels: ['edge', '9/edge'] }, carol)).body, { processed: true, revision: 1 });
  t.same(await held(), { 'latest/edge': 1 });
  for (const action of ['push_releases', 'refuse_follow_up'])
    t.match(await entries(store, action), [{ actor: store.ids['carol'], object: 'snap/tiny-app' }], action);
});

t.test('a channel with a newer revision keeps it on request', async (t) => {
  const { store, ada, push, held } = await withName(t);
  const first = await ada.upload(await snapFixture('app-xz'));
  await notify(ada, first);
  await store.appliance.reviewed();
  await push('app-gzip', { channels: ['edge', 'beta'] });
  const again = await notify(ada, first, { channels: ['edge', 'stable'], only_if_newer: true });
  await store.appliance.reviewed();
  t.match((await watch(ada, again)).body, { code: 'ready_to_release', revision: 1 }, 'that is no error');
  t.same(await held(), { 'latest/stable': 1, 'latest/beta': 2, 'latest/edge': 2 });
  await notify(ada, first, { channels: ['beta'] });
  await store.appliance.reviewed();
  t.same(await held(), { 'latest/stable': 1, 'latest/beta': 1, 'latest/edge': 2 }, 'otherwise it is released');
});

t.test(
  'a channel that holds the same revision keeps a progressive release over it if only newer ones are asked for',
  async (t) => {
    const { store, ada, push } = await withName(t);
    const first = await ada.upload(await snapFixture('app-xz'));
    await notify(ada, first);
    await store.appliance.reviewed();
    await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: 1 }]);
    await push('app-gzip');
    const progressive = { percentage: 10, paused: false };
    await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: 2, progressive }]);
    const held = async () =>
      (
        (await ada.get('/v1/snap/tiny-app/releases')).body['channel-map'] as { revision: number; progressive: object }[]
      ).map(({ revision, progressive }) => ({ revision, ...progressive }));
    const before = await held();
    t.match(
      before.find(({ revision }) => revision === 2),
      progressive,
    );
    console.error(
      'NOTIFY',
      JSON.stringify((await notify(ada, first, { channels: ['stable'], only_if_newer: true })).body),
    );
    await store.appliance.reviewed();
    t.same(await held(), before);
  },
);

t.test('permissions to push, malformed pushes, and pending pushes at a stop', async (t) => {
  const { store, ada, id, held } = await withName(t);
  const upload = await ada.upload(await snapFixture('app-xz'));
  const pushes = await store.as('ada', { permissions: ['package-manage-revisions'] });
  t.match(await notify(pushes, upload, { channels: ['edge'] }), refused(403, 'permission-required', /manage-releases/));
  const edge = await store.as('ada', { channels: ['edge'] });
  t.match(
    await notify(edge, upload, { channels: ['edge', 'beta'] }),
    refused(403, 'permission-required', /'latest\/beta'/),
  );
  t.match(await notify(await store.as('bob'), upload), refused(404, 'resource-not-found'));
  for (const more of [
    { updown_id: undefined },
    { updown_id: 7 },
    { updown_id: '' },
    { updown_id: 'x'.repeat(65) },
    { name: '' },
    { name: 'x'.repeat(65) },
    { channels: 'edge' },
    { channels: Array.from({ length: 101 }, () => 'edge') },
    { channels: ['x'.repeat(201)] },
    { components: ['x'] },
    { components: { one: 1 } },
    { only_if_newer: 'yes' },
    { dry_run: 'true' },
  ]) {
    t.match(await notify(ada, upload, more), refused(400, 'api-error'), JSON.stringify(more));
  }
  t.equal((await store.beside.records.uploads.find(upload))?.packageId, null, 'nobody has claimed it');

  const accepted = await notify(pushes, upload, { only_if_newer: true });
  await store.appliance.reviewed();
  t.match(await watch(pushes, accepted), { status: 200, body: { processed: true, revision: 1 } });
  const path = `/dev/api/snaps/${id}/uploads/${upload}/status`;
  t.match(await (await store.as('bob')).get(path), refused(404, 'resource-not-found'));
  t.match(await (await store.as('ada', { permissions: ['package-view-metadata'] })).get(path), { status: 403 });
  t.match(await store.anyone.get(path), { status: 401 });
  t.match(await ada.get(path.replace(upload, 'nothing')), refused(404, 'resource-not-found', /no upload 'nothing'/));
  const other = (await ada.post('/v1/snap', { name: 'other' })).body.id as string;
  t.match(await ada.get(path.replace(id, other)), refused(404, 'resource-not-found'), 'it is of another snap');

  await t.test('a pending release is done after the next start', async (t) => {
    const { records } = store.beside;
    const next = await ada.upload(await snapFixture('app-gzip'));
    await larder(`package manual-review snap/tiny-app on --data ${store.directory}`);
    const waits = await notify(ada, next, { channels: ['stable'] });
    await store.appliance.reviewed();
    await store.appliance.stop();
    await larder(`review approve ${next} --data ${store.directory}`);
    t.match(await records.afterReview.due('', 10), [{ id: next, revision: 2 }]);
    await store.restart();
    // The jobs of a test wait for an hour; any push wakes the work.
    await notify(ada, next, { channels: ['stable'] });
    await store.appliance.reviewed();
    t.match((await watch(ada, waits)).body, { processed: true, revision: 2 });
    t.same(await held(), { 'latest/stable': 2 });
    t.same(await records.afterReview.due('', 10), []);
  });

  await t.test('nothing is released in the name of a former collaborator', async (t) => {
    const carol = await store.as('carol');
    const hers = await carol.upload(await snapFixture('app-zstd'));
    const waits = await notify(carol, hers, { channels: ['beta'] });
    await store.appliance.reviewed();
    t.match(await larder(`account disable ${store.ids['carol'] ?? ''} --yes --data ${store.directory}`), { code: 0 });
    await larder(`review approve ${hers} --data ${store.directory}`);
    await notify(ada, hers, { channels: ['edge'] });
    await store.appliance.reviewed();
    t.match((await watch(ada, waits)).body, {
      revision: 3,
      errors: [{ code: 'forbidden', message: /not released to 'beta': The account that pushed this has no rights/ }],
    });
    t.same(await held(), { 'latest/stable': 2, 'latest/edge': 3 });
  });

  await t.test('nor for a token that was revoked in between', async (t) => {
    const upload = await ada.upload(await snapFixture('app-lzo'));
    const waits = await notify(await store.as('ada'), upload, { channels: ['candidate'] });
    await store.appliance.reviewed();
    const [wish] = await store.beside.records.afterReview.of(upload);
    t.match(await larder(`token revoke ${wish?.sessionId ?? ''} --yes --data ${store.directory}`), { code: 0 });
    await larder(`review approve ${upload} --data ${store.directory}`);
    await notify(ada, upload);
    await store.appliance.reviewed();
    t.match((await watch(ada, waits)).body, { revision: 4, errors: [{ code: 'forbidden', message: /been revoked/ }] });
    t.same(await held(), { 'latest/stable': 2, 'latest/edge': 3 });
  });
});

const snapWithComponents =
  "name: tiny-app\nversion: '2'\ncomponents:\n  words: {type: standard}\n  more: {type: standard}\n";

t.test('components come beside their snap', async (t) => {
  const { store, ada, held } = await withName(t);
  const upload = await ada.upload(squashfsImage({ 'meta/snap.yaml': snapWithComponents }));
  const files = ['words', 'more'].map((name) => componentFile(`tiny-app+${name}`));
  const [words, more] = [await ada.upload(files[0]!), await ada.upload(files[1]!)];
  const accepted = await notify(ada, upload, { components: { words, more }, channels: ['edge'] });
  await store.appliance.reviewed();
  t.match((await watch(ada, accepted)).body, { code: 'ready_to_release', processed: true, revision: 1 });
  for (const name of ['words', 'more']) {
    t.match((await ada.get(`/v1/snap/tiny-app/resources/${name}/revisions`)).body.revisions, [
      { revision: 1, architectures: ['all'], type: 'component/standard', size: files[0]!.length },
    ]);
  }
  t.same(await held(), { 'latest/edge': 1 });
  const [release] = await store.beside.records.releases.current(
    (await store.beside.records.packages.find('snap', 'tiny-app'))!.id,
    store.clock.now.toISOString(),
  );
  t.same(
    release?.resources.map(({ name, revision }) => `${name}=${String(revision)}`).sort(),
    ['more=1', 'words=1'],
    'released with them',
  );
});

t.test('a component that devices would refuse is an error of the push and keeps the release back', async (t) => {
  const { store, ada, held } = await withName(t);
  const good = componentFile('tiny-app+words');
  const faults: [string, Buffer, RegExp][] = [
    ['text', Buffer.from('words'), /The file is text, but a component is a squashfs image/],
    ['a snap', squashfsImage({ 'meta/snap.yaml': snapWithComponents }), /The file is a snap, but was pushed as a/],
    ['nothing in it', squashfsImage({ 'share/words': 'x' }), /The component has no meta\/component\.yaml/],
    ['another snap', componentFile('other+words'), /is called 'other\+words' .* pushed as 'tiny-app\+words'/],
    ['another name', componentFile('tiny-app+more'), /is called 'tiny-app\+more' .* pushed as 'tiny-app\+words'/],
    ['another type', componentFile('tiny-app+words', { type: 'test' }), /the type 'test' .* 'words' as 'standard'/],
    ['cut off', good.subarray(0, 200), /squashfs|damaged|ends/],
  ];
  const channels = ['edge', 'beta'];
  for (const [at, [label, file, message]] of faults.entries()) {
    const revision = at + 1;
    const yaml = snapWithComponents.replace("'2'", `'2.${String(at)}'`);
    const upload = await ada.upload(squashfsImage({ 'meta/snap.yaml': yaml }));
    const components = { words: await ada.upload(file), more: await ada.upload(componentFile('tiny-app+more')) };
    const accepted = await notify(ada, upload, { components, channels });
    await store.appliance.reviewed();
    const { body } = await watch(ada, accepted);
    t.match(body, { code: 'processing_error', processed: true, revision }, label);
    const messages = (body.errors as { message: string }[]).map((error) => error.message);
    t.equal(messages.length, 3, label);
    t.match(messages[0], message, label);
    t.match(messages[0], /the component 'words' was not accepted: /, label);
    for (const [index, channel] of ['beta', 'edge'].entries())
      t.match(
        messages[index + 1],
        `Revision ${String(revision)} is there, but: it was not released to '${channel}': Its component 'words' was not accepted.`,
      );
    t.same(await held(), {}, label);
    t.match((await ada.get('/v1/snap/tiny-app/resources/words/revisions')).body.revisions, [], label);
  }

  const resource = '/v1/snap/tiny-app/resources/words/revisions';
  await ada.post(resource, { 'upload-id': await ada.upload(good), type: 'component/standard' });
  await store.appliance.reviewed();
  const last = faults.length;
  t.match(await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: last }]), { status: 200 });
  t.same(await held(), { 'latest/edge': last }, 'a correct file for the component, and it can be released');
});

t.test('a component that the snap does not declare keeps the release back', async (t) => {
  const { store, ada, held } = await withName(t);
  const upload = await ada.upload(squashfsImage({ 'meta/snap.yaml': snapWithComponents }));
  const none = await ada.upload(componentFile('tiny-app+none'));
  const accepted = await notify(ada, upload, { components: { none }, channels: ['edge'] });
  await store.appliance.reviewed();
  t.match((await watch(ada, accepted)).body, {
    processed: true,
    revision: 1,
    errors: [
      { message: /the component 'none' was not accepted: .* declares none of that name/ },
      { message: /not released to 'edge': Its component 'none' was not accepted/ },
    ],
  });
  t.same(await held(), {});
});

t.test('a component that a person rejects keeps the release back', async (t) => {
  const { store, ada, held } = await withName(t);
  await larder(`package manual-review snap/tiny-app on --data ${store.directory}`);
  const upload = await ada.upload(squashfsImage({ 'meta/snap.yaml': snapWithComponents }));
  const words = await ada.upload(componentFile('tiny-app+words'));
  const accepted = await notify(ada, upload, { components: { words }, channels: ['edge'] });
  await store.appliance.reviewed();
  await larder(`review approve ${upload} --data ${store.directory}`);
  await notify(ada, upload, { components: { words }, channels: ['edge'] });
  await store.appliance.reviewed();
  t.match((await watch(ada, accepted)).body, { errors: [{ message: /Its component 'words' is stored and waits/ }] });
  t.match(await larder(`review reject ${words} --reason no --data ${store.directory}`), { code: 0 });
  await notify(ada, upload, { components: { words }, channels: ['edge'] });
  await store.appliance.reviewed();
  t.match((await watch(ada, accepted)).body, {
    errors: [{ message: /component 'words' was not accepted: no$/ }, { message: /not released to 'edge'/ }],
  });
  t.same(await held(), {});
});

t.test('an approval by a command beside the server takes effect within a second', async (t) => {
  const { store, ada, held } = await withName(t);
  const { records, acts } = store.beside;
  await larder(`package manual-review snap/tiny-app on --data ${store.directory}`);
  const upload = await ada.upload(await snapFixture('app-xz'));
  const waits = await notify(ada, upload, { channels: ['beta'] });
  await store.appliance.reviewed();
  const { job } = createPushFinisher({
    records,
    acts,
    log: pino({ enabled: false }),
    reviewSoon: () => undefined,
    quota: () => readDefaultQuota({}),
  });
  t.ok(job.every <= seconds(1) && job.oncePer === 'process', 'each process looks so often');
  await job.run();
  t.match((await watch(ada, waits)).body, { code: 'need_manual_review' }, 'there is nothing to do yet');
  await larder(`review approve ${upload} --data ${store.directory}`);
  const before = footprint(store.directory);
  await job.run();
  t.match((await watch(ada, waits)).body, { code: 'ready_to_release', revision: 1 });
  t.same(await held(), { 'latest/beta': 1 });
  const after = footprint(store.directory);
  t.equal(after['audit'], (before['audit'] as number) + 1);
  await job.run();
  t.same(footprint(store.directory), after, 'and a look that finds nothing writes nothing');
});
