import t from 'tap';

import { startStore, type Client } from '#test/fixtures/appliance.ts';
import { addBrand } from '#test/fixtures/brands.ts';
import { startTwoOfEverything } from '#test/fixtures/two-of-everything.ts';

const refusal = (status: number, code: string, message: RegExp | string = /.{10,}/) => ({
  status,
  body: { 'error-list': [{ code, message }] },
});
const remodel = (from: string, serial: string | null, to: string) => ({
  'from-model': from,
  'from-serial': serial,
  'to-model': to,
});

async function withModels(
  t: Parameters<typeof startStore>[0],
): Promise<{ ada: Client; bob: Client; list: string; bobId: string; advance: () => void }> {
  const { store, brand: id, bobId } = await startTwoOfEverything(t);
  const [ada, bob] = [
    await store.as('ada', { permissions: ['account-manage-metadata'] }),
    await store.as('bob', { permissions: ['account-manage-metadata'] }),
  ];
  for (const name of ['mill', 'pump', 'saw']) await ada.post(`/v1/brand/${id}/model`, { name, series: '16' });
  return { ada, bob, list: `/v1/brand/${id}/remodel-allowlist`, bobId, advance: () => store.clock.advance(1000) };
}

t.test('remodels are permitted, described again and forbidden again', async (t) => {
  const { ada, bob, list, bobId, advance } = await withModels(t);
  t.equal((await ada.get(list)).status, 200, 'the owner of the brand reads what its administrator writes');
  t.same((await ada.get(list)).body, { allowlist: [], 'next-cursor': null });
  const any = {
    ...remodel('pump', null, 'mill'),
    description: 'all of them',
    'created-at': '2026-03-01T12:00:00.000Z',
    'created-by': bobId,
    'modified-at': null,
    'modified-by': null,
  };
  const specific = { ...any, ...remodel('pump', '0001', 'mill'), description: null };
  const added = await bob.post(list, {
    allowlist: [
      { ...remodel('pump', '0001', 'mill'), description: null },
      { ...remodel('pump', null, 'mill'), description: 'all of them' },
    ],
  });
  t.same([added.status, added.body], [201, { allowlist: [specific, any] }]);
  t.same((await ada.get(list)).body, { allowlist: [any, specific], 'next-cursor': null }, 'the wildcard comes first');

  advance();
  const changed = await bob.patch(list, { allowlist: [{ ...remodel('pump', null, 'mill'), description: null }] });
  const described = { ...any, description: null, 'modified-at': '2026-03-01T12:00:01.000Z', 'modified-by': bobId };
  t.same([changed.status, changed.body], [200, { allowlist: [described] }]);
  t.same((await ada.get(list)).body.allowlist, [described, specific]);

  const gone = await bob.post(`${list}/delete`, { allowlist: [remodel('pump', null, 'mill')] });
  t.same([gone.status, gone.body], [200, {}]);
  t.same((await ada.get(list)).body.allowlist, [specific], 'the wildcard went, the serial stayed');
});

t.test('a list with one refused entry changes nothing', async (t) => {
  const { ada, list } = await withModels(t);
  const existing = { ...remodel('pump', null, 'mill'), description: 'kept' };
  const fresh = { ...remodel('saw', null, 'mill'), description: null };
  await ada.post(list, { allowlist: [existing] });
  const before = (await ada.get(list)).body;

  t.match(
    await ada.post(list, { allowlist: [fresh, existing] }),
    refusal(409, 'conflict', /already\. Nothing was added/),
  );
  t.match(
    await ada.post(list, { allowlist: [fresh, { ...remodel('saw', null, 'lathe'), description: null }] }),
    refusal(404, 'resource-not-found', /'lathe'/),
  );
  t.match(await ada.post(list, { allowlist: [fresh, fresh] }), refusal(400, 'api-error', /twice/));
  t.match(
    await ada.patch(list, { allowlist: [{ ...existing, description: 'new' }, fresh] }),
    refusal(404, 'resource-not-found', /nothing was changed/),
  );
  t.match(
    await ada.patch(list, { allowlist: [{ ...existing, 'from-serial': '1' }] }),
    refusal(404, 'resource-not-found'),
  );
  t.match(
    await ada.post(`${list}/delete`, { allowlist: [remodel('pump', null, 'mill'), remodel('saw', null, 'mill')] }),
    refusal(404, 'resource-not-found', /nothing was changed/),
  );
  const { description, ...short } = existing;
  t.equal(description, 'kept');
  for (const allowlist of [
    undefined,
    null,
    {},
    [],
    [null],
    [short],
    [{ ...existing, 'from-serial': '' }],
    [{ ...existing, 'from-model': '' }],
    [{ ...existing, more: 1 }],
    [{ ...existing, 'to-model': null }],
    Array.from({ length: 1001 }, () => existing),
  ]) {
    t.match(await ada.post(list, { allowlist }), refusal(400, 'api-error'));
    t.match(await ada.patch(list, { allowlist }), refusal(400, 'api-error'));
  }
  for (const allowlist of [undefined, [], [existing], [{ 'from-model': 'pump', 'to-model': 'mill' }]]) {
    t.match(await ada.post(`${list}/delete`, { allowlist }), refusal(400, 'api-error'));
  }
  t.same((await ada.get(list)).body, before);
});

