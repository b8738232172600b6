// larder package push: a file of this host becomes a revision, while nothing serves and beside a serving process.
import t from 'tap';
import { chmodSync, mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { changeConfig } from '#configuration/config.ts';
import { openStore } from '#data/store.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { charm, zip } from '#test/fixtures/packages/archives.ts';
import { squashfsImage } from '#test/fixtures/packages/squashfs-image.ts';
import { snapPath } from '#test/review/fixtures.ts';
import { folder, newStore, serve, start, withoutOthers } from '#test/cli/process.ts';

t.setTimeout(600_000);

const resources = 'resources:\n  config: {type: file, filename: c}\n';

async function world(t: Parameters<typeof newStore>[0]) {
  const store = await newStore(t);
  const place = folder(t);
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(place, name), content);
    return join(place, name);
  };
  await store.larder('account create --id bob-id --email bob@example.org --username bob --display-name Bob');
  for (const name of ['snap/tiny-app', 'charm/hello']) await store.larder(`package register ${name} --account bob-id`);
  const handle = await openStore({ directory: store.data });
  t.teardown(handle.close);
  return { ...store, place, file, records: handle.records };
}

/** The rows and entries of a push in the records, without the values that differ from push to push. */
async function leftBy({ records }: Pick<Awaited<ReturnType<typeof world>>, 'records'>, name: string, revision: number) {
  const { id } = (await records.packages.find('snap', name))!;
  const { createdAt, ...row } = (await records.revisions.find(id, revision))!;
  const entries = (await records.audit.newest(Number.MAX_SAFE_INTEGER, 20))
    .filter(({ action }) => /^(?:push_revision|approve_upload|push_releases)$/.test(action))
    .slice(0, 3)
    .map(({ action, actor, object, details }) => ({
      action,
      actor: actor.replace(/^cli:.*/, 'cli'),
      object,
      details,
    }));
  t.ok(createdAt);
  return { row, entries };
}

t.test('a snap is pushed and released while nothing serves, with its rows and entries', async (t) => {
  const store = await world(t);
  const { json, larder, records } = store;
  const result = await json(`package push ${snapPath('app-xz')} --release edge,beta`);
  t.match(result, {
    package: 'snap/tiny-app',
    status: 'approved',
    resource: null,
    revision: 1,
    size: statSync(snapPath('app-xz')).size,
    released: ['latest/edge', 'latest/beta'],
  });
  const { row, entries } = await leftBy(store, 'tiny-app', 1);
  t.match(row, { revision: 1, createdBy: 'bob-id', sha3_384: result['sha3-384'], status: 'released' });
  t.match(entries, [
    { action: 'push_releases', actor: 'cli', object: 'snap/tiny-app' },
    { action: 'approve_upload', actor: 'larder', object: 'snap/tiny-app' },
    { action: 'push_revision', actor: 'cli', object: 'snap/tiny-app', details: /"for":"bob-id".*"from":"this host"/ },
  ]);
  t.match(await larder(`package push ${snapPath('app-xz')}`), {
    code: 1,
    err: /is revision 1 of snap\/[\w-]+ already; release it with 'larder release snap\/[\w-]+ 1 CHANNEL'/,
  });
  t.match(await larder(`package push ${snapPath('app-zstd')} --package snap/tiny-app`), {
    code: 0,
    out: /app-zstd\.snap is revision 2 of snap\/tiny-app\.\n$/,
  });
  t.same(await records.unclaimedUploads.count(), 0);
  t.same(await readdir(join(store.data, 'blobs/tmp')), []);
});

