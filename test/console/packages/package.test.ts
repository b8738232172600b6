// A package and its revisions as people look at them in the console.
import t from 'tap';

import { after, days } from '#domain/clock.ts';
import { addCollaborator, addRevision } from '#test/fixtures/packages/packages.ts';
import { startConsole } from '#test/console/world.ts';

const marked = `<b>"bold"</b> 'x'`;

t.test('a package', async (t) => {
  const store = await startConsole(t, (text) =>
    text.replace(/^(# )?snap = .*$/m, 'snap = true').replace(/^(# )?remember = false/m, 'remember = true'),
  );
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const [atHome, stranger, root] = [await store.visit('ada'), await store.visit('bob'), await store.visit('root')];
  const packagePath = '/console/packages/snap/hello';

  await t.test('is there for its people alone', async (t) => {
    t.match(await store.visitor().open(packagePath), { status: 401, text: /Log in/ });
    t.match(await root.open(packagePath), { status: 200 });
    for (const below of [
      ...['', '/revisions', '/history', '/release', '/revisions/1', '/revisions/1/withdraw'],
      ...['/resources', '/vulnerabilities', '/usage', '/collaborators'],
    ]) {
      t.match(await stranger.open(packagePath + below), { status: 404, text: /no part in it/ }, below);
    }
    t.match(await atHome.open('/console/packages/snap/other'), { status: 404 });
    t.match(await atHome.open('/console/packages/shoe/hello'), { status: 404, text: /no namespace/ });
    await addCollaborator(store, id, 'bob');
    t.match(await stranger.open(packagePath), { status: 200, text: /Publisher ada Collaborators bob/ });
    for (const below of ['/resources', '/vulnerabilities', '/usage', '/collaborators'])
      t.match(await stranger.open(packagePath + below), { status: 200 }, below);
  });

  await t.test('without anything says what to do first', async (t) => {
    const { text } = await atHome.open(packagePath);
    t.match(text, /snap\/hello Publisher: ada nothing to check Channels Activity Revisions .* No revision is released/);
    t.match(text, /snapcraft release hello 1 edge/);
    const textAt = async (below: string) => (await atHome.open(packagePath + below)).text;
    t.match(await textAt('/revisions'), /no revision yet. Push one with snapcraft upload hello_1.0_amd64.snap/);
    t.match(await textAt('/history'), /No revision has been released yet/);
    t.match(await textAt('/resources'), /The newest revision declares no resources/);
    t.match(await textAt('/release'), /There is no revision to release yet/);
    const usage = await textAt('/usage');
    t.match(usage, /0 downloads in the last 30 days/);
    t.match(usage, /No device with the package called in the last 30 days\. .* since devices\.remember was turned on/);
    t.match(text, new RegExp(`export STORE_DASHBOARD_URL='${store.url}/publishergw'`));
    t.match(text, /larder token issue --account ID --for snapcraft --package snap:hello/);
  });

  await addRevision(store, id, 1, { version: '1.0', details: { architectures: ['amd64', 'arm64'] } });
  await addRevision(store, id, 2, {
    version: marked,
    details: { architectures: ['amd64'], apps: [marked], base: 'core22', confinement: 'strict' },
    packageYaml: `name: hello\nsummary: ${marked}\n${'# long\n'.repeat(2000)}`,
  });
  // The interface takes no such links; a package that was carried in may have any.
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'describe', object: 'snap/hello' }, async (tx) => {
    const existing = (await tx.packages.byId(id))!;
    await tx.packages.describe({
      ...existing,
      title: marked,
      summary: marked,
      links: {
        contact: ['javascript:alert(1)', 'mailto:ada@example.com'],
        website: ['https://example.com/?a=1&b="2"'],
      },
    });
  });

  await t.test('tells what its channels hold as snapcraft does', async (t) => {
    const release = (...entries: object[]) => ada.post('/v1/snap/hello/releases', entries);
    await release(
      { channel: 'stable', revision: 1 },
      { channel: 'candidate', revision: 2, progressive: { percentage: 20, paused: false } },
      { channel: 'edge/fix', revision: 2 },
    );
    const { text, html } = await atHome.open(packagePath);
    t.match(text, /3 channels hold something; latest\/stable holds revision 1/);
    t.match(
      text,
      /Channel amd64 arm64 Close latest\/stable 1\.0 , revision 1 1 · 20[\d-]+ [\d:]+ UTC 1\.0 , revision 1/,
    );
    t.match(
      text,
      /latest\/candidate follows stable <b>"bold"<\/b> 'x' , revision 2 20 % Promote revision 2 for amd64 to stable 2 · /,
    );
    t.match(text, /latest\/beta follows candidate latest\/edge follows candidate/);
    t.match(text, /latest\/edge\/fix branch ends 20\d\d-.*Promote revision 2 for amd64 to latest\/edge/);
    t.match(text, /Last change: ada released 1, 2 to latest\/stable , latest\/candidate , latest\/edge\/fix/);
    t.match(html, /href="\/console\/packages\/snap\/hello\/release\?revision=2&amp;channels=latest%2Fstable"/);
    t.match(html, /href="\/console\/packages\/snap\/hello\/release\?close=yes&amp;channels=latest%2Fstable"/);
    const history = await atHome.open(`${packagePath}/history`);
    t.match(history.text, /Releases When . Channel For What Before By/);
    t.match(history.text, /latest\/candidate amd64 Revision 2 for 20 % Nothing ada/);
  });

  await t.test('shows each stored text as text', async (t) => {
    const { html, text } = await atHome.open(packagePath);
    t.notMatch(html, /<b>|href="javascript:|href="mailto:/);
    t.match(html, /href="https:\/\/example\.com\/\?a=1&amp;b=%222%22" rel="noreferrer noopener"/);
    t.match(text, /Contact javascript:alert\(1\) mailto:ada@example.com/);
    const revision = await atHome.open(`${packagePath}/revisions/2`);
    t.notMatch(revision.html, /<b>/);
  });

  await t.test('shows a single track on request', async (t) => {
    await (await store.as('root')).post('/internal/v1/packages/snap/hello/guardrails', { pattern: '[0-9]+' });
    await ada.post('/v1/snap/hello/tracks', [{ name: '2' }]);
    t.match(await atHome.open(packagePath), { text: /Nothing is released in 2\./ });
    t.match(await atHome.open(`${packagePath}?track=2`), { text: /Nothing is released in the track 2 yet/ });
    t.match(await atHome.open(`${packagePath}?track=${encodeURIComponent('<b>')}`), {
      html: /the track &lt;b&gt; yet/,
    });
  });

  await t.test('counts its downloads, and the devices that say to hold it', async (t) => {
    const { beside: writableStore } = store;
    for (const back of [0, 0, 3]) {
      const day = after(store.clock.now, -days(back)).toISOString();
      writableStore.records.countEvent('download', id, day);
      writableStore.records.countEvent('download-day', `${day.slice(0, 10)} ${id}`, day);
    }
    await writableStore.records.writeCounters();
    for (const [serial, revision] of [1, 2, 2].entries()) {
      writableStore.records.noteContact({
        brand: 'acme',
        model: 'box',
        serial: String(serial),
        at: store.clock.now.toISOString(),
        holds: [{ packageId: id, revision }],
        offers: [{ packageId: id, revision: 2, channel: 'latest/stable', isHeld: false }],
      });
    }
    writableStore.records.noteContact({ brand: 'acme', model: 'box', serial: '9', at: store.clock.now.toISOString() });
    await writableStore.records.writeContacts();
    const { text, html } = await atHome.open(`${packagePath}/usage`);
    t.match(text, /3 downloads in the last 30 days; 3 in all/);
    t.match(html, /<svg[^>]*aria-label="Downloads: 2 today, 2 on the busiest of 30 days"/);
    t.match(html, /<svg[^>]*aria-label="Devices that called with the package: 3 today, 3 on the busiest of 30 days"/);
    t.match(text, /in numbers Day by day Day Downloads Devices Refreshes taken 2026-03-01 2 3 0 2026-02-28 0 0 0/);
    t.match(text, /Of 4 devices that have called, 3 have the package/);
    t.match(text, /2 2 67 % 1 1 33 %/);
    t.match(text, /Progress of refreshes Revision Channel Offered to Held Failed Taken 2 latest\/stable 3 0 0 0/);
    const refreshed = { brand: 'acme', model: 'box', serial: '0', at: store.clock.now.toISOString() };
    writableStore.records.noteContact({ ...refreshed, holds: [{ packageId: id, revision: 2 }] });
    await writableStore.records.writeContacts();
    const all = await atHome.open(`${packagePath}/usage`);
    t.match((await atHome.open(packagePath)).text, /revision 2 20 % .* · 3 devices/, 'the matrix has them too');
    t.match(all.text, /2 3 100 %/);
    t.notMatch(all.html, /class="drawing bar full"/, 'that all hold a revision is nothing to be warned of');
  });

  await t.test('has revisions, each with its known facts', async (t) => {
    const two = await atHome.open(`${packagePath}/revisions/2`);
    t.match(two.text, /snap\/hello, revision 2 Version <b>"bold"<\/b> 'x', in latest\/candidate, latest\/edge\/fix/);
    t.match(two.text, /SHA3-384 0{95}2/);
    t.match(two.text, /Base core22 Confinement strict Applications <b>/);
    t.match(two.text, /snap\.yaml The first 8\s000 of [\d\s]+ characters\. name: hello/);
    t.match(two.text, /latest\/candidate amd64 20 %/);
    t.match(await atHome.open(`${packagePath}/revisions/3`), { status: 404, text: /has no revision 3/ });
    t.match(await atHome.open(`${packagePath}/revisions/x`), { status: 404 });
  });

  await t.test('withdraws one with a reason, and brings it back', async (t) => {
    const [page, act] = [`${packagePath}/revisions/2`, `${packagePath}/revisions/2/withdraw`];
    const ask = await atHome.open(act);
    t.match(
      ask.text,
      /Withdraw revision 2 of snap\/hello\? .*removed from these channels, which are then empty: latest\/candidate, latest\/edge\/fix/,
    );
    t.match(ask.text, /Of 4 devices that have called, 3 have the package/);
    const blank = await atHome.send(ask, act, { reason: '  ' });
    t.match(blank, { status: 400, text: /A reason is one line/ });
    // Two people send it at once: it is done once.
    const other = await stranger.open(act);
    const both = await Promise.all([
      atHome.send(ask, act, { reason: `it ${marked} burns` }),
      stranger.send(other, act, { reason: 'it burns' }),
    ]);
    t.same(both.map(({ status }) => status).sort(), [200, 409]);
    const done = await atHome.open(page);
    t.match(done.text, /withdrawn: the store does not offer it/);
    t.match(done.text, /Withdrawn by (ada|bob), 20/);
    t.notMatch(done.html, /<b>/);
    t.match(await atHome.open(`${packagePath}/revisions`), { text: /withdrawn/ });
    t.match(await atHome.open(`${packagePath}/history`), { text: /edge\/fix amd64 Closed Revision 2/ });
    const back = await atHome.send(await atHome.open(act), `${page}/restore`);
    t.match(back, { status: 200, text: /The revision is restored/ });
    t.match(await atHome.open(page), { text: /in no channel/ });
    t.match(await atHome.send(back, '/console/log-out', {}), { status: 200 });
  });

  await t.test('pages of revisions and of releases have fifty each', async (t) => {
    const again = await store.visit('ada');
    for (let number = 3; number <= 52; number++) await addRevision(store, id, number, { version: `v${number}` });
    for (let number = 3; number <= 52; number++)
      await ada.post('/v1/snap/hello/releases', [{ channel: 'beta', revision: number }]);
    for (const below of ['/revisions', '/history']) {
      const first = await again.open(packagePath + below);
      t.equal(first.html.match(/<th scope="row"/g)?.length, 50, below);
      const [, next = ''] = /<a href="([^"]+)" rel="next"/.exec(first.html) ?? [];
      const second = await again.open(next.replaceAll('&amp;', '&'));
      t.match(second, { status: 200 });
      t.notMatch(second.html, /rel="next"/);
      t.match(await again.open(`${packagePath}${below}?cursor=x`), { status: 400 });
    }
    t.match(await again.open(`${packagePath}/history`), { html: /rel="next"\s*>Older releases/ });
  });

  await t.test('with very many branches names them, and stays small', async (t) => {
    const again = await store.visit('ada');
    const branches = Array.from({ length: 60 }, (_, at) => ({ channel: `beta/${'b'.repeat(100)}-${at}`, revision: 1 }));
    await ada.post('/v1/snap/hello/releases', branches);
    const { html, text } = await again.open(packagePath);
    t.match(text, /\d+ more channels of this track not shown/);
    t.ok(html.length < 150_000, `${html.length} characters`);
  });

  await t.test('shows deleted revisions, and signed ones', async (t) => {
    const again = await store.visit('ada');
    const text = `type: snap-revision\nsnap-id: ${marked}\n`;
    await store.beside.records.change({ at, actor: 'test', action: 'sign', object: 'x' }, async (tx) => {
      await tx.revisions.setDeleted(id, [51], { at, actor: 'cli:root', because: `of ${marked}` });
      await tx.assertions.keep({
        name: 'snap-revision/x',
        type: 'snap-revision',
        accountId: null,
        snapName: null,
        setName: null,
        sequence: null,
        snapId: id,
        snapRevision: 50,
        revision: 0,
        origin: 'imported',
        text,
        keptAt: at,
        keptBy: store.ids.root,
      });
      await tx.revisions.setAssertion(id, 50, 'snap-revision/x');
    });
    const deleted = await again.open(`${packagePath}/revisions/51`);
    t.match(deleted.text, /Deleted by root, on the host, 20.*: of <b>"bold"/);
    t.notMatch(deleted.html, /<b>|\/withdraw"/);
    const signed = await again.open(`${packagePath}/revisions/50`);
    t.match(signed.text, /Assertions Carried in: snap-revision\/x type: snap-revision snap-id: <b>"bold"/);
    t.notMatch(signed.html, /<b>/);
  });

  await t.test('of each kind has the lines of its own tool', async (t) => {
    const again = await store.visit('ada');
    await ada.post('/v1/rock', { name: 'quay' });
    const rock = await again.open('/console/packages/rock/quay');
    t.match(rock.text, /rockcraft pack larder package push \.\/quay_VERSION_ARCHITECTURE\.rock --package rock\/quay/);
    t.notMatch(rock.text, /Devices/);
  });

  await t.test('that was carried in says so', async (t) => {
    await store.beside.records.change({ at, actor: 'test', action: 'carry', object: 'x' }, async (tx) => {
      const foreign = { id: 'elsewhere', username: 'elsewhere', displayName: 'Else', email: 'e@example.com' };
      await tx.accounts.addForeign({ ...foreign, validation: 'unproven', createdAt: at });
      await tx.packages.setPublisher(id, 'elsewhere');
    });
    t.match(await root.open(packagePath), {
      text: /Comes from Another store\. The publisher is an account of that store/,
    });
    t.match(await root.open('/console/packages/rock/quay'), { text: /Comes from This store/ });
  });
});

