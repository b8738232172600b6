// The store as a whole, as an administrator sees it.
import t from 'tap';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addBrand } from '#test/fixtures/brands.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { addCollaborator, addRevision } from '#test/fixtures/packages/packages.ts';
import { commandsOn } from '#test/cli/process.ts';

interface Listed {
  namespace: string;
  name: string;
  bytes: number;
}

const namesOf = (packages: unknown): string[] =>
  (packages as Listed[]).map(({ namespace, name }) => `${namespace}/${name}`);

/** ada publishes two snaps and a charm, bob one snap; the first has revisions, and something in a channel. */
async function filled(store: TestAppliance): Promise<string> {
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  for (const number of [1, 2]) await addRevision(store, id, number);
  await ada.post('/v1/snap/hello/releases', [{ channel: 'edge', revision: 2 }]);
  store.clock.advance(86_400_000);
  await ada.post('/v1/snap', { name: 'world', private: true });
  await ada.post('/v1/charm', { name: 'hello' });
  await bob.post('/v1/snap', { name: 'bobs' });
  await addCollaborator(store, id, 'bob');
  return id;
}

t.test('packages, accounts, brands and storage, as list and whole', async (t) => {
  const store = await startStore(t);
  const id = await filled(store);
  const root = await store.as('root');
  const list = async (query: string) => (await root.get(`/internal/v1/packages?${query}`)).body.packages as Listed[];

  await t.test('packages by namespace and name, page by page', async (t) => {
    const packages: Listed[] = [];
    for (let cursor = ''; ;) {
      const { body } = await root.get(`/internal/v1/packages?page-size=3${cursor}`);
      packages.push(...(body.packages as Listed[]));
      if (body['next-cursor'] === null) break;
      cursor = `&cursor=${body['next-cursor'] as string}`;
    }
    t.same(namesOf(packages), ['charm/hello', 'snap/bobs', 'snap/hello', 'snap/world']);
    t.match(packages[2], { id, revisions: 2, bytes: 2003, private: false, publisher: { username: 'ada' } });
    t.match(packages[3], { revisions: 0, bytes: 0, private: true, 'released-at': null });
  });

  await t.test('by namespace, publisher, channel, size and age', async (t) => {
    t.same(namesOf(await list('namespace=charm')), ['charm/hello']);
    t.same(namesOf(await list(`publisher=${store.ids.bob}`)), ['snap/bobs']);
    t.same(namesOf(await list('channel=edge')), ['snap/hello']);
    t.same(namesOf(await list('channel=stable')), []);
    t.same(namesOf(await list('at-least=2003')), ['snap/hello']);
    t.same(namesOf(await list('at-least=2004')), []);
    const between = new Date(store.clock.now.getTime() - 3_600_000).toISOString();
    t.same(namesOf(await list(`registered-before=${between}`)), ['snap/hello']);
    t.same(namesOf(await list(`quiet-since=${between}&namespace=snap`)), ['snap/bobs', 'snap/hello', 'snap/world']);
    const longAgo = new Date(store.clock.now.getTime() - 2 * 86_400_000).toISOString();
    t.same(namesOf(await list(`quiet-since=${longAgo}&namespace=snap`)), ['snap/bobs', 'snap/world']);
  });

  await t.test('an impossible filter is refused', async (t) => {
    for (const query of [
      ...['namespace=sharp', 'channel=a/b/c/d', 'at-least=-1', 'at-least=1e3', 'at-least=1234567890123456'],
      ...['quiet-since=yesterday', 'registered-before=2026', 'cursor=x', 'cursor=', 'page-size=0', 'page-size=501'],
      ...[`publisher=${'x'.repeat(65)}`, 'namespace=', `cursor=${Buffer.from('["a"]').toString('base64url')}`],
    ]) {
      t.match(await root.get(`/internal/v1/packages?${query}`), { status: 400 }, query);
    }
    for (const path of ['accounts', 'brands', 'uploads']) {
      t.match(await root.get(`/internal/v1/${path}?page-size=0`), { status: 400 }, path);
      t.match(await root.get(`/internal/v1/${path}?cursor=x`), { status: 400 }, path);
    }
    t.match(await root.get('/internal/v1/packages/snap/nothing'), { status: 404 });
    t.match(await root.get('/internal/v1/packages/sharp/hello'), { status: 404 });
  });

  await t.test('one package whole', async (t) => {
    const { status, body } = await root.get('/internal/v1/packages/snap/hello');
    t.equal(status, 200);
    t.match(body, {
      name: 'hello',
      bytes: 2003,
      tracks: ['latest'],
      collaborators: [{ id: store.ids.bob, username: 'bob' }],
      'channel-map': [{ channel: 'latest/edge', revision: 2, version: 'v2' }],
      'newest-revisions': [{ revision: 2, status: 'released' }, { revision: 1 }],
      history: [{ who: store.ids.ada, revision: 2, before: null }],
    });
  });

  await t.test('accounts with their roles, and brands', async (t) => {
    await addBrand(store, 'bob');
    const { body } = await root.get('/internal/v1/accounts');
    const accounts = body.accounts as { username: string }[];
    const usernames = accounts.map(({ username }) => username);
    t.same(usernames, [...usernames].sort());
    t.match(
      accounts.find(({ username }) => username === 'ada'),
      { packages: 3, roles: [], 'disabled-at': null },
    );
    t.match(
      accounts.find(({ username }) => username === 'root'),
      { roles: ['store-admin'] },
    );
    t.match(await root.get('/internal/v1/brands?page-size=1'), {
      body: { brands: [{ 'account-id': store.ids.bob }], 'next-cursor': null },
    });
    t.match(await root.get('/internal/v1/accounts?page-size=1'), { body: { 'next-cursor': String } });
  });

  await t.test('the use of the disk', async (t) => {
    const { body } = await root.get('/internal/v1/storage');
    t.same(body, {
      bytes: 2003,
      packages: [{ owner: 'snap/hello', packages: 1, bytes: 2003 }],
      publishers: [{ owner: store.ids.ada, packages: 3, bytes: 2003 }],
    });
  });

  await t.test('the audit log, and the exports', async (t) => {
    const entries: { seq: number; action: string }[] = [];
    for (let cursor = ''; ;) {
      const { body } = await root.get(`/internal/v1/audit?page-size=7${cursor}`);
      entries.push(...(body.entries as typeof entries));
      if (body['next-cursor'] === null) break;
      cursor = `&cursor=${body['next-cursor'] as string}`;
    }
    t.same(
      entries.map(({ seq }) => seq),
      entries.map((_, at) => entries.length - at),
    );
    const reply = await root.get(`/internal/v1/audit?actor=${store.ids.bob}&action=register_name&object=snap/bobs`);
    t.match(reply.body.entries, [{ outcome: 'done', hash: /^[0-9a-f]{64}$/ }]);
    const former = { at: store.clock.now.toISOString(), actor: 'test', action: 'guardrail add', object: 'snap/older' };
    await store.beside.records.change(former, () => Promise.resolve());
    await store.beside.records.change({ ...former, action: 'add_guardrail' }, () => Promise.resolve());
    for (const word of ['guardrail%20add', 'add_guardrail'])
      t.match(
        (await root.get(`/internal/v1/audit?action=${word}`)).body.entries,
        [
          { act: 'add_guardrail', action: 'add_guardrail' },
          { act: 'add_guardrail', action: 'guardrail add' },
        ],
        'a former word finds all entries of its act',
      );
    t.match(await root.get('/internal/v1/audit?action=gardrail%20add'), {
      status: 400,
      body: { 'error-list': [{ code: 'api-error', message: /Did you mean 'add_guardrail'\?$/ }] },
    });
    for (const word of ['constructor', '%00', 'x'.repeat(64), '%F0%9F%98%80'])
      t.match(await root.get(`/internal/v1/audit?action=${word}`), { status: 400 });
    t.same((await root.get('/internal/v1/audit?action=scan_upload')).body, { entries: [], 'next-cursor': null });
    const { at } = reply.body.entries[0] as { at: string };
    const next = new Date(Date.parse(at) + 1).toISOString();
    const between = (from: string, to: string) => root.get(`/internal/v1/audit?object=snap/bobs&from=${from}&to=${to}`);
    t.equal((await between(at, next)).body.entries.length, 1, 'a moment belongs to what begins with it');
    t.same((await between(next, '9999-01-01T00:00:00Z')).body, { entries: [], 'next-cursor': null });
    t.same((await between('2000-01-01T00:00:00Z', at)).body, { entries: [], 'next-cursor': null });
    const { larder } = commandsOn(store.directory);
    t.equal((await larder(`audit export ${store.directory}/audit.jsonl`)).code, 0);
    const { exports } = (await root.get('/internal/v1/exports')).body;
    t.match(exports, [{ what: 'audit log', actor: /^cli:/, sha256: /^[0-9a-f]{64}$/ }]);
    t.same((await root.get('/internal/v1/exports?to=2020-01-01T00:00:00Z')).body.exports, []);
    for (const query of [
      'audit?page-size=0',
      'audit?cursor=x',
      `audit?cursor=${Buffer.from('["x"]').toString('base64url')}`,
      'audit?actor=',
      'audit?to=yesterday',
      'exports?from=x',
      'exports?cursor=x',
    ]) {
      t.match(await root.get(`/internal/v1/${query}`), { status: 400 }, query);
    }
  });

  await t.test('exports of a period are listed page by page, the newest first', async (t) => {
    const day = (number: number): string => `2001-02-${String(number).padStart(2, '0')}T00:00:00.000Z`;
    // The clock was set back in between.
    const days = [1, 2, 3, 4, 9, 5, 6, 7, 5, 8, 9];
    await store.beside.records.change({ at: day(1), actor: 'test', action: 'export', object: 'x' }, async (tx) => {
      for (const [at, number] of days.entries()) {
        const left = { at: day(number), actor: 'cli:root', what: 'backup', name: `backup-${at}`, bytes: 1 } as const;
        await tx.exports.add({ ...left, sha256: '0'.repeat(64), label: null, media: null });
      }
    });
    for (const [from, to] of [
      [1, 10],
      [2, 5],
      [5, 6],
      [9, 10],
      [10, 11],
    ] as const) {
      for (const size of [1, 2, 3, 100]) {
        const names: string[] = [];
        for (let cursor = ''; ;) {
          const query = `from=${day(from)}&to=${day(to)}&page-size=${size}${cursor}`;
          const { body } = await root.get(`/internal/v1/exports?${query}`);
          names.push(...(body.exports as { name: string }[]).map(({ name }) => name));
          if (body['next-cursor'] === null) break;
          cursor = `&cursor=${body['next-cursor'] as string}`;
        }
        const expected = days.flatMap((exportDay, at) => (exportDay >= from && exportDay < to ? [`backup-${at}`] : []));
        t.same(names, expected.reverse(), `days ${from} to ${to} by ${size}`);
      }
    }
  });

  await t.test('other accounts see none of it', async (t) => {
    const ada = await store.as('ada');
    for (const path of [
      'packages',
      'packages/snap/hello',
      'packages/snap/nothing',
      'audit',
      'exports',
      'accounts',
      'brands',
      'uploads',
      'storage',
    ]) {
      t.match(await ada.get(`/internal/v1/${path}`), { status: 401 }, path);
    }
  });

  await t.test('the same by command', async (t) => {
    const { larder, json } = commandsOn(store.directory);
    const { packages } = (await json('package list --namespace snap --publisher ada')) as { packages: Listed[] };
    t.same(packages, await list(`namespace=snap&publisher=${store.ids.ada}`));
    t.match(await larder('package list --channel edge'), { code: 0, out: /snap\/hello +ada +2 +2\.0 KiB +\d{4}/ });
    t.match(await larder('package list --at-least 999999'), { out: /There is none/ });
    t.match(await larder('package list --quiet-since yesterday'), { code: 2, err: /is a date such as/ });
    t.match(await larder('package list --publisher zoe'), { code: 2, err: /there is no account 'zoe'/ });
    t.same(await json('package show snap/hello'), (await root.get('/internal/v1/packages/snap/hello')).body);
    t.match(await larder('package show snap/hello'), { code: 0, out: /Collaborators +bob\n[^]*latest +all +stable/ });
    t.match(await larder('package show snap/nothing'), { code: 1, err: /There is no package snap\/nothing/ });
    t.match(await json('storage'), (await root.get('/internal/v1/storage')).body);
    t.match(await larder('storage'), { code: 0, out: /ada +3 +2\.0 KiB/ });
    t.match(await json('brand list'), { brands: [{ 'account-id': store.ids.bob }] });
  });
});

