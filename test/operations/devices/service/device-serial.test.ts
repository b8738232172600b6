import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { mediaType, parseAssertion, parseStream, stream } from '#assertions/format/assertion.ts';
import { requestedJudge } from '#test/assertions/judge.ts';
import { chain } from '#test/assertions/vectors.ts';
import { now } from '#test/assertions/world.ts';
import { writeCursor } from '#operations/cursor.ts';
import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addOnlineBrand, addSigningKey, trustingVectors } from '#test/fixtures/brands.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { device } from './device.ts';

t.setTimeout(600_000);
const judge = requestedJudge();
const folder = mkdtempSync(join(tmpdir(), 'larder-roots-'));
t.teardown(() => {
  rmSync(folder, { recursive: true });
});
writeFileSync(join(folder, 'roots'), chain.trusted.join('\n'));

/** Whether a device that trusts the vectors' root takes a stream, as snapd's own library has it. */
function devicesTake(t: Test, text: string): void {
  if (judge === undefined) return;
  const { status, stderr } = judge(text, '-trusted', join(folder, 'roots'));
  t.equal(status, 0, `snapd takes it ${stderr}`);
}

const brandPath = '/v1/brand/my-brand';
const refusal = (status: number, message: RegExp) => ({ status, body: { message, error_list: [{ message }] } });

async function withPolicy(
  t: Parameters<typeof startStore>[0],
  registered = true,
): Promise<{ store: TestAppliance; brand: Client; key: string }> {
  const store = await startStore(t, trustingVectors(t));
  store.clock.now = now;
  await addOnlineBrand(store, 'my-brand');
  const key = await addSigningKey(store, 'my-brand', 'rsa4096-a', 'default');
  const brand = await store.as('my-brand');
  if (registered) {
    const back = ['brand-account-key', 'brand-account', 'store-account-key']
      .map((name) => chain.assertions[name] ?? '')
      .join('\n');
    const imported = await brand.post(`${brandPath}/assertions`, back, { 'content-type': mediaType });
    if (imported.status !== 201) throw new Error(JSON.stringify(imported.body));
  }
  for (const name of ['pump', 'mill']) {
    await brand.post(`${brandPath}/model`, { name, series: '16' });
    await brand.post(`${brandPath}/model/${name}/serial_policy`, { 'signing-key-sha3-384': key });
  }
  return { store, brand, key };
}
const pump = { 'brand-id': 'my-brand', model: 'pump' };

t.test('a device gets its serial, and the same one again when it asks again', async (t) => {
  const { store, brand, key } = await withPolicy(t);
  for (const [vector, path] of [
    ['rsa2048-a', '/device-service'],
    ['rsa3072-a', '/api/v1/snaps/auth'],
  ] as const) {
    const { request, send, keyId } = device(store, vector, path);
    const serialRequest = await request({ ...pump, serial: `no-${vector}` });
    const reply = await send(serialRequest);
    t.equal(reply.status, 200, JSON.stringify(reply.body));
    t.equal(reply.headers.get('content-type'), mediaType);
    const sent = parseStream(reply.body);
    t.same(
      sent.map(({ type }) => type),
      ['account-key', 'account', 'account-key', 'serial'],
      'with all that it rests on, but the roots',
    );
    devicesTake(t, reply.body);
    const serial = sent.at(-1);
    t.match(serial?.headers, {
      'authority-id': 'my-brand',
      ...pump,
      serial: `no-${vector}`,
      'device-key-sha3-384': keyId,
    });
    t.equal(serial?.signKeyId, key);
    t.equal((await send(serialRequest)).body, reply.body, 'a retry is safe');
    t.equal(
      (await send(await request({ ...pump, serial: 'another' }))).body,
      reply.body,
      'one device has one serial of a model',
    );
    t.same(
      parseStream((await send(serialRequest, { 'snap-device-capabilities': '' })).body).map(({ type }) => type),
      ['serial'],
    );
  }
  const unnamed = device(store, 'rsa4096-c');
  const [assertion] = parseStream(
    (await unnamed.send(await unnamed.request(pump), { 'snap-device-capabilities': '' })).body,
  );
  t.match(assertion?.headers['serial'], /^[0-9a-f-]{36}$/, 'a device without a serial of its own gets a new one');
  const { items } = (await brand.get(`${brandPath}/model/pump/serial-log`)).body;
  t.equal(items.length, 3);
  const rows = (await store.beside.records.audit.list(0, 1000)).filter(({ action }) => action === 'issue_serial');
  t.equal(rows.length, 3);
});