t.test('pages follow one another without a gap, with entries added and removed in between', async (t) => {
  const { ada, list } = await withModels(t);
  const serials = Array.from({ length: 260 }, (_, at) => String(at).padStart(4, '0'));
  await ada.post(list, {
    allowlist: serials.map((serial) => ({ ...remodel('pump', serial, 'mill'), description: null })),
  });
  await ada.post(list, { allowlist: [{ ...remodel('saw', null, 'pump'), description: null }] });

  const walk = async (query: string): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const next: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { status, body } = await ada.get(`${list}?${query}${next}`);
      t.equal(status, 200);
      pages.push(body.allowlist.map((entry: Record<string, string | null>) => entry['from-serial'] ?? '*'));
      cursor = body['next-cursor'];
    }
    return pages;
  };
  const whole = [...serials, '*'];
  t.same(
    (await walk('')).map(({ length }) => length),
    [100, 100, 61],
    'a page has 100 unless asked otherwise',
  );
  t.same((await walk('')).flat(), whole);
  t.same(await walk('page-size=500'), [whole]);
  t.same(
    (await walk('page-size=87')).map(({ length }) => length),
    [87, 87, 87],
    'no empty page at the end',
  );
  t.same(await walk('page-size=50&from-model=saw'), [['*']]);
  t.same((await walk('page-size=50&to-model=mill')).flat(), serials);
  t.same(await walk('from-model=pump&to-model=pump'), [[]]);

  const first = (await ada.get(`${list}?page-size=10`)).body;
  const cursor = encodeURIComponent(first['next-cursor']);
  await ada.post(`${list}/delete`, { allowlist: [remodel('pump', '0009', 'mill'), remodel('pump', '0003', 'mill')] });
  await ada.post(list, { allowlist: [{ ...remodel('pump', '0000a', 'mill'), description: null }] });
  const second = (await ada.get(`${list}?page-size=10&cursor=${cursor}`)).body;
  t.equal(second.allowlist[0]['from-serial'], '0010');

  for (const query of [
    'page-size=0',
    'page-size=501',
    'page-size=01',
    'page-size=-1',
    'page-size=1.5',
    'page-size=',
    'page-size=99999999999',
    'cursor=',
    'cursor=x',
    `cursor=${cursor}x`,
    'cursor=WyJhIl0',
    'cursor=WzEsMiwzXQ',
    'cursor=bnVsbA',
    'cursor=%00',
    'from-model=',
  ]) {
    t.match(await ada.get(`${list}?${query}`), refusal(400, 'api-error'), query);
  }
});

t.test('the allowlist of a brand belongs to that brand alone, and a token needs the permission for it', async (t) => {
  const store = await startStore(t);
  const id = await addBrand(store, 'ada', ['bob']);
  await store.join('carol');
  const list = `/v1/brand/${id}/remodel-allowlist`;
  const manager = await store.as('bob', { permissions: ['account-manage-metadata'] });
  for (const name of ['mill', 'pump']) await manager.post(`/v1/brand/${id}/model`, { name, series: '16' });
  const body = { allowlist: [{ ...remodel('pump', null, 'mill'), description: null }] };
  const carol = await store.as('carol');
  for (const reply of [
    await carol.get(list),
    await carol.post(list, body),
    await carol.patch(list, body),
    await carol.post(`${list}/delete`, body),
  ]) {
    t.match(reply, refusal(404, 'resource-not-found'));
  }
  const reader = await store.as('bob', { permissions: ['store-view', 'account-manage-keys'] });
  t.equal((await reader.get(list)).status, 200);
  t.match(await reader.post(list, body), refusal(401, 'permission-required'));
  t.equal((await manager.post(list, body)).status, 201);
  t.equal((await (await store.as('root', { permissions: ['store-manage'] })).patch(list, body)).status, 200);
});
