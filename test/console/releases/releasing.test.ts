// Releasing and closing in the console: first what would change, then the act, held by the rules that hold everywhere.
import t from 'tap';

import { minutes } from '#domain/clock.ts';
import { approveProposal, rejectProposal } from '#acts/approvals/proposals.ts';
import { configure } from '#test/fixtures/accounts/approvers.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { startConsole } from '#test/console/world.ts';

t.test('a revision is released', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const [revision, architecture] of ['amd64', 'amd64', 'arm64'].entries()) {
    await addRevision(store, id, revision + 1, { details: { architectures: [architecture] } });
  }
  const atHome = await store.visit('ada');
  const packagePath = '/console/packages/snap/hello';
  const form = `${packagePath}/release`;
  const held = async (): Promise<string[]> =>
    ((await ada.get('/v1/snap/hello/releases')).body['channel-map'] as Record<string, unknown>[]).map(
      ({ channel, revision, architecture }) => `${String(channel)} ${String(architecture)} ${String(revision)}`,
    );
  const preview = (query: string) => atHome.open(`${form}?${query}`);

  await t.test('after the page has shown the changes', async (t) => {
    t.match(await atHome.open(form), { status: 200, text: /Choose a revision and channels/ });
    const page = await preview('revision=1&channels=edge%2C+latest%2Fstable');
    t.match(page.text, /This is a preview\. Nothing has changed yet/);
    t.match(page.text, /latest\/edge amd64 Nothing 1 latest\/stable amd64 Nothing 1/);
    t.match(page.text, /0 downloads in the last 30 days/);
    t.same(await held(), [], 'looking changes nothing');
    const done = await atHome.send(page, form);
    t.match(done, { status: 200, text: /The revision is released\./ });
    t.match(done.address, /^\/console\/packages\/snap\/hello\?done=released$/);
    t.same(await held(), ['latest/stable amd64 1', 'latest/edge amd64 1']);
    const [entry] = await store.beside.records.audit.newest(1e9, 1);
    t.match(entry, { action: 'push_releases', object: 'snap/hello', actor: store.ids.ada });
  });

  await t.test('to some of the devices', async (t) => {
    const page = await preview('revision=2&channels=stable&percentage=20');
    t.match(page.text, /latest\/stable amd64 1 1, and 2 for 20 %/);
    t.match(await atHome.send(page, form), { text: /latest\/stable v1 , revision 1 80 % .* revision 2 20 %/ });
    t.match(await preview('revision=2&channels=stable&percentage=20'), { text: /The same/ });
    const paused = await preview('revision=2&channels=stable&percentage=20&paused=yes');
    t.match(await atHome.send(paused, form), { text: /v2 , revision 2 20 %, paused/ });
    await atHome.send(await preview('revision=2&channels=stable'), form);
    t.same(await held(), ['latest/stable amd64 2', 'latest/edge amd64 1'], 'and to the rest');
  });

  await t.test('to a branch, which ends', async (t) => {
    const page = await preview('revision=3&channels=edge/fix');
    t.match(page.text, /The branch latest\/edge\/fix ends 30 days after its last release/);
    t.match(await atHome.send(page, form), { text: /latest\/edge\/fix branch ends/ });
  });

  await t.test('and a channel is closed', async (t) => {
    const page = await preview('close=yes&channels=latest/edge');
    t.match(page.text, /Close channels of snap\/hello\? .*latest\/edge amd64 1 Nothing/);
    t.match(page.text, /Devices that follow latest\/edge then get the revision of latest\/beta/);
    t.match(await atHome.send(page, form), { text: /The channels are closed\. Devices that follow/ });
    t.same(await held(), ['latest/stable amd64 2', 'latest/edge/fix arm64 3']);
    t.match(await preview('close=yes&channels=latest/edge'), { text: /are empty, so nothing changes/ });
    t.match(await preview('close=yes&channels=latest/stable'), {
      text: /then keep their revision and get no further ones/,
    });
  });

  await t.test('an impossible release is reported in advance, and refused', async (t) => {
    const cannot: [query: string, says: RegExp][] = [
      ['revision=9&channels=edge', /'hello' has no revision 9/],
      ['revision=1&channels=2.0/edge', /'hello' has no track '2.0'; it has latest/],
      ['revision=1&channels=a/b/c/d', /'a\/b\/c\/d' is not a channel/],
      ['revision=1&channels=edge&percentage=101', /must be <= 100/],
      ['revision=1&channels=edge&resources=image', /'image' is not a revision of a resource/],
      ['revision=1&channels=edge&resources=image:1', /Resource 'image' is not valid/],
      ['revision=1&channels=%3Cb%3E', /'<b>' is not a channel/],
    ];
    const token = await preview('revision=1&channels=edge');
    for (const [query, says] of cannot) {
      const page = await preview(query);
      t.match(page, { status: 200, text: says }, query);
      t.notMatch(page.html, /<b>|method="post" action="[^"]+\/release"/, query);
      const sent = await atHome.send(token, form, Object.fromEntries(new URLSearchParams(query)));
      t.match(sent, { status: 400, text: says }, query);
    }
    t.match(await preview('revision=x&channels=edge'), { status: 400 });
    t.match(await preview('revision=1&channels=edge&percentage=.'), { status: 400 });
    t.match(await atHome.send(token, form, { channels: ' , ' }), { status: 400, text: /Enter a channel/ });
    t.match(await atHome.send(token, form, { revision: '' }), { status: 400, text: /Choose the revision/ });
    t.match(await atHome.send(token, form, { other: 'x' }), { status: 400 });
    await ada.post('/internal/v1/packages/snap/hello/revisions/1/withdraw', { reason: 'it burns' });
    t.match(await preview('revision=1&channels=edge'), { text: /Revision 1 of 'hello' is withdrawn .*it burns/ });
    t.same(await held(), ['latest/stable amd64 2', 'latest/edge/fix arm64 3']);
  });

  await t.test('two people at once, and the log has each', async (t) => {
    const [first, other] = [await preview('revision=2&channels=beta'), await preview('revision=2&channels=beta')];
    const both = await Promise.all([atHome.send(first, form), atHome.send(other, form)]);
    t.same(
      both.map(({ status }) => status),
      [200, 200],
    );
    t.same(await held(), ['latest/stable amd64 2', 'latest/beta amd64 2', 'latest/edge/fix arm64 3']);
  });

  await t.test('no other account may, nor any form of another page', async (t) => {
    const page = await preview('revision=2&channels=candidate');
    const bob = await store.visit('bob');
    t.match(await bob.open(`${form}?revision=2&channels=candidate`), { status: 404 });
    t.match(await bob.send(page, form), { status: 404 });
    t.match(await atHome.send(page, form, { 'form-token': 'x' }), { status: 403, text: /Check your input/ });
    t.match(await atHome.send(page, form, {}, { 'sec-fetch-site': 'cross-site' }), { status: 403 });
    t.notOk((await held()).some((heldChannel) => heldChannel.startsWith('latest/candidate')));
  });
});

