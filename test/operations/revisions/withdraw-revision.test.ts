// Revisions withdrawn and brought back: by HTTP and by command, by one after another and by two at once.
import t from 'tap';

import { packageObject } from '#acts/packages/package.ts';
import { addCollaborator, addRevision } from '#test/fixtures/packages/packages.ts';
import { startTwoOfEverything } from '#test/fixtures/two-of-everything.ts';
import { command, newest, startNow } from '#test/acts/ways.ts';
import { commandsOn } from '#test/cli/process.ts';

const defaultReason = 'It loses its data when it starts.';

t.test('a revision withdrawn and brought back', async (t) => {
  const store = await startNow(t);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  for (const number of [1, 2, 3, 4]) await addRevision(store, id, number);
  const path = '/internal/v1/packages/snap/hello/revisions';
  const withdraw = (revision: number | string, reason: unknown = defaultReason, who = ada) =>
    who.post(`${path}/${revision}/withdraw`, { reason });
  const restore = (revision: number | string, who = ada) => who.post(`${path}/${revision}/restore`);
  const release = (...releases: object[]) => ada.post('/v1/snap/hello/releases', releases);
  const held = async () =>
    ((await ada.get('/v1/snap/hello/releases')).body['channel-map'] as { channel: string; revision: number }[]).map(
      ({ channel, revision }) => `${channel} ${revision}`,
    );
  const status = async (revision: number) =>
    (await ada.get(`/v1/snap/hello/revisions?revision=${revision}`)).body.revisions[0].status as string;
  await release(
    { channel: 'stable', revision: 1 },
    { channel: 'edge', revision: 2 },
    { channel: 'edge/fix', revision: 2 },
    { channel: 'stable', revision: 2, progressive: { percentage: 10, paused: false } },
  );

  await t.test('its slots are emptied with audit entries, and its status is rejected', async (t) => {
    t.match(await withdraw(2), {
      status: 200,
      body: { revision: 2, channels: ['latest/edge', 'latest/edge/fix', 'latest/stable'] },
    });
    t.same(await held(), ['latest/stable 1'], 'what it lay over goes on');
    t.equal(await status(2), 'rejected');
    t.match(await newest(store), {
      action: 'withdraw_revision',
      object: 'snap/hello',
      details: { revision: 2, because: defaultReason, channels: ['latest/edge', 'latest/edge/fix', 'latest/stable'] },
    });
    const history = (await (await store.as('root')).get('/internal/v1/packages/snap/hello')).body.history as object[];
    t.match(history.slice(0, 2), [
      { channel: 'latest/edge/fix', revision: null, before: 2, who: store.ids.ada },
      { channel: 'latest/edge', revision: null, before: 2 },
    ]);
    const { body } = await ada.get(path);
    t.match(body.revisions[2], { revision: 2, status: 'rejected', channels: [], withdrawn: { reason: defaultReason } });
    t.match(body.revisions[3], { revision: 1, status: 'released', channels: ['latest/stable'], withdrawn: null });
  });

  await t.test('nothing releases it, and a release of several beside it does nothing', async (t) => {
    const { status, body } = await release({ channel: 'beta', revision: 1 }, { channel: 'edge', revision: 2 });
    t.match([status, body['error-list'][0]], [400, { code: 'api-error', message: /withdrawn .*restored: It loses/ }]);
    t.same(await held(), ['latest/stable 1']);
    t.match(await withdraw(2), {
      status: 409,
      body: { 'error-list': [{ code: 'conflict', message: /already: It loses/ }] },
    });
  });

  await t.test('a restored revision is unchanged, in no channel', async (t) => {
    t.match(await restore(2), { status: 200, body: { revision: 2 } });
    t.equal(await status(2), 'released', 'as one that was in a channel');
    t.same(await held(), ['latest/stable 1']);
    t.match(await restore(2), { status: 409, body: { 'error-list': [{ message: /is not withdrawn/ }] } });
    t.match(await release({ channel: 'edge', revision: 2 }), { status: 200 });
    await withdraw(4);
    await restore(4);
    t.equal(await status(4), 'approved', 'as one that never was');
  });

  await t.test('twice at once: one request does it, the other is told', async (t) => {
    const twice = (work: () => Promise<{ status: number }>) =>
      Promise.all([work(), work()]).then((both) => both.map(({ status }) => status).sort());
    t.same(await twice(() => withdraw(3)), [200, 409]);
    t.same(await twice(() => restore(3)), [200, 409]);
    const [withdrawn, released] = await Promise.all([withdraw(3), release({ channel: 'beta', revision: 3 })]);
    t.equal(withdrawn.status, 200);
    t.notOk((await held()).includes('latest/beta 3'), `whichever came first; the release answered ${released.status}`);
    await restore(3);
  });

  await t.test('an impossible change, and a foreign package, change nothing', async (t) => {
    const narrowed = await Promise.all([
      store.as('ada', { channels: ['latest/edge'] }),
      store.as('ada', { permissions: ['package-manage-revisions'] }),
    ]);
    const before = await newest(store);
    for (const reason of ['', ' ', 'x'.repeat(1001), 'two\nlines', 'a\u0007', 'a\u2028b', 7, null]) {
      t.match(await withdraw(1, reason), { status: 400 }, encodeURIComponent(String(reason)).slice(0, 20));
    }
    t.match(await ada.post(`${path}/1/withdraw`, { reason: defaultReason, because: 'x' }), { status: 400 });
    t.match(await ada.post(`${path}/1/withdraw`), { status: 400 });
    for (const number of ['0', '-1', '01', '1.5', 'x', '9'.repeat(30), '99']) {
      t.match(await withdraw(number), { status: 404 }, number);
      t.match(await restore(number), { status: 404 }, number);
    }
    const [others, nowhere] = [
      await withdraw(1, defaultReason, bob),
      await bob.post(path.replace('hello', 'none') + '/1/restore'),
    ];
    t.match([others.status, nowhere.status], [404, 404]);
    t.equal(
      others.body['error-list'][0].message,
      nowhere.body['error-list'][0].message.replace('none', 'hello'),
      'one answer for what is not there and what is not his',
    );
    for (const client of narrowed) {
      for (const reply of [await withdraw(1, defaultReason, client), await restore(1, client)]) {
        t.match(reply, { status: 401, body: { 'error-list': [{ code: 'permission-required' }] } });
      }
    }
    for (const query of ['page-size=0', 'page-size=501', 'cursor=x', 'page-size=x']) {
      t.match(await ada.get(`${path}?${query}`), { status: 400 }, query);
    }
    t.same(await newest(store), before);
  });

  await t.test('the list goes page by page', async (t) => {
    const seen: number[] = [];
    for (let cursor = ''; ;) {
      const { body } = await ada.get(`${path}?page-size=3${cursor}`);
      seen.push(...(body.revisions as { revision: number }[]).map(({ revision }) => revision));
      if (body['next-cursor'] === null) break;
      cursor = `&cursor=${body['next-cursor'] as string}`;
    }
    t.same(seen, [4, 3, 2, 1]);
  });

  await t.test('a collaborator may, and a command does the same', async (t) => {
    await addCollaborator(store, id, 'bob');
    t.match(await withdraw(1, ` ${defaultReason} `, bob), { status: 200, body: { channels: ['latest/stable'] } });
    const byOperation = { entry: await newest(store), row: await store.beside.records.revisions.find(id, 1) };
    await restore(1, bob);
    const restored = await newest(store);
    await release({ channel: 'stable', revision: 1 });
    t.match(await command(store, `revision withdraw snap/hello 1 --reason "${defaultReason}" --yes`), {
      package: packageObject({ namespace: 'snap', name: 'hello' }),
      revision: 1,
      channels: ['latest/stable'],
    });
    const row = await store.beside.records.revisions.find(id, 1);
    t.same(await newest(store), byOperation.entry);
    t.same({ ...row, withdrawnAt: '', withdrawnBy: '' }, { ...byOperation.row, withdrawnAt: '', withdrawnBy: '' });
    const { larder } = commandsOn(store.directory);
    t.match(await larder('revision list snap/hello'), { code: 0, out: /^1 +v1 +withdrawn .* - +It loses its data/m });
    t.match(await command(store, 'revision list snap/hello --limit 1'), { revisions: [{ revision: 4 }] });
    t.equal(
      (await command(store, `revision withdraw snap/hello 1 --reason "${defaultReason}" --yes`))['error'],
      (await withdraw(1)).body['error-list'][0].message,
    );
    await command(store, 'revision restore snap/hello 1');
    t.same(await newest(store), restored);
    t.match(await larder('revision withdraw snap/hello x --reason y --yes'), { code: 2 });
    t.match(await larder('revision withdraw snap/hello 1 --reason " " --yes'), {
      code: 1,
      err: /A reason is one line/,
    });
  });

  await t.test('the same content pushed again names it, and brings nothing back', async (t) => {
    const content = 'content of a file';
    await ada.post('/v1/charm', { name: 'hello' });
    await ada.post('/v1/bin', { name: 'tool' });
    t.match((await ada.push('bin', 'tool', content)).body.revisions[0], { status: 'approved', revision: 1 });
    await ada.post('/internal/v1/packages/bin/tool/revisions/1/withdraw', { reason: defaultReason });
    t.match((await ada.push('bin', 'tool', content)).body.revisions[0], {
      status: 'rejected',
      errors: [{ message: /as revision 1\. It is withdrawn and can be restored: It loses/ }],
    });
  });

  await t.test('a charm has the reason in the errors of the revision', async (t) => {
    const charm = (await store.beside.records.packages.find('charm', 'hello'))!;
    await addRevision(store, charm.id, 1);
    await ada.post('/internal/v1/packages/charm/hello/revisions/1/withdraw', { reason: defaultReason });
    t.match((await ada.get('/v1/charm/hello/revisions')).body.revisions, [
      { status: 'rejected', errors: [{ code: 'withdrawn', message: defaultReason }] },
    ]);
  });
});