t.test('a rare property is found at once among many packages, and a common one page by page', async (t) => {
  const store = await startStore(t);
  const { ada, bob } = store.ids;
  const at = store.clock.now.toISOString();
  const names = Array.from({ length: 1_600 }, (_, number) => `n${String(number).padStart(4, '0')}`);
  const channelsOf = (number: number): string[] => [
    ...(number % 3 === 0 ? ['latest/candidate'] : []),
    ...(number % 500 === 499 ? ['latest/beta'] : []),
  ];
  await store.beside.records.change({ at, actor: 'larder', action: 'fill', object: 'store' }, async (tx) => {
    const fill = filler(tx, at);
    for (const [number, name] of names.entries()) {
      const publisherId = number < 800 ? ada : bob;
      await fill.package({ id: `id-${name}`, name, publisherId });
      if (channelsOf(number).length === 0) continue;
      const size = number % 500 === 499 ? 1_000_000 : 1;
      await fill.revision({ packageId: `id-${name}`, revision: 1, createdBy: publisherId, size });
      for (const channel of channelsOf(number)) {
        for (const slot of ['amd64', 'arm64'])
          await fill.release({ packageId: `id-${name}`, channel, revision: 1, slot, architecture: slot });
      }
    }
  });
  const root = await store.as('root');
  /** The names on each of the pages. */
  const pages = async (query: string): Promise<string[][]> => {
    const result: string[][] = [];
    for (let cursor = ''; ;) {
      const { body } = await root.get(`/internal/v1/packages?${query}${cursor}`);
      result.push((body.packages as Listed[]).map(({ name }) => name));
      if (body['next-cursor'] === null) return result;
      cursor = `&cursor=${body['next-cursor'] as string}`;
    }
  };
  const few = ['n0499', 'n0999', 'n1499'];
  t.same(await pages('channel=beta'), [few], 'on the first page, and there is no other');
  t.same(await pages('channel=beta&page-size=2'), [few.slice(0, 2), few.slice(2)]);
  t.same(await pages('at-least=1000000&page-size=2'), [few.slice(0, 2), few.slice(2)]);
  t.same(await pages(`channel=beta&publisher=${bob}`), [few.slice(1)]);
  t.same(await pages('channel=beta&namespace=charm'), [[]]);
  t.same(await pages('channel=beta&at-least=1000001'), [[]], 'all that is asked for counts');
  t.same(await pages('channel=candidate&at-least=1000000'), [['n0999']]);
  const many = names.filter((_, number) => number % 3 === 0);
  t.same((await pages('channel=candidate')).flat(), many);
  t.same(
    (await pages(`channel=candidate&page-size=7&publisher=${ada}`)).flat(),
    many.filter((name) => name < 'n0800'),
  );
  t.same(
    (await pages('at-least=1')).flat(),
    names.filter((_, number) => channelsOf(number).length > 0),
  );
});

