// Quotas: the limit of a publisher, requests beyond it, and the administrators who set it.
import t from 'tap';

import { command, newest, startNow } from '#test/acts/ways.ts';
import { commandsOn } from '#test/cli/process.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';

const first = (body: Record<string, { code: string; message: string }[]>) => body['error-list']?.[0];

t.test('a publisher stays within the quota', async (t) => {
  const store = await startNow(t, (text) => text.replace('[quotas]', '[quotas]\nbytes = 1000\npackages = 3'));
  const [ada, bob, root] = await Promise.all(['ada', 'bob', 'root'].map((who) => store.as(who)));
  if (ada === undefined || bob === undefined || root === undefined) throw new Error('cannot log in');
  const path = `/internal/v1/accounts/${store.ids.ada}/quota`;
  const used = async () => {
    const { bytes, packages } = (await root.get(path)).body;
    return [bytes.used, packages.used] as [number, number];
  };
  const push = async (name: string, content: string, who = ada) =>
    who.post(`/v1/bin/${name}/revisions`, { 'upload-id': await who.upload(content) });

  await t.test('packages: the one too many is refused with the figures, and that name is free', async (t) => {
    for (const name of ['one', 'two']) t.match(await ada.post('/v1/bin', { name }), { status: 200 });
    const both = await Promise.all(['three', 'four'].map((name) => ada.post('/v1/bin', { name })));
    t.same(both.map(({ status }) => status).sort(), [200, 403], 'two at once: one of them');
    const refused = both.find(({ status }) => status === 403);
    t.match(first(refused?.body), { code: 'forbidden', message: /has 3 packages and may have 3\. Ask/ });
    t.same(await used(), [0, 3]);
    const older = await ada.post('/dev/api/register-name/', { snap_name: 'five' });
    t.equal(older.status, 403, 'by the older way too');
    t.match(await command(store, `package register snap/six --account ${store.ids.ada}`), { code: 'forbidden' });
    t.match(await bob.post('/v1/bin', { name: 'five' }), { status: 200 }, 'somebody else may have it');
  });

  await t.test('bytes: what goes beyond is refused at the claim and changes nothing', async (t) => {
    t.match(await push('one', 'a'.repeat(600)), { status: 200 });
    await store.appliance.reviewed();
    const before = await newest(store);
    const refused = await push('two', 'b'.repeat(401));
    t.equal(refused.status, 403);
    t.match(first(refused.body), { message: /has 600 bytes in the store and may have 1000; these are 401 more/ });
    t.same([await newest(store), await used()], [before, [600, 3]]);
    t.match(await push('two', 'a'.repeat(600)), { status: 200 }, 'what he has already costs nothing');
    t.same(await used(), [600, 3]);
    const uploads = await Promise.all(['c', 'd'].map((letter) => ada.upload(letter.repeat(300))));
    const both = await Promise.all(uploads.map((id) => ada.post('/v1/bin/one/revisions', { 'upload-id': id })));
    t.same(both.map(({ status }) => status).sort(), [200, 403], 'two at once that fit one by one');
    const again = uploads[both.findIndex(({ status }) => status === 200)];
    t.match(await ada.post('/v1/bin/one/revisions', { 'upload-id': again }), { status: 200 }, 'a retry is one push');
    t.same(await used(), [900, 3]);
    t.match(await push('one', 'e'.repeat(100)), { status: 200 }, 'up to the last byte');
    await store.appliance.reviewed();
    t.same(await used(), [1000, 3], 'as much once they are reviewed');
  });

  await t.test('the quota is that of the publisher, for any pusher', async (t) => {
    const { id } = (await ada.get('/v1/bin/one')).body.metadata as { id: string };
    await addCollaborator(store, id, 'bob');
    t.equal((await push('one', 'f', bob)).status, 403);
    t.equal((await push('five', 'f', bob)).status, 200);
    await store.appliance.reviewed();
  });

  await t.test('an administrator sets another one, by HTTP and by command alike', async (t) => {
    t.match((await root.get(path)).body, {
      username: 'ada',
      bytes: { used: 1000, limit: 1000, own: false },
      packages: { used: 3, limit: 3, own: false },
    });
    const set = await root.post(path, { bytes: 2048, packages: 'none' });
    t.match(set, {
      status: 200,
      body: { bytes: { limit: 2048, own: true }, packages: { limit: null, own: true } },
    });
    const byOperation = await newest(store);
    t.match(byOperation?.details, { bytes: 2048, packages: 'none', before: { bytes: 'default' } });
    await root.post(path, { bytes: 'default', packages: 'default' });
    t.match((await root.get(path)).body, { bytes: { limit: 1000, own: false }, packages: { limit: 3, own: false } });
    const output = await command(store, `account quota ${store.ids.ada} --bytes 2K --packages none`);
    t.same([output, await newest(store)], [set.body, byOperation]);
    t.match(await push('one', 'f'.repeat(1048)), { status: 200 });
    t.match(await ada.post('/v1/bin', { name: 'four' }), { status: 200 });
    const { larder } = commandsOn(store.directory);
    t.match(await larder(`account show ${store.ids.ada}`), { code: 0, out: /2\.0 KiB of 2\.0 KiB, and 4 packages/ });
    t.match(await command(store, `account show ${store.ids.ada}`), { quota: { bytes: { used: 2048 } } });
    await root.post(path, { bytes: 0 });
    t.match((await root.get(path)).body, { packages: { limit: null } }, 'what is not said stays');
    t.equal((await push('one', 'g')).status, 403);
    t.equal((await push('two', 'e'.repeat(100))).status, 200, 'what was there stays, and may be shared');
  });

  await t.test('an impossible quota changes nothing', async (t) => {
    await store.appliance.reviewed();
    const before = await newest(store);
    for (const body of [
      ...[{}, [], undefined, { bytes: -1 }, { bytes: 1.5 }, { bytes: '20G' }, { packages: null }, { packages: true }],
      ...[{ bytes: 2 ** 50 + 1 }, { bytes: 'None' }, { bytes: 1, more: 1 }],
    ]) {
      t.match(await root.post(path, body), { status: 400 }, JSON.stringify(body ?? null));
    }
    const nobody = '/internal/v1/accounts/nobody/quota';
    t.match([await root.get(nobody), await root.post(nobody, { bytes: 1 })], [{ status: 404 }, { status: 404 }]);
    const { larder } = commandsOn(store.directory);
    for (const option of [
      '--bytes 20X',
      '--bytes -1',
      '--bytes 2000T',
      '--packages 2K',
      '--packages ""',
      '--bytes 1.5G',
    ]) {
      t.match(await larder(`account quota ${store.ids.ada} ${option}`), { code: 2 }, option);
    }
    t.match(await larder('account quota nobody --bytes 1'), { code: 1, err: /no account/ });
    t.same(await newest(store), before);
  });
});

