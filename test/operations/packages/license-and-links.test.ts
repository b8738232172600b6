// The license and the links of a snap: devices and people see the values of its newest revision, until they are edited.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { stream } from '#assertions/format/assertion.ts';
import { changeConfig } from '#configuration/config.ts';
import { startStore, type Client } from '#test/fixtures/appliance.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { assertionsOf, offered, rootsFile, snapOf } from '#test/fixtures/packages/online-store.ts';
import { folder } from '#test/cli/process.ts';
import { twoSites } from '#test/transfers/sites.ts';
import { larder } from '#test/cli/world.ts';

/** The image of a snap with some lines of snap.yaml replaced. It has the same length as the original image. */
function snapWith(name: string, revision: number, lines: string): Buffer {
  const image = snapOf(offered(name, revision)).toString('latin1');
  const before = 'architectures: [amd64]\napps:\n  run: {command: bin/run}\n  other: {command: bin/run}\n';
  if (!image.includes(before) || lines.length > before.length - 2) throw new Error('the lines do not fit');
  return Buffer.from(image.replace(before, `${lines}#${' '.repeat(before.length - lines.length - 2)}\n`), 'latin1');
}

const stated = 'license: MIT\nlinks: {website: [https://a.b], contact: [a@b]}\n';

const device = async (anyone: Client, name: string) => {
  const headers = { 'snap-device-series': '16', 'snap-device-architecture': 'amd64' };
  const fields = 'license,links,website,contact,revision';
  const info = (await anyone.get(`/v2/snaps/info/${name}?fields=${fields}`, headers)).body as { snap: object };
  const refresh = await anyone.post(
    '/v2/snaps/refresh',
    {
      context: [],
      actions: [{ action: 'install', 'instance-key': 'a', name, channel: 'edge' }],
      fields: ['license', 'links', 'website', 'contact'],
    },
    headers,
  );
  return { info: info.snap, refresh: (refresh.body as { results: { snap: object }[] }).results[0]?.snap };
};

t.test('a snap has the license and the links of its newest revision, until they are edited here', async (t) => {
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'licensed' })).body as { id: string };
  const push = async (revision: number, lines: string) => {
    const [review] = (await ada.push('snap', 'licensed', snapWith('licensed', revision, lines))).body.revisions;
    if (review.status !== 'approved') throw new Error(JSON.stringify(review));
    await ada.post('/v1/snap/licensed/releases', [{ channel: 'edge', revision: review.revision }]);
  };
  await push(1, stated);
  const links = { website: ['https://a.b'], contact: ['mailto:a@b'] };
  const metadata = { license: 'MIT', links, website: 'https://a.b', contact: 'mailto:a@b' };
  const { info, refresh } = await device(store.anyone, 'licensed');
  t.match(info, metadata);
  t.match(refresh, metadata);
  t.match((await ada.get('/v1/snap/licensed')).body.metadata, {
    links,
    website: 'https://a.b',
    contact: 'mailto:a@b',
  });
  t.match(
    (await larder(`package show snap/licensed --data ${store.directory}`)).out,
    /License +MIT\n *Contact +mailto:a@b\n *Website +https:/,
  );

  await push(2, 'license: GPL-3.0\nlinks: {issues: [https://a.b/i]}\n');
  t.match((await device(store.anyone, 'licensed')).info, {
    license: 'GPL-3.0',
    links: { issues: ['https://a.b/i'] },
  });
  t.notOk((await ada.get('/v1/snap/licensed')).body.metadata.links.website, 'what is no longer stated goes');

  await ada.patch('/v1/snap/licensed', { links: { website: ['https://edited.example'] } });
  await push(3, stated);
  const edited = { issues: ['https://a.b/i'], website: ['https://edited.example'] };
  t.match((await device(store.anyone, 'licensed')).info, { license: 'MIT', links: edited });
  await ada.patch('/v1/snap/licensed', { links: { website: [], issues: [] } });
  await push(4, `${stated}# 4\n`);
  t.match((await device(store.anyone, 'licensed')).info, metadata, 'links that are cleared follow again');

  const at = `/dev/api/snaps/${id}/metadata`;
  t.match(await ada.post(at, { license: 'Apache-2.0' }), { status: 200, body: { license: 'Apache-2.0' } });
  t.match((await device(store.anyone, 'licensed')).info, { license: 'Apache-2.0' });
  t.match(await ada.put(at, { license: '' }), { status: 200, body: { license: null } });
  t.match(await ada.post(at, { license: 'x'.repeat(257) }), { status: 400 });
});

t.test('a snap with a license or links that no device accepts is rejected', async (t) => {
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'licensed' });
  for (const [at, lines] of [
    'license: [MIT]\n',
    'links: [a]\n',
    'links: {website: a, x: [b]}\n',
    'links: {website: ["javascript:a()"]}\n',
  ].entries()) {
    const [review] = (await ada.push('snap', 'licensed', snapWith('licensed', at + 1, lines))).body.revisions;
    t.match(review, { status: 'rejected' }, lines);
    t.same((await ada.get('/v1/snap/licensed')).body.metadata.links, {}, lines);
  }
});

t.test('license and links go from site to site', async (t) => {
  const { depot, here: receiver, stick } = await twoSites(t);
  const online = join(stick, 'online');
  mkdirSync(online);
  const [snap, file] = [offered('licensed', 1), snapWith('licensed', 1, stated)];
  writeFileSync(join(online, 'licensed_1.snap'), file);
  writeFileSync(join(online, 'licensed_1.assert'), stream(await assertionsOf(snap, file)));
  changeConfig(join(depot.data, 'larder.toml'), { 'assertions.trusted': [rootsFile(folder(t))] });
  await depot.done(`package import ${online} --release edge --yes`);
  const { id } = await depot.done(`transfer make ${join(stick, 'one.tar')} --for site-a`);
  await receiver.done(`transfer receive ${join(stick, 'one.tar')}`);
  await receiver.done(`transfer accept ${id} --yes`);
  t.match(await receiver.done('package show snap/licensed'), {
    license: 'MIT',
    links: { website: ['https://a.b'], contact: ['mailto:a@b'] },
  });
});