t.test('a push reports an unused icon, with the reason', async (t) => {
  const store = await world(t);
  const snap = squashfsImage({ 'meta/snap.yaml': "name: tiny-app\nversion: '1'\n", 'meta/gui/icon.png': 'GIF89a' });
  const path = store.file('a.snap', snap);
  const notice = 'meta/gui/icon.png is not used as the icon: it is neither a PNG nor a JPEG nor an SVG. Use an';
  await store.larder('package manual-review snap/tiny-app on');
  t.match(await store.larder(`package push ${path}`), { code: 1 });
  t.match(await store.larder('review list'), { out: `bytes\n  ${notice}` });
  const { uploads } = await store.json('review list');
  t.match(uploads, [{ notices: [notice] }]);
  await store.larder('package manual-review snap/tiny-app off');
  await store.larder(`review approve ${uploads[0]['upload-id']}`);

  const again = store.file('b.snap', Buffer.concat([snap, Buffer.alloc(4096)]));
  t.match(await store.larder(`package push ${again}`), {
    code: 0,
    out: `b.snap is revision 2 of snap/tiny-app.\n${notice}`,
  });
  const good = squashfsImage({ 'meta/snap.yaml': "name: tiny-app\nversion: '3'\n" });
  t.match(await store.json(`package push ${store.file('c.snap', good)}`), { revision: 3, notices: [] });
});