t.test('a package that is handed over counts for its new publisher, within the quota', async (t) => {
  const store = await startNow(t, (text) => text.replace('[quotas]', '[quotas]\nbytes = 1000\npackages = 2'));
  const [ada, bob, root] = [await store.as('ada'), await store.as('bob'), await store.as('root')];
  const publish = async (who: typeof ada, name: string, content: string) => {
    t.match(await who.post('/v1/bin', { name }), { status: 200 });
    t.match(await who.post(`/v1/bin/${name}/revisions`, { 'upload-id': await who.upload(content) }), { status: 200 });
    await store.appliance.reviewed();
  };
  await publish(ada, 'small', 'a'.repeat(300));
  await publish(ada, 'large', 'b'.repeat(700));
  await publish(bob, 'alike', 'b'.repeat(700));
  const offer = (name: string) => ada.post(`/internal/v1/packages/bin/${name}/offer`, { email: 'bob@example.com' });
  const quota = (set: object) => root.post(`/internal/v1/accounts/${store.ids.bob}/quota`, set);
  const ways = (name: string) => [
    () => root.post(`/internal/v1/packages/bin/${name}/publisher`, { 'account-id': store.ids.bob }),
    () => bob.post(`/internal/v1/packages/bin/${name}/offer/answer`, { accept: true }),
  ];
  const rows = async () => [
    ...(await Promise.all(['small', 'large'].map((name) => store.beside.records.packages.find('bin', name)))),
    await store.beside.records.packageOffers.to(store.ids.bob, store.clock.now.toISOString(), '', 9),
    await newest(store),
  ];
  const isRefused = async (name: string, message: string) => {
    await offer(name);
    const before = await rows();
    for (const way of ways(name)) {
      const answer = await way();
      t.equal(answer.status, 403);
      t.match(first(answer.body), { code: 'forbidden', message: new RegExp(message) });
    }
    t.match(await command(store, `package hand-over bin/${name} ${store.ids.bob} --yes`), {
      code: 'forbidden',
      error: new RegExp(message),
    });
    t.same(await rows(), before, 'nothing has changed, and the offer stands');
  };
  await quota({ bytes: 999 });
  await isRefused('small', 'has 700 bytes in the store and may have 999; these are 300 more. Ask');
  await quota({ bytes: 500, packages: 1 });
  await isRefused('large', 'has 1 package and may have 1. Ask');
  await quota({ packages: 2 });
  await offer('large');
  t.match(
    await ways('large')[1]?.(),
    { status: 204 },
    'what he keeps already takes no more room, whatever he may have',
  );
  t.match(await quota({ bytes: 'default', packages: 3 }), { status: 200 });
  t.match(await ways('small')[0]?.(), { status: 200 }, 'up to the last byte and the last package');
});