t.test('a request that does not hold is refused, and nothing is kept of it', async (t) => {
  const { store, brand } = await withPolicy(t);
  const { request, send } = device(store, 'rsa2048-a');
  const other = device(store, 'rsa3072-a');
  const good = await request({ ...pump, serial: '0001' });
  t.equal((await send(await request({ ...pump, serial: 'taken' }))).status, 200);
  const before = footprint(store.directory);
  const third = device(store, 'rsa4096-c');

  t.match(await other.send(good.replace('serial: 0001', 'serial: 0002')), refusal(400, /changed after it was signed/));
  t.match(await other.send(await other.request({ ...pump, 'request-id': 'mine' })), refusal(403, /request-id/));
  t.match(await other.send(await other.request({ ...pump, model: 'saw' })), refusal(404, /no model 'saw'/));
  t.match(await other.send(await other.request({ 'brand-id': 'acme', model: 'pump' })), refusal(404, /no model/));
  t.match(
    await other.send(await other.request({ ...pump, serial: 'taken' })),
    refusal(409, /belongs to another device/),
  );
  t.match(await third.send(chain.assertions['model'] ?? ''), refusal(400, /serial-request must come first/));
  t.match(await third.send(''), refusal(400, /empty/));
  t.match(await third.send('x'.repeat(300_000)), refusal(413, /larger/));
  t.match(await third.send((await third.request(pump)).replaceAll('\n', '\r\n')), refusal(400, /CR LF/));

  const late = await third.request(pump);
  store.clock.advance(3_600_000);
  t.match(await third.send(late), refusal(403, /within the last hour/));
  t.same(footprint(store.directory), before);
  await brand.delete(`${brandPath}/model/mill/serial_policy/1`);
  t.match(await third.send(await third.request({ ...pump, model: 'mill' })), refusal(403, /no serial policy/));
});

t.test('a device must know the api-key of the model, if it has one', async (t) => {
  const { store, brand } = await withPolicy(t);
  await brand.patch(`${brandPath}/model/pump`, { 'api-key': 'verysecret' });
  const { request, send } = device(store, 'rsa2048-a');
  const serialRequest = await request(pump);
  for (const headers of [{}, { 'api-key': '' }, { 'api-key': 'verysecre' }, { 'api-key': 'VERYSECRET' }] as Record<
    string,
    string
  >[]) {
    t.match(await send(serialRequest, headers), refusal(403, /api-key/));
  }
  t.equal((await send(serialRequest, { 'api-key': 'verysecret' })).status, 200);
  t.match(await send(serialRequest), refusal(403, /api-key/), 'also when it asks again');
  t.notMatch(store.log.join(''), /verysecret/);
});

t.test('a sealed store gives only serials that it gave before', async (t) => {
  const { store } = await withPolicy(t);
  const [served, two] = [device(store, 'rsa2048-a'), device(store, 'rsa3072-a')];
  const serialRequest = await served.request(pump);
  const first = await served.send(serialRequest);
  rmSync(`${store.directory}/master.key`);
  await store.restart();
  t.equal((await served.send(serialRequest)).body, first.body);
  t.match(await two.send(await two.request(pump)), refusal(503, /sealed/), 'with a status on which devices try again');
});

t.test('a key that is revoked, or not registered yet', async (t) => {
  const { store, brand } = await withPolicy(t, false);
  const [unregistered, two] = [device(store, 'rsa2048-a'), device(store, 'rsa3072-a')];
  const [serial, ...more] = parseStream((await unregistered.send(await unregistered.request(pump))).body);
  t.equal(serial?.type, 'serial', 'what is not registered signs already: the registration may follow');
  t.equal(more.length, 0);
  const back = ['revoked', 'brand-account', 'store-account-key'].map((name) => chain.assertions[name] ?? '').join('\n');
  t.equal((await brand.post(`${brandPath}/assertions`, back, { 'content-type': mediaType })).status, 201);
  t.match(await two.send(await two.request(pump)), refusal(400, /revoked/));
});

t.test('a device becomes another model only if the allowlist permits it', async (t) => {
  const { store, brand } = await withPolicy(t);
  const { request, send } = device(store, 'rsa2048-a');
  const other = device(store, 'rsa3072-a');
  const serial = parseStream(
    (await send(await request({ ...pump, serial: '0001' }), { 'snap-device-capabilities': '' })).body,
  )[0];
  if (serial === undefined) throw new Error('cannot go on without a serial');
  const remodel = async (from = serial) =>
    `${await request({ 'brand-id': 'my-brand', model: 'mill', 'original-brand-id': 'my-brand', 'original-model': 'pump', 'original-serial': '0001' })}\n${stream([from])}`;
  t.match(await send(await remodel()), refusal(403, /allowlist does not permit/));
  t.match(
    await send(await request({ ...pump, model: 'mill' })),
    refusal(403, /allowlist/),
    'nor by keeping silent about what it was',
  );

  const list = `${brandPath}/remodel-allowlist`;
  const entry = { 'from-model': 'pump', 'from-serial': '0002', 'to-model': 'mill', description: null };
  await brand.post(list, { allowlist: [entry] });
  t.match(await send(await remodel()), refusal(403, /allowlist/), 'another device may');
  const stolen = `${await other.request({ 'brand-id': 'my-brand', model: 'mill' })}\n${stream([serial])}`;
  t.match(await other.send(stolen), refusal(403, /belongs to another device/));
  await brand.post(list, { allowlist: [{ ...entry, 'from-serial': null }] });
  const remodelled = (await send(await remodel())).body;
  devicesTake(t, remodelled);
  const fresh = parseStream(remodelled).at(-1);
  t.match(fresh?.headers, { model: 'mill', serial: '0001' }, 'and keeps its serial');
  t.equal((await send(await request({ ...pump, serial: '0001' }))).status, 200, 'what it was is still known');

  await brand.post(`${list}/delete`, {
    allowlist: [{ 'from-model': 'pump', 'from-serial': null, 'to-model': 'mill' }],
  });
  t.equal((await other.send(await other.request({ ...pump, serial: '0002' }))).status, 200);
  const reply = await other.send(await other.request({ 'brand-id': 'my-brand', model: 'mill' }));
  t.match(parseStream(reply.body).at(-1)?.headers, { model: 'mill', serial: '0002' }, 'as may the one of the entry');
});