t.test('a package of 40 channels and 7 architectures, with names of full length, stays on a small page', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  const name = `n${'a'.repeat(39)}`;
  const { id } = (await ada.post('/v1/snap', { name })).body as { id: string };
  const architectures = ['amd64', 'arm64', 'armhf', 'i386', 'ppc64el', 'riscv64', 's390x'];
  await (await store.as('root')).post(`/internal/v1/packages/snap/${name}/guardrails`, { pattern: '[0-9a-z.-]+' });
  const tracks = Array.from({ length: 9 }, (_, at) => `${String(at)}-${'t'.repeat(26)}`);
  t.match(
    await ada.post(
      `/v1/snap/${name}/tracks`,
      tracks.map((track) => ({ name: track })),
    ),
    { status: 201 },
  );
  for (let revision = 1; revision <= 7; revision++) {
    const version = `${String(revision)}${'\u0648\ud83c\udf0a'.repeat(10)}`;
    await addRevision(store, id, revision, { version, details: { architectures: [architectures[revision - 1]!] } });
  }
  const releases = ['latest', ...tracks].flatMap((track) =>
    ['stable', 'candidate', 'beta', 'edge'].flatMap((risk) =>
      architectures.map((_, at) => ({ channel: `${track}/${risk}`, revision: at + 1 })),
    ),
  );
  for (let at = 0; at < releases.length; at += 140)
    t.match(await ada.post(`/v1/snap/${name}/releases`, releases.slice(at, at + 140)), { status: 200 });
  const page = await (await store.visit('root')).open(`/console/packages/snap/${name}`);
  t.match(page, { status: 200, text: /40 channels hold something/ });
  t.match(page.text, /Other tracks: /);
  for (const track of tracks) t.ok(page.text.includes(track), track);
  t.ok(page.html.length < 200_000, `${String(page.html.length)} characters`);
});
