// Tracks changed and deleted, and guardrails by HTTP: the same as by command.
import t from 'tap';

import { command, newest, startNow } from '#test/acts/ways.ts';
import { commandsOn } from '#test/cli/process.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

t.test('tracks and guardrails', async (t) => {
  const store = await startNow(t);
  const [ada, bob, root] = [await store.as('ada'), await store.as('bob'), await store.as('root')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  await addRevision(store, id, 1);
  const base = '/internal/v1/packages/snap/hello';
  const guardrails = `${base}/guardrails`;
  const track = (name: string) => `${base}/tracks/${name}`;
  const names = async () => (await store.beside.records.tracks.list(id)).map(({ name }) => name);
  const create = (...trackNames: string[]) =>
    ada.post(
      '/v1/snap/hello/tracks',
      trackNames.map((name) => ({ name })),
    );
  const code = ({ status, body }: { status: number; body: Record<string, { code: string }[]> }) =>
    `${status} ${body['error-list']?.[0]?.code ?? ''}`.trim();
  const twice = async (work: () => Promise<{ status: number }>) =>
    (await Promise.all([work(), work()])).map(({ status }) => status).sort();

  await t.test('guardrails are added, listed and removed by HTTP as by command', async (t) => {
    const pattern = '[0-9]+\\.[0-9]+';
    t.match(await root.post(guardrails, { pattern }), { status: 201, body: { guardrails: [{ pattern }] } });
    const added = await newest(store);
    t.equal(code(await root.post(guardrails, { pattern })), '409 conflict');
    t.match(await root.post(`${guardrails}/remove`, { pattern }), { status: 200, body: { guardrails: [] } });
    const removed = await newest(store);
    t.equal(code(await root.post(`${guardrails}/remove`, { pattern })), '404 resource-not-found');
    await command(store, `guardrail add snap/hello '${pattern}'`);
    t.same(await newest(store), added);
    t.match((await root.get(guardrails)).body, await command(store, 'guardrail list snap/hello'));
    await command(store, `guardrail remove snap/hello '${pattern}' --yes`);
    t.same(await newest(store), removed);
    t.same(await twice(() => root.post(guardrails, { pattern })), [201, 409]);
    t.same(await twice(() => root.post(`${guardrails}/remove`, { pattern })), [200, 404]);
    await root.post(guardrails, { pattern });
    const before = await newest(store);
    for (const bad of ['', '(a+)+', '(?=a)', '[', 'x'.repeat(201), 7, null]) {
      t.equal((await root.post(guardrails, { pattern: bad })).status, 400, String(bad).slice(0, 9));
    }
    t.equal((await root.post(guardrails, { pattern, more: 1 })).status, 400);
    t.equal((await root.get('/internal/v1/packages/snap/nothing/guardrails')).status, 404);
    t.equal(code(await ada.get(guardrails)), '401 permission-required', 'a publisher reads them in the metadata');
    t.equal(code(await ada.post(guardrails, { pattern: 'x' })), '401 permission-required');
    t.same(await newest(store), before);
  });

  await t.test('pattern and phasing are changed separately', async (t) => {
    await create('1.0', '2.0', '3.0');
    const changed = await ada.patch(track('2.0'), { 'version-pattern': '2\\.*', 'automatic-phasing-percentage': 12.5 });
    t.match(changed, {
      status: 200,
      body: { name: '2.0', 'version-pattern': '2\\.*', 'automatic-phasing-percentage': 12.5 },
    });
    const byOperation = await newest(store);
    t.match(byOperation, { action: 'update_track', object: 'snap/hello', details: { track: '2.0' } });
    t.match(await ada.patch(track('2.0'), { 'automatic-phasing-percentage': null }), {
      body: { 'version-pattern': '2\\.*', 'automatic-phasing-percentage': null },
    });
    const output = await command(store, String.raw`track set snap/hello 2.0 --pattern '2\.*' --phasing 12.5`);
    t.same([output, await newest(store)], [changed.body, byOperation]);
    t.match((await ada.get('/v1/snap/hello')).body.metadata.tracks, [{}, {}, changed.body, {}]);
    const { larder } = commandsOn(store.directory);
    t.match(await larder('track list snap/hello'), { code: 0, out: /^2\.0 +2\\\.\* +12\.5 % /m });
    for (const body of [
      ...[{}, { 'automatic-phasing-percentage': 101 }, { 'automatic-phasing-percentage': -1 }, { name: 'x' }],
      ...[
        { 'automatic-phasing-percentage': '5' },
        { 'version-pattern': 'x'.repeat(257) },
        { 'version-pattern': 1 },
        [],
      ],
    ]) {
      t.equal((await ada.patch(track('2.0'), body)).status, 400, JSON.stringify(body).slice(0, 40));
    }
    t.equal(code(await ada.patch(track('9.9'), { 'version-pattern': null })), '404 resource-not-found');
    for (const line of ['2.0', '2.0 --phasing 101', '2.0 --phasing x', `2.0 --pattern ${'x'.repeat(257)}`]) {
      t.equal((await larder(`track set snap/hello ${line}`)).code, 2, line.slice(0, 20));
    }
    t.same(await newest(store), byOperation);
  });

  await t.test('the track that every package has is changed too, and stays in its place', async (t) => {
    const tracks = async () => (await ada.get('/v1/snap/hello')).body.metadata.tracks as object[];
    const [before, ...others] = await tracks();
    t.match(before, { name: 'latest', 'version-pattern': null, 'automatic-phasing-percentage': null });
    const changed = await ada.patch(track('latest'), { 'automatic-phasing-percentage': 25 });
    t.match(changed, { status: 200, body: { ...before, 'automatic-phasing-percentage': 25 } });
    t.same(await tracks(), [changed.body, ...others]);
    t.same((await ada.get('/v1/snap?fields=tracks')).body.results[0].tracks, [changed.body, ...others]);
    t.same((await ada.patch(track('latest'), { 'automatic-phasing-percentage': null })).body, before);
    t.same(await tracks(), [before, ...others]);
  });

  await t.test('a track is deleted when it is empty, and no other', async (t) => {
    const release = (...releases: object[]) => ada.post('/v1/snap/hello/releases', releases);
    await release({ channel: '2.0/edge/fix', revision: 1 }, { channel: '2.0/beta', revision: 1 });
    const refused = await ada.delete(track('2.0'));
    t.equal(code(refused), '409 conflict');
    t.match(refused.body['error-list'][0].message, /not empty\. Close 2\.0\/beta, 2\.0\/edge\/fix first/);
    const { error } = await command(store, 'track delete snap/hello 2.0 --yes');
    t.equal(error, refused.body['error-list'][0].message);
    await release({ channel: '2.0/beta', revision: null }, { channel: '2.0/edge/fix', revision: null });
    t.equal(code(await ada.delete(track('latest'))), '409 conflict');
    await ada.patch('/v1/snap/hello', { 'default-track': '2.0' });
    t.equal(code(await ada.delete(track('2.0'))), '409 conflict', 'the default one');
    await ada.patch('/v1/snap/hello', { 'default-track': null });
    t.same(await twice(() => ada.delete(track('2.0'))), [200, 404]);
    t.match(await newest(store), { action: 'delete_track', object: 'snap/hello', details: { track: '2.0' } });
    t.equal((await release({ channel: '2.0/edge', revision: 1 })).status, 400);
    t.match(await command(store, 'track delete snap/hello 1.0 --yes'), { name: '1.0' });
    t.same(await names(), ['latest', '3.0']);
    t.equal((await create('2.0')).status, 201, 'it may be made again');
    const [gone, filled] = await Promise.all([ada.delete(track('3.0')), release({ channel: '3.0/edge', revision: 1 })]);
    t.equal([gone, filled].filter(({ status }) => status === 200).length, 1, 'deleted or filled');
  });

  await t.test('a missing package and a foreign package look the same', async (t) => {
    const narrowed = await store.as('ada', { channels: ['2.0/edge'] });
    const before = await newest(store);
    const nowhere = '/internal/v1/packages/snap/none/tracks/2.0';
    for (const ask of [
      (path: string) => bob.delete(path),
      (path: string) => bob.patch(path, { 'version-pattern': 'x' }),
    ]) {
      const [others, none] = [await ask(track('2.0')), await ask(nowhere)];
      t.equal(others.status, 404);
      t.same(JSON.stringify(others.body), JSON.stringify(none.body).replaceAll('none', 'hello'));
    }
    t.equal(code(await narrowed.delete(track('2.0'))), '401 permission-required');
    t.equal(code(await narrowed.patch(track('2.0'), { 'version-pattern': 'x' })), '401 permission-required');
    for (const name of ['%00', '..', 'x'.repeat(300), 'a%2Fb']) {
      const { status } = await ada.delete(track(name));
      t.ok(status >= 400 && status < 500, `${name.slice(0, 9)} ${status}`);
    }
    t.same(await newest(store), before);
  });
});