t.test('the form offers revisions, channels and a share of the devices', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (let revision = 1; revision <= 10; revision++)
    await addRevision(store, id, revision, { details: { architectures: ['amd64'], grade: 'devel' } });
  const atHome = await store.visit('ada');
  const form = '/console/packages/snap/hello/release';

  await t.test('with version, date and grade, the newest first', async (t) => {
    const first = await atHome.open(form);
    t.match(first.text, /Revision Version Pushed Grade For State 10 v10 20[\d-]+ [\d:]+ UTC devel amd64/);
    t.equal(first.html.match(/type="radio"\s+name="revision"/g)?.length, 8);
    const [, older = ''] = /href="([^"]+)">Older revisions/.exec(first.html) ?? [];
    const second = await atHome.open(older.replaceAll('&amp;', '&'));
    t.match(second.html, /value="2"/);
    t.match(await atHome.open(`${form}?revision=1&channels=edge`), { html: /value="1"\s+required\s+checked/ });
  });

  await t.test('and takes ticked risks of a track and only the fields of the chosen reach', async (t) => {
    const ticked = await atHome.open(
      `${form}?revision=2&track=latest&beta=yes&edge=yes&channels=edge/fix&reach=all&percentage=10`,
    );
    t.match(ticked.text, /latest\/beta amd64 Nothing 2 latest\/edge amd64 Nothing 2 latest\/edge\/fix amd64 Nothing 2/);
    t.match(await atHome.open(`${form}?revision=2&edge=yes&reach=share&percentage=10&steps=5`), {
      text: /latest\/edge amd64 Nothing 2 for 10 %/,
    });
    t.match(await atHome.open(`${form}?revision=2&edge=yes&reach=steps&percentage=10&steps=5`), {
      text: /latest\/edge amd64 Nothing 2 for 5 %/,
    });
    t.match(ticked.html, /name="beta" value="yes" checked/);
    t.match(ticked.html, /<details class="more" open>/, 'the branch is in the field of other channels');
  });
});

