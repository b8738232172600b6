// snapd's own client of stores, unmodified, lives from this one. Needs Go and the library as Debian packages.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import t from 'tap';

import { buildClient, snapdClientMissing } from '#test/assertions/judge.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';

const skip = withoutPackages(...snapdClientMissing());
t.setTimeout(600_000);

t.test(
  'snapd installs, refreshes and shows the releases of ada, and reports errors in its words',
  { skip },
  async (t) => {
    const client = buildClient();
    const port = await freePort();
    const store = await startStore(t, (text) =>
      servingSnaps(text).replace('127.0.0.1:0', `127.0.0.1:${port}`).replaceAll(':8080', `:${port}`),
    );
    const ask = (...command: string[]) => client(store.url, ...command);
    const folder = mkdtempSync(join(tmpdir(), 'larder-snapd-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const [ada, root] = [await store.as('ada'), await store.as('root')];
    const { id } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body;
    const content = await snapFixture('app-xz');
    await ada.push('snap', 'tiny-app', content);

    const file = join(folder, 'tiny-app.snap');
    t.match(await ask('install', 'tiny-app', 'stable', file), { status: 1, stderr: /snap not found/ });
    await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'candidate', revision: 1 }]);
    t.match(await ask('install', 'tiny-app', 'stable', file), {
      status: 1,
      stderr: /no snap revision available as specified/,
    });
    t.match(await ask('install', 'tiny-app', 'edge', file), {
      status: 0,
      result: {
        Name: 'tiny-app',
        ID: id,
        Revision: 1,
        Version: '1.10',
        Channel: /candidate/,
        Base: 'core22',
        Type: 'app',
        Confinement: 'strict',
        Publisher: 'ada',
        Size: content.length,
        Digest: createHash('sha3-384').update(content).digest('hex'),
      },
    });
    t.same(readFileSync(file), content);

    const hello = (await ada.post('/v1/snap', { name: 'hello' })).body.id;
    await addRevision(store, hello, 1);
    await addRevision(store, hello, 7);
    await root.post('/internal/v1/packages/snap/hello/guardrails', { pattern: '^[0-9]+$' });
    await ada.post('/v1/snap/hello/tracks', [{ name: '2' }]);
    await ada.post('/v1/snap/hello/releases', [
      { channel: 'latest/stable', revision: 1 },
      { channel: '2/edge', revision: 7 },
    ]);
    t.match(await ask('refresh', hello, '1', 'latest/stable'), { status: 1, stderr: /no updates available/ });
    t.match(await ask('refresh', hello, '1', '2/edge'), { status: 0, result: { Revision: 7 } });
    await ada.patch('/v1/snap/hello', { 'default-track': '2' });
    t.match(await ask('info', 'hello'), {
      status: 0,
      result: { Name: 'hello', Tracks: ['2', 'latest'], Channels: { 'latest/stable': 1, '2/edge': 7 } },
    });
    t.match(await ask('info', 'nothing'), { status: 1, stderr: /snap not found/ });
  },
);

t.test('snapd finds public snaps, reads their commands, and moves a cohort together', { skip }, async (t) => {
  const client = buildClient();
  const port = await freePort();
  const store = await startStore(t, (text) =>
    servingSnaps(text).replace('127.0.0.1:0', `127.0.0.1:${port}`).replaceAll(':8080', `:${port}`),
  );
  const ask = (...command: string[]) => client(store.url, ...command);
  const file = join(mkdtempSync(join(tmpdir(), 'larder-snapd-')), 'tiny-app.snap');
  t.teardown(() => rmSync(dirname(file), { recursive: true }));
  const ada = await store.as('ada');
  const search = async (...command: string[]) => {
    const { status, result, stderr } = await ask(...command);
    if (status !== 0) throw new Error(stderr);
    return (result['Found'] as { Name: string; Channel: string }[]).map(({ Name, Channel }) => `${Name} ${Channel}`);
  };
  t.match(await ask('names'), { status: 0, result: { Names: [], Commands: {} } });
  t.same(await search('find', 'hello'), []);

  const hello = (await ada.post('/v1/snap', { name: 'hello' })).body.id;
  const packageYaml = 'name: hello\napps:\n  hello: {common-id: org.example.Hello, aliases: [hi]}\n  again: {}\n';
  await addRevision(store, hello, 1, { packageYaml, details: { apps: ['hello', 'again'] } });
  await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 1 }]);
  await ada.patch('/v1/snap/hello', { summary: 'Says hello' });
  const other = (await ada.post('/v1/snap', { name: 'hello-beta' })).body.id;
  await addRevision(store, other, 2, { details: { apps: ['hello-beta'] } });
  await ada.post('/v1/snap/hello-beta/releases', [{ channel: 'beta', revision: 2 }]);
  await ada.post('/v1/snap', { name: 'secret', private: true });
  t.same(await search('find', 'hello'), ['hello stable']);
  t.same(await search('wide', 'find', 'hello'), ['hello stable', 'hello-beta beta']);
  t.same(await search('wide', 'prefix', 'hello-'), ['hello-beta beta']);
  t.same(await search('common-id', 'org.example.Hello'), ['hello stable']);
  t.same((await ask('sections')).result['Sections'], ['featured']);
  t.same(await search('wide', 'category', 'featured'), ['hello stable', 'hello-beta beta']);
  t.match(await ask('find', 'hello'), {
    result: {
      Found: [{ Name: 'hello', Version: 'v1', Publisher: 'ada', Size: 1001, CommonIDs: ['org.example.Hello'] }],
    },
  });
  t.same((await ask('names')).result, {
    Names: ['hello', 'hello-beta'],
    Commands: { hello: ['v1', 'Says hello', 'hi', 'hello', 'hello.again'], 'hello-beta': ['v2', '', 'hello-beta'] },
  });

  await ada.post('/v1/snap', { name: 'tiny-app' });
  await ada.push('snap', 'tiny-app', await snapFixture('app-xz'));
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: 1 }]);
  const { result: keys } = await ask('cohort', 'tiny-app');
  store.clock.advance(1000);
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: null }]);
  t.match(await ask('install', 'tiny-app', 'stable', file), { status: 1 }, 'the channel is closed');
  const inCohort = await ask('install', 'tiny-app', 'stable', file, String(keys['tiny-app']));
  t.match(inCohort, { status: 0, result: { Revision: 1 } }, 'but not for its cohort');
  t.match(await ask('install', 'tiny-app', 'stable', file, 'forged'), { status: 1, stderr: /cohort key/ });
  t.match(await ask('cohort', 'secret'), { status: 1, stderr: /not found/ });
});
