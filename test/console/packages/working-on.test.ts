// Changes by publishers in the console beside releases: description, tracks, collaborators.
import t from 'tap';

import { addRevision } from '#test/fixtures/packages/packages.ts';
import { startConsole } from '#test/console/world.ts';

const marked = `<b>"bold"</b> 'x'`;

t.test('changes by publishers to a package', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  const admin = await store.as('root');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  await addRevision(store, id, 1);
  await store.join('carol');
  const [atHome, stranger, root] = [await store.visit('ada'), await store.visit('bob'), await store.visit('root')];
  const carol = await store.visit('carol');
  const packagePath = '/console/packages/snap/hello';
  const [describe, tracks, people] = [
    `${packagePath}/describe`,
    `${packagePath}/tracks`,
    `${packagePath}/collaborators`,
  ];
  const metadata = async () => (await ada.get('/v1/snap/hello')).body.metadata as Record<string, unknown>;
  const acts = async (): Promise<string[]> =>
    ((await admin.get('/internal/v1/audit?object=snap/hello')).body.entries as { action: string }[]).map(
      ({ action }) => action,
    );

  await t.test('is there for its people alone', async (t) => {
    for (const page of [describe, tracks, `${tracks}/latest`, people, `${people}/${store.ids.bob}/remove`]) {
      t.match(await store.visitor().open(page), { status: 401 }, page);
      t.match(await stranger.open(page), { status: 404, text: /no part in it/ }, page);
    }
    t.match((await atHome.open(packagePath)).html, `href="${describe}"`);
    t.match(await root.open(describe), { status: 200 }, 'whoever administers the store acts as its publisher');
  });

  await t.test('is described, and only the fields that were changed on the page are written', async (t) => {
    const page = await atHome.open(describe);
    const other = await root.open(describe);
    const fields = { title: marked, website: 'https://example.com/a\nhttps://example.com/b', source: 'git' };
    t.match(await atHome.send(page, describe, fields), { status: 200, text: /The description is changed/ });
    t.match(await metadata(), { title: marked, summary: null, links: { source: ['git'] }, website: /\/a$/ });
    // The page of bob is older than the change by ada, and bob has changed another field.
    t.match(await root.send(other, describe, { summary: 'It greets' }), { status: 200 });
    t.match(await metadata(), { title: marked, summary: 'It greets', links: { website: [/a$/, /b$/] } });
    const again = await atHome.open(describe);
    t.notMatch(again.html, /<b>/);
    t.match(await atHome.send(again, describe), { text: /No changes were made/ });
    t.equal((await acts()).filter((act) => act === 'update_package_metadata').length, 2, 'nothing was done by that');
    const none = { title: '', website: '', source: '', summary: '' };
    await atHome.send(await atHome.open(describe), describe, {
      ...none,
      description: 'One\r\ntwo',
      seen: 'by its people',
    });
    t.match(await metadata(), { title: null, summary: null, description: 'One\ntwo', private: true, links: {} });
  });

  await t.test('refuses an invalid description, and shows the typed values again', async (t) => {
    const page = await atHome.open(describe);
    const refused = await atHome.send(page, describe, { contact: 'javascript:alert(1)', title: 'kept' });
    t.match(refused, { status: 400, text: /not an address that begins with https/ });
    t.match(refused.html, /value="kept"/, 'what was typed is there to be mended');
    t.match(refused.html, /<input type="hidden" name="shown"/);
    const many = Array.from({ length: 6 }, (_, at) => `https://example.com/${String(at)}`).join('\n');
    t.match(await atHome.send(page, describe, { docs: many }), { status: 400, text: /at most five addresses/ });
    t.match(await atHome.send(page, describe, { 'default-track': 'none' }), { status: 400, text: /is not a track/ });
    t.match(await atHome.send(page, describe, { seen: 'by me' }), { status: 400 });
    t.match(
      await stranger.send(page, describe, { title: 'x' }),
      { status: 404 },
      'a page of hers does nothing for him',
    );
    t.match(await metadata(), { title: null });
  });

  await t.test('gets the tracks that its guardrails allow', async (t) => {
    const none = await atHome.open(tracks);
    t.match(none.text, /No track can be created yet\. .*larder guardrail add snap\/hello/);
    t.notMatch(none.html, /name="track"/);
    await admin.post('/internal/v1/packages/snap/hello/guardrails', { pattern: '[0-9]+' });
    const page = await atHome.open(tracks);
    t.match(page.text, /latest Anything All at once/);
    const made = await atHome.send(page, tracks, { track: '2', 'version-pattern': '2\\.*', phasing: '10' });
    t.match(made.text, /The track is created.* 2 2\\\.\* in steps of 10 %/);
    t.match(await atHome.send(page, tracks, { track: '2' }), { status: 409, text: /Conflicting track exists/ });
    t.match(await atHome.send(page, tracks, { track: 'two' }), { status: 400, text: /matches no track guardrail/ });
    t.match(await atHome.send(page, tracks, { track: '3', phasing: 'x' }), {
      status: 400,
      text: /number from 0 to 100/,
    });
    t.match(await atHome.send(page, tracks, { track: '3', phasing: '101' }), { status: 400, text: /above 100/ });
    t.match(await stranger.send(page, tracks, { track: '4' }), { status: 404 });

    const trackPage = await atHome.open(`${tracks}/2`);
    const changed = await atHome.send(trackPage, `${tracks}/2`, { 'version-pattern': marked, phasing: '' });
    t.match(changed.html, /value="&lt;b&gt;/);
    t.match(changed, { text: /The track is changed/ });
    const described = await atHome.open(describe);
    t.match(await atHome.send(described, describe, { 'default-track': '2' }), { status: 200 });
    const confirmation = await atHome.open(`${tracks}/2/delete`);
    t.match(confirmation.text, /Delete the track 2\? A track can be deleted only while/);
    t.match(await atHome.send(confirmation, `${tracks}/2/delete`), { status: 409, text: /is the default track/ });
    await atHome.send(await atHome.open(describe), describe, { 'default-track': '' });
    t.match(await atHome.send(confirmation, `${tracks}/2/delete`), { status: 200, text: /The track is deleted/ });
    t.match(await atHome.open(`${tracks}/2`), { status: 404, text: /has no track '2'/ });
    t.notMatch((await atHome.open(`${tracks}/latest`)).html, /\/delete"/, 'latest belongs to every package');
  });

  await t.test('has the collaborators that its publisher invites', async (t) => {
    const page = await atHome.open(people);
    t.match(page.text, /ada publishes this package.*There are no collaborators yet\. Invite one below/);
    t.match(await atHome.send(page, people, { email: 'nobody@example.com' }), {
      text: /The request failed.*nobody@example/,
    });
    const [bob] = [(await store.beside.records.accounts.find(store.ids.bob))!];
    const invited = await atHome.send(page, people, { email: bob.email });
    t.match(invited.text, new RegExp(`The invite is made and waits.*${bob.email} 20`));
    const back = await atHome.send(invited, `${people}/revoke`);
    t.match(back, { status: 200, text: /The invite is revoked.*No invite waits/ });
    await atHome.send(back, people, { email: bob.email });
    const [waiting] = (await (await store.as('bob')).get('/internal/v1/invites')).body.invites as object[];
    t.match(waiting, { name: 'hello' });
    await (await store.as('bob')).post('/internal/v1/packages/snap/hello/invite/answer', { accept: true });

    const his = await stranger.open(people);
    t.match(his, { status: 200, text: /bob 20/ });
    t.notMatch(his.html, /name="email"|\/remove"/, 'a collaborator cannot say who else may');
    t.match(await stranger.open(`${people}/${bob.id}/remove`), { status: 403, text: /Only the publisher/ });
    t.match(await stranger.send(page, people, { email: 'carol@example.com' }), { status: 403 });
    t.match(await stranger.open(describe), { status: 200 }, 'but he describes it');
    t.match(await carol.open(people), { status: 404 });

    const remove = `${people}/${bob.id}/remove`;
    const confirmation = await atHome.open(remove);
    t.match(confirmation.text, /Remove bob from snap\/hello\? From the next request on/);
    t.match(await stranger.open(packagePath), { status: 200 }, 'who only looks has taken nobody away');
    t.match(await atHome.send(confirmation, remove), { status: 200, text: /no longer collaborates on the package/ });
    t.match(await stranger.open(packagePath), { status: 404 });
    t.match(await atHome.open(remove), { status: 404, text: /This account does not collaborate/ });
  });

  const done = new Set(await acts());
  for (const act of ['create_tracks', 'update_track', 'delete_track', 'invite_collaborators', 'revoke_invites']) {
    t.ok(done.has(act), `${act} is what programs do too`);
  }
});