t.test('the last change of the channels is undone', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const [revision, architecture] of ['amd64', 'arm64', 'amd64', 'arm64'].entries())
    await addRevision(store, id, revision + 1, { details: { architectures: [architecture] } });
  const release = async (...entries: object[]) => {
    store.clock.advance(minutes(1));
    t.match(await ada.post('/v1/snap/hello/releases', entries), { status: 200 });
  };
  const held = async (): Promise<string[]> =>
    ((await ada.get('/v1/snap/hello/releases')).body['channel-map'] as Record<string, unknown>[]).map(
      ({ channel, revision, architecture }) => `${String(channel)} ${String(architecture)} ${String(revision)}`,
    );
  const atHome = await store.visit('ada');
  const packagePath = '/console/packages/snap/hello';
  const form = `${packagePath}/release`;
  const undo = async () => {
    const page = await atHome.open(packagePath);
    const [, address = ''] = /href="([^"]+\?undo=\d+)"/.exec(page.html) ?? [];
    const preview = await atHome.open(address);
    store.clock.advance(minutes(1));
    return { page, preview, done: await atHome.send(preview, form) };
  };
  await release({ channel: 'stable', revision: 1 });
  await release({ channel: 'stable', revision: 3 }, { channel: 'candidate', revision: 3 });

  await t.test('in all its channels, after a preview', async (t) => {
    const { page, preview, done } = await undo();
    t.match(page.text, /Last change: ada released 3 to latest\/stable , latest\/candidate/);
    t.match(preview.text, /Undo the last change of snap\/hello\? This is a preview/);
    t.match(preview.text, /latest\/stable amd64 3 1 latest\/candidate amd64 3 Nothing/);
    t.match(done, { status: 200, text: /The last change is undone/ });
    t.same(await held(), ['latest/stable amd64 1']);
  });

  await t.test('for one architecture, without a loss for the others', async (t) => {
    await release({ channel: 'stable', revision: 2 });
    const { preview } = await undo();
    t.match(preview.text, /latest\/stable amd64 1 The same latest\/stable arm64 2 Nothing/);
    t.same(await held(), ['latest/stable amd64 1']);
  });

  await t.test('at once for all devices, also after a release to some of them', async (t) => {
    await release({ channel: 'stable', revision: 3, progressive: { percentage: 10, paused: false } });
    t.match((await undo()).preview.text, /latest\/stable amd64 1, and 3 for 10 % 1/);
    t.same(await held(), ['latest/stable amd64 1']);
  });

  await t.test('but not if the channels have changed since the page was shown', async (t) => {
    await release({ channel: 'stable', revision: 3 });
    const page = await atHome.open(packagePath);
    const [, address = ''] = /href="([^"]+\?undo=\d+)"/.exec(page.html) ?? [];
    const preview = await atHome.open(address);
    await release({ channel: 'edge', revision: 4 });
    t.match(await atHome.send(preview, form), { status: 409, text: /The channels have changed since then/ });
    t.match(await atHome.open(address), { text: /The channels have changed since then/ });
    t.match(await atHome.open(`${form}?undo=x`), { status: 400 });
    t.same(await held(), ['latest/stable amd64 3', 'latest/edge arm64 4']);
  });
});