t.test('the serial log lists devices and serials, page by page', async (t) => {
  const { store, brand, key } = await withPolicy(t);
  for (const [vector, serial] of [
    ['rsa2048-a', '1'],
    ['rsa3072-a', '2'],
    ['rsa4096-c', '3'],
  ] as const) {
    const { request, send } = device(store, vector);
    await send(await request({ ...pump, serial }));
    store.clock.advance(60_000);
  }
  const log = `${brandPath}/model/pump/serial-log`;
  const first = (await brand.get(`${log}?page-size=2`)).body;
  t.same(first.items[0], {
    'brand-account-id': 'my-brand',
    'created-at': '2026-11-20T12:02:00.000Z',
    'model-name': 'pump',
    serial: '3',
    'signing-key-sha3-384': key,
  });
  const serials = (body: { items: { serial: string }[] }) => body.items.map(({ serial }) => serial);
  t.same(serials(first), ['3', '2']);
  const second = (await brand.get(`${log}?page-size=2&cursor=${encodeURIComponent(first['next-cursor'])}`)).body;
  t.same([serials(second), second['next-cursor']], [['1'], null]);
  t.same(
    serials((await brand.get(`${log}?start-time=2026-11-20T12:01:00Z&end-time=2026-11-20T13:01:00%2B01:00`)).body),
    ['2'],
  );
  const page = (
    await brand.get(
      `${brandPath}/model/pump/serial/2/serial-log?include-serial-assertion=true&include-serial-request-assertion=true`,
    )
  ).body;
  t.equal(parseAssertion(page.items[0]['serial-assertion']).type, 'serial');
  t.equal(parseAssertion(page.items[0]['serial-request-assertion']).type, 'serial-request');
  t.same((await brand.get(`${brandPath}/model/pump/serial/9/serial-log`)).body, { items: [], 'next-cursor': null });
  const strange = `cursor=${writeCursor(['1e300'])}`;
  for (const query of ['page-size=0', 'page-size=501', 'cursor=x', strange, 'start-time=yesterday']) {
    t.equal((await brand.get(`${log}?${query}`)).status, 400, query);
  }
  t.equal((await brand.get(`${brandPath}/model/saw/serial-log`)).status, 404);
  t.equal((await (await store.as('bob')).get(log)).status, 404);
});

t.test('a device with a revoked serial gets no other, not even as another model', async (t) => {
  const { store, brand } = await withPolicy(t);
  const { request, send } = device(store, 'rsa2048-a');
  t.match(await send(await request({ ...pump, serial: 'stolen' })), { status: 200 });
  const revoked = await brand.post(`${brandPath}/model/pump/serial/stolen/revoke`, { reason: 'It was stolen.' });
  t.equal(revoked.status, 204);
  t.match(await send(await request({ ...pump, serial: 'stolen' })), refusal(403, /was revoked: It was stolen\./));
  t.match(await send(await request({ ...pump, model: 'mill', serial: 'new' })), refusal(403, /was revoked/));
  const other = device(store, 'rsa3072-a');
  t.match(await other.send(await other.request({ ...pump, serial: 'stolen' })), refusal(403, /is revoked here/));
});

t.test('the device service of a gadget is this one, or the device is told the reason', async (t) => {
  const { store } = await withPolicy(t);
  const base = store.beside.config.http.base_url;
  const askService = (url: string, path: string) =>
    store.anyone.post(`${path}/request-id`, undefined, { 'x-snap-device-service-url': url });
  for (const path of ['/device-service', '/api/v1/snaps/auth']) {
    for (const own of ['', base, `${base}/`, `${base}/device-service`, `${base}/device-service/`]) {
      t.match(await askService(own, path), { status: 200, body: { 'request-id': String } }, own);
    }
    for (const other of [
      ...['https://vault.example/v1/', `${base}/elsewhere`, `${base}.evil.example/`, 'nonsense', 'file:///etc/passwd'],
      ...[base.replace('//', '//ada:secret@'), `${base}@evil.example/`, 'http://127.0.0.1:1/', 'x'.repeat(5000)],
    ]) {
      t.match(
        await askService(other, path),
        refusal(403, /does not contact other services\. Set 'device-service\.url' to/),
        other,
      );
    }
  }
  const url = { 'x-snap-device-service-url': 'http://127.0.0.1:1/', 'content-type': mediaType };
  for (const path of ['/device-service/serial', '/api/v1/snaps/auth/devices']) {
    t.match(await store.anyone.post(path, 'anything', url), refusal(403, /does not contact other services/));
  }
});
