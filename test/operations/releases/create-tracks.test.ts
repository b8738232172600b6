import t from 'tap';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';

async function guard(store: TestAppliance, packageId: string, ...patterns: string[]): Promise<void> {
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'add_guardrail', object: 'package' }, async (tx) => {
    for (const pattern of patterns) await tx.guardrails.claim(packageId, { pattern, createdAt: at });
  });
}

t.test('tracks are created if a guardrail allows them, and can be released to', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/bin', { name: 'hello' })).body;
  await guard(store, id, '\\d+\\.\\d+', 'lts-.*');
  const at = store.clock.now.toISOString();
  store.clock.advance(1000);
  t.match(
    await ada.post('/v1/bin/hello/tracks', [
      { name: '2.0', 'version-pattern': '2.*', 'automatic-phasing-percentage': '0.32' },
      { name: 'lts-24', 'automatic-phasing-percentage': 50 },
      { name: '2.1', 'version-pattern': null, 'automatic-phasing-percentage': null },
    ]),
    { status: 201, body: { 'num-tracks-created': 3 } },
  );
  const { metadata } = (await ada.get('/v1/bin/hello')).body;
  t.same(metadata['track-guardrails'], [
    { 'created-at': at, pattern: '\\d+\\.\\d+' },
    { 'created-at': at, pattern: 'lts-.*' },
  ]);
  t.match(metadata.tracks, [
    { name: 'latest' },
    {
      name: '2.0',
      'version-pattern': '2.*',
      'automatic-phasing-percentage': 0.32,
      'created-at': store.clock.now.toISOString(),
    },
    { name: '2.1', 'version-pattern': null, 'automatic-phasing-percentage': null },
    { name: 'lts-24', 'automatic-phasing-percentage': 50 },
  ]);
  t.match((await ada.get('/v1/bin?fields=name,track-guardrails')).body.results, [
    { name: 'hello', 'track-guardrails': [{ pattern: '\\d+\\.\\d+' }, {}] },
  ]);
  await ada.push('bin', 'hello', 'content');
  t.match(await ada.post('/v1/bin/hello/releases', [{ channel: '2.0/edge', revision: 1 }]), { status: 200 });
  t.match(await ada.patch('/v1/bin/hello', { 'default-track': '2.0' }), {
    status: 200,
    body: { metadata: { 'default-track': '2.0', 'track-guardrails': [{}, {}] } },
  });
});

t.test('one track that cannot be refuses them all', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  const refused = async (tracks: object[], status: number, code: string, message?: RegExp) => {
    t.match(
      await ada.post('/v1/snap/hello/tracks', tracks),
      { status, body: { 'error-list': [{ code, ...(message && { message }) }] } },
      JSON.stringify(tracks).slice(0, 80),
    );
  };
  await refused([{ name: '2.0' }], 400, 'invalid-tracks', /^Invalid track name '2\.0': 'hello' has no track guardrail/);
  await guard(store, id, '\\d+\\.\\d+');
  await refused([{ name: '2.0' }, { name: 'other' }], 400, 'invalid-tracks', /matches no track guardrail of 'hello'/);
  await refused([{ name: 'latest' }], 400, 'api-error', /^Creation of 'latest' track is not allowed$/);
  for (const name of ['a b', '-a', 'a--b', 'a/b', 'ä', 'x'.repeat(29)])
    await refused([{ name }], 400, 'invalid-tracks');
  await refused([{ name: '2.0' }, { name: '2.0' }], 409, 'conflicting-tracks');
  await refused([{ name: '2.0', 'automatic-phasing-percentage': '200' }], 400, 'api-error');
  await refused([{ name: '2.0', 'automatic-phasing-percentage': -1 }], 400, 'api-error');
  t.same((await ada.get('/v1/snap/hello')).body.metadata.tracks.length, 1);
  t.match(await ada.post('/v1/snap/hello/tracks', [{ name: '2.0' }]), { status: 201 });
  await refused([{ name: '2.1' }, { name: '2.0' }], 409, 'conflicting-tracks', /^Conflicting track exists/);
  t.same((await ada.get('/v1/snap/hello')).body.metadata.tracks.length, 2);
});