t.test(
  'a charm and its resource are pushed beside a serving process, and go the way to the devices and back',
  async (t) => {
    const store = await world(t);
    const { data, json, larder, file } = store;
    await serve(t, data);
    const hello = file('hello.charm', charm('hello', {}, resources));
    t.match(await json(`package push ${hello} --yes`), { package: 'charm/hello', revision: 1, released: [] });
    t.match(await json(`package push-resource charm/hello config ${file('config', 'content')}`), {
      package: 'charm/hello',
      resource: 'config',
      revision: 1,
      size: 7,
    });
    t.match(await larder('release charm/hello 1 edge'), { code: 1, err: /Resource 'config' doesn't have a released/ });
    t.match(await larder('release charm/hello 1 edge --resource config:2'), { code: 1, err: /does not exist/ });
    t.match(await larder('release charm/hello 1 edge --resource config'), { code: 2, err: /write it as config:2/ });
    t.match(await larder('release charm/hello 1 edge --resource config:1'), { code: 0, err: '' });
    t.match(await json('status charm/hello'), { channels: [{ channel: 'latest/edge', revision: 1 }] });
    t.match(
      await json(
        'package push ' + file('next.charm', charm('hello', { dispatch: 'other' }, resources)) + ' --release edge',
      ),
      { released: ['latest/edge'] },
      'what the channel held stays',
    );
    t.match(await larder('close charm/hello edge --yes'), { code: 0, out: /Closed latest\/edge/ });
    t.match(await json('status charm/hello'), { channels: [] });
    t.match(await json(`package push-resource charm/hello nothing ${file('config', 'content')}`), {
      code: 'resource-not-found',
      error: /no resource 'nothing'/,
    });
  },
);

t.test('of two who push the same at once one gets a revision', async (t) => {
  const { data } = await world(t);
  const line = ['package', 'push', snapPath('app-xz'), '--json', '--data', data];
  const both = await Promise.all([start(t, line).ended, start(t, line).ended]);
  t.same(both.map(({ code }) => code).sort(), [0, 1]);
  t.match(both.find(({ code }) => code === 1)?.err, /is revision 1 of snap\/[\w-]+ already; release it with/);
});

t.test('an upload in manual review is no revision, and nothing is released', async (t) => {
  const { json, larder } = await world(t);
  await larder('package manual-review snap/tiny-app on');
  const waits = await larder(`package push ${snapPath('app-xz')} --release stable`);
  t.match(waits, { code: 1, err: '', out: /waits for a person, .*'larder review approve [0-9a-f-]{36}'/ });
  t.match(await json('status snap/tiny-app'), { channels: [] });
  const [, id] = /approve ([0-9a-f-]+)/.exec(waits.out)!;
  t.match(await json(`review approve ${id}`), { revision: 1 });
});

t.test('a push that cannot succeed is refused with the remedy, before anything is stored', async (t) => {
  const { data, json, larder, file, place, records } = await world(t);
  mkdirSync(join(place, 'folder'));
  const other = file('other.charm', charm('other'));
  const cases: [string, number, RegExp][] = [
    [`${place}/gone.snap`, 1, /cannot read .*gone\.snap: there is no/],
    [`${place}/folder`, 1, /folder is a folder; name the file in it/],
    ['/dev/zero', 1, /\/dev\/zero is not a file/],
    [file('empty', ''), 1, /is empty/],
    [file('text', 'hello'), 1, /text does not name its package; name it with --package/],
    [file('broken.snap', 'hsqs, and no more'), 1, /broken\.snap is rejected: ./],
    [file('nameless.charm', zip({ 'metadata.yaml': 'summary: x\n' })), 1, /name it with --package/],
    [file('strange.charm', zip({ 'metadata.yaml': 'name: A B\n' })), 1, /is rejected: The package name 'A B'/],
    [other, 1, /There is no package charm\/other\. .*'larder package register charm\/other --account ID'/],
    [`${other} --package charm/hello`, 1, /is rejected: .*called 'other'.*pushed to 'hello'/],
    [`${other} --package hello`, 2, /a package is named NAMESPACE\/NAME/],
    [`${other} --release sharp/er/x/y`, 2, /is not a channel/],
    [
      `${snapPath('app-xz')} --release 9/stable`,
      1,
      /It is revision 1 of snap\/tiny-app, but not released: .*no track '9'/,
    ],
  ];
  for (const [line, code, pattern] of cases)
    t.match(await larder(`package push ${line}`), { code, out: '', err: pattern }, line);
  t.equal(await records.unclaimedUploads.count(), 0);
  changeConfig(join(data, 'larder.toml'), { 'uploads.max_size': 100 });
  t.match(await json(`package push ${snapPath('app-zstd')} --quiet`), { code: 'request-too-large' });
  changeConfig(join(data, 'larder.toml'), { 'uploads.max_size': 2 ** 30, 'uploads.reserve': '900 TiB' });
  t.match(await json(`package push ${snapPath('app-zstd')} --quiet`), { code: 'insufficient-storage' });
  t.same(await readdir(join(data, 'blobs/tmp')), []);
});

largeTest('of a file that changes while it is read, or a command that is ended, nothing is left', async (t) => {
  const { data, file, records } = await world(t);
  for (const end of ['shrinks', 'killed', 'interrupted'] as const) {
    // It has a hole of so many bytes that there is time for it.
    const large = file(`${end}.bin`, '');
    truncateSync(large, 2 ** 31);
    const running = start(t, ['package', 'push', large, '--package', 'charm/hello', '--json', '--data', data]);
    await running.says(/"progress":"reading/);
    if (end === 'shrinks') truncateSync(large, 1000);
    else running.child.kill(end === 'killed' ? 'SIGKILL' : 'SIGINT');
    const { code, signal, err } = await running.ended;
    if (end === 'shrinks') t.match({ code, err }, { code: 1, err: /was changed while it was read/ });
    if (end === 'killed') t.equal(signal, 'SIGKILL');
    if (end === 'interrupted') t.equal(code, 130);
    t.equal(
      (await readdir(join(data, 'blobs/tmp'))).length,
      end === 'shrinks' ? 0 : 1,
      `${end}: but what a killed one wrote`,
    );
    t.equal(await records.unclaimedUploads.count(), 0);
  }
  await serve(t, data);
  t.same(await readdir(join(data, 'blobs/tmp')), [], 'which the next start takes away');
});

t.test(
  'a file that only root may read is pushed by root to the store of another user',
  { skip: withoutOthers() },
  async (t) => {
    const { data, place, file } = await world(t);
    const { chownSync, readdirSync } = await import('node:fs');
    const give = (path: string): void => {
      chownSync(path, 1234, 1234);
      if (statSync(path).isDirectory()) for (const name of readdirSync(path)) give(join(path, name));
    };
    give(data);
    chmodSync(join(data, '..'), 0o755);
    chmodSync(place, 0o700);
    const hello = file('hello.charm', charm('hello'));
    chmodSync(hello, 0o600);
    const { code, err } = await start(t, ['package', 'push', hello, '--data', data]).ended;
    t.equal(code, 0, err);
    const owners = readdirSync(data, { recursive: true, encoding: 'utf8' }).map(
      (name) => statSync(join(data, name)).uid,
    );
    t.same([...new Set(owners)], [1234]);
    const status = await start(t, ['status', 'charm/hello', '--json', '--data', data]).ended;
    t.match(JSON.parse(status.out), { channels: [] });
  },
);