t.test('uploads that wait for a person are listed, the longest waiting first', async (t) => {
  const store = await startStore(t);
  const [root, ada] = [await store.as('root'), await store.as('ada')];
  const { id } = (await ada.post('/v1/charm', { name: 'hello' })).body;
  const { records } = store.beside;
  const findings = { kind: 'resource', sha384: '0'.repeat(96), sha512: '0'.repeat(128) } as const;
  for (const [at, upload] of ['one', 'two', 'three'].entries()) {
    const pushedAt = new Date(store.clock.now.getTime() + Math.ceil(at / 2)).toISOString(); // two at the same moment
    const content = { sha3_384: String(at).padStart(96, '0'), sha256: String(at).padStart(64, '0'), size: at + 1 };
    await records.change({ at: pushedAt, actor: 'test', action: 'wait', object: upload }, async (tx) => {
      const request = { type: 'oci-image', bases: null, architectures: null, packageRevision: null };
      const claim = { packageId: id, pushedBy: store.ids.ada, pushedAt, resource: { name: 'image', request } };
      await tx.uploads.add({ id: upload, ...content, address: '127.0.0.1', receivedAt: pushedAt });
      await tx.uploads.claim(upload, claim);
      await tx.uploads.scan(upload, findings);
    });
  }
  const uploads = [];
  for (let cursor = ''; ;) {
    const { body } = await root.get(`/internal/v1/uploads?page-size=1${cursor}`);
    uploads.push(...(body.uploads as Record<string, unknown>[]));
    if (body['next-cursor'] === null) break;
    cursor = `&cursor=${body['next-cursor'] as string}`;
  }
  t.same(
    uploads.map((upload) => upload['upload-id']),
    ['one', 'two', 'three'],
  );
  t.match(uploads[0], { package: 'charm/hello', resource: 'image', size: 1, 'pushed-by': { username: 'ada' } });
  t.match(await root.get('/internal/v1/packages/charm/hello'), { body: { bytes: 6 } }, 'they take their room already');
});