t.test('a charm is released with its resources', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/charm', { name: 'harbour' })).body as { id: string };
  await addRevision(store, id, 1, {
    details: { bases: [{ name: 'ubuntu', channel: '24.04', architecture: 'amd64' }] },
  });
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'declare', object: 'x' }, async (tx) => {
    await tx.resources.declare(id, 1, { name: 'image', type: 'file', optional: false });
    await tx.resourceRevisions.add({
      packageId: id,
      name: 'image',
      revision: 3,
      type: 'file',
      size: 1,
      bases: [],
      architectures: null,
      sha256: 'a',
      sha3_384: 'b'.repeat(96),
      sha384: 'c',
      sha512: 'd',
      packageRevision: null,
      createdAt: at,
      createdBy: store.ids.ada,
    });
  });
  const atHome = await store.visit('ada');
  const form = '/console/packages/charm/harbour/release';
  t.match(await atHome.open(`${form}?revision=1&channels=edge`), { text: /Resource 'image' doesn't have a released/ });
  const page = await atHome.open(`${form}?revision=1&channels=edge&resources=image:3`);
  t.match(page.text, /latest\/edge ubuntu\/24\.04\/amd64 Nothing 1 with image 3/);
  const done = await atHome.send(page, form);
  t.match(done.text, /Channel ubuntu\/24\.04\/amd64 .*latest\/edge v1 , revision 1/);
  t.match((await atHome.open('/console/packages/charm/harbour/resources')).text, /image file 3 latest\/edge: 3/);
  t.match(done.text, /export CHARMCRAFT_STORE_API_URL=/);
});

t.test('a release under the policy waits, and is done after its approval', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const revision of [1, 2]) await addRevision(store, id, revision, { details: { architectures: ['amd64'] } });
  await store.setPassword('bob');
  await store.setTotp('bob');
  await configure(store, `releases = ["1 of ${store.ids.bob} for snap/*:*/stable"]`);
  const atHome = await store.visit('ada');
  const form = '/console/packages/snap/hello/release';
  const held = async () => (await ada.get('/v1/snap/hello/releases')).body['channel-map'] as object[];

  const free = await atHome.open(`${form}?revision=1&channels=edge`);
  t.notMatch(free.text, /approval/);
  const asking = await atHome.open(`${form}?revision=1&channels=stable`);
  t.match(
    asking.text,
    /The approval policy requires 1 approval\. The release becomes a proposal first\. Who may approve: bob\./,
  );
  t.match(asking.text, /Propose: Release revision 1 to stable/);
  t.equal((await store.beside.records.proposals.list({ before: 1e9, openAt: undefined }, 9)).length, 0);
  const waits = await atHome.send(asking, form);
  t.match(waits, { status: 200, text: /The release is proposed and waits for approvals\. Nothing has changed yet/ });
  t.match(waits.text, /This release waits as proposal 1 for 1 more approval, until 20.*Who may approve: bob/);
  t.match(waits.html, /href="\/console\/waiting\/proposals\/1"/);
  t.notMatch(waits.html, /method="post" action="[^"]+\/release"/, 'there is nothing to press meanwhile');
  t.same(await held(), []);

  const login = { accountId: store.ids.bob, at: store.clock.now.toISOString() };
  await store.beside.acts.do(approveProposal, { actor: store.ids.bob }, { number: 1, login });
  const approved = await atHome.open(`${form}?revision=1&channels=stable`);
  t.match(approved.text, /This release is approved as proposal 1 \. You can carry it out now\./);
  t.match(await atHome.send(approved, form), { text: /The revision is released/ });
  t.match(await held(), [{ channel: 'latest/stable', revision: 1 }]);

  await atHome.send(await atHome.open(`${form}?revision=2&channels=stable`), form);
  await store.beside.acts.do(
    rejectProposal,
    { actor: store.ids.bob },
    { number: 2, login, reason: 'not <b>before</b> Monday' },
  );
  const rejected = await atHome.open(`${form}?revision=2&channels=stable`);
  t.match(
    rejected.text,
    /This release was rejected as proposal 2 : not <b>before<\/b> Monday \. You can propose it again from/,
  );
  t.notMatch(rejected.html, /<b>before|method="post" action="[^"]+\/release"/);
});