t.test(
  'a collaborator who withdraws and restores a revision is named, and another package is not touched',
  async (t) => {
    const { store, hello, other, bobId } = await startTwoOfEverything(t);
    for (const id of [hello, other]) await addRevision(store, id, 1, { size: id === hello ? 1001 : 1002 });
    const bob = await store.as('bob');
    for (const name of ['hello', 'other'])
      await bob.post(`/v1/snap/${name}/releases`, [{ channel: 'edge', revision: 1 }]);
    const at = '/internal/v1/packages/snap/hello/revisions/1';
    t.match(await bob.post(`${at}/withdraw`, { reason: defaultReason }), {
      status: 200,
      body: { channels: ['latest/edge'] },
    });
    const [row] = await store.beside.records.audit.newest(Number.MAX_SAFE_INTEGER, 1);
    t.match(row, { actor: bobId, action: 'withdraw_revision', object: 'snap/hello' });
    const { revisions, releases } = store.beside.records;
    t.match(await revisions.find(hello, 1), { withdrawnBecause: defaultReason });
    t.match(await revisions.find(other, 1), { withdrawnBecause: null });
    t.match(await releases.current(other, store.clock.now.toISOString()), [{ channel: 'latest/edge', revision: 1 }]);
    t.match(await bob.post(`${at}/restore`), { status: 200 });
    t.match(await revisions.find(hello, 1), { withdrawnBecause: null });
  },
);
