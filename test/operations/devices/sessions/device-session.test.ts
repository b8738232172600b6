// A device proves its serial, and is known by its session from then on.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import t from 'tap';

import { joined, type Assertion } from '#assertions/format/assertion.ts';
import { days, hours, minutes } from '#domain/clock.ts';
import { changeConfig } from '#configuration/config.ts';
import { account, accountKey, keys, trusted } from '#test/assertions/world.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { startTwoProcesses } from '#test/fixtures/processes/two-processes.ts';
import { trusting } from '#test/fixtures/brands.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { larder } from '../../../cli/world.ts';
import { bring, keep, makeAcme, modelOf, pumpDevice, serialOf, startForDevices } from '../world.ts';

t.setTimeout(3_600_000);
const refused = (status: number, message: RegExp, code = status === 401 ? 'unauthorized' : 'api-error') => ({
  status,
  body: { 'error-list': [{ code, message }] },
});

t.test('a device with a model and a serial of its brand gets a session, and a new one before that ends', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const device = await pumpDevice(anyone);
  const sent = await device.texts();
  const reply = await device.send(sent);
  t.match(reply, { status: 200, body: { macaroon: /^[\w-]+$/ } });
  t.match(Object.fromEntries(reply.headers), { 'content-type': 'application/json', 'snap-store-version': '60' });
  t.match(await device.send(sent), refused(401, /has been used/), 'the nonce is good once');

  store.clock.advance(days(29));
  const former = `Macaroon root="${reply.body.macaroon}"`;
  const renewed = await device.send(await device.texts(), { 'x-device-authorization': former });
  t.match(renewed, { status: 200, body: { macaroon: String } });
  store.clock.advance(days(2));
  t.match(
    await device.send(await device.texts(), { 'x-device-authorization': former }),
    { status: 200 },
    'one that has ended keeps nobody from a new one',
  );
});

t.test('a nonce is valid for ten minutes, and only at its own store', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const device = await pumpDevice(anyone);
  const late = await device.texts();
  store.clock.advance(minutes(10));
  t.match(await device.send(late), refused(401, /last ten minutes/));
  t.match(
    await device.send(await device.texts({ nonce: 'made up' })),
    refused(401, /This store did not issue the nonce/),
  );
  const ofSerials = (await anyone.post('/device-service/request-id', undefined)).body['request-id'];
  t.match(
    await device.send(await device.texts({ nonce: ofSerials })),
    refused(401, /This store did not issue the nonce/),
  );
});

t.test('of two processes one takes a nonce, and the other knows', async (t) => {
  const trusts = trusting(t, trusted);
  const { store, turnTo } = await startTwoProcesses(t, (text) => servingSnaps(trusts(text)));
  await makeAcme(store);
  const device = await pumpDevice(store.anyone);
  const sent = await device.texts();
  const replies = await Promise.all([device.send(sent), device.send(sent)]);
  t.same(replies.map(({ status }) => status).sort(), [200, 401]);
  for (const process of [0, 1]) {
    turnTo(process);
    t.match(await device.send(sent), refused(401, /has been used/));
  }
});

t.test('parts that do not belong together are refused', async (t) => {
  const { anyone } = await startForDevices(t);
  const device = await pumpDevice(anyone);
  for (const [header, value] of [
    ['brand-id', 'other'],
    ['model', 'valve'],
    ['serial', '0002'],
  ] as const) {
    t.match(await device.send(await device.texts({ [header]: value })), refused(400, new RegExp(`the ${header} of`)));
  }
  const stranger = await pumpDevice(anyone, { key: 'second' });
  t.match(await stranger.send(await stranger.texts()), refused(400, /another key than the serial/));
  const forged = await device.texts();
  const other = (await device.texts())['device-session-request'];
  const signature = (text: string): string => text.slice(text.lastIndexOf('\n\n'));
  const content = (text: string): string => text.slice(0, text.lastIndexOf('\n\n'));
  const request = content(forged['device-session-request']) + signature(other);
  t.match(await device.send({ ...forged, 'device-session-request': request }), refused(400, /changed after/));
  const serial = joined(await serialOf()).replace('0001', '0002');
  const changed = await device.texts({ serial: '0002' });
  t.match(await device.send({ ...changed, 'serial-assertion': serial }), refused(400, /changed after/));
});

t.test('a serial and a model must lead to a root of trust', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const says = async (assertions: { model?: Assertion; serial?: Assertion }) => {
    const device = await pumpDevice(anyone, assertions);
    return device.send(await device.texts());
  };
  const unknown = /neither in the upload nor already here/;
  t.match(await says({ serial: await serialOf({}, 'second') }), refused(400, unknown), 'by a key nobody knows');
  t.match(await says({ model: await modelOf({}, 'second') }), refused(400, unknown));
  t.match(await says({ serial: await serialOf({}, 'ada', 'vault') }), refused(400, /speaks for 'vault'/));
  await bring(store, [await accountKey('ada', 'acme', 'default', { revision: '1', until: '2026-11-21T00:00:00Z' })]);
  t.match(await says({}), { status: 200 });
  store.clock.advance(days(1));
  t.match(await says({}), refused(400, /is expired/), 'the keys must be valid now');
});

t.test('another account signs serials as long as the model names it', async (t) => {
  const { store, anyone } = await startForDevices(t);
  await keep(store, await account('vault'), await accountKey('second', 'vault', 'serials'));
  const serial = await serialOf({}, 'second', 'vault');
  const model = await modelOf({ 'serial-authority': ['vault'] });
  const delegated = await pumpDevice(anyone, { model, serial });
  t.match(await delegated.send(await delegated.texts()), { status: 200 });
  const plain = await pumpDevice(anyone, { serial });
  t.match(await plain.send(await plain.texts()), refused(400, /no model that is here names it/));
  await bring(store, [await modelOf({ revision: '1' })]);
  t.match(
    await delegated.send(await delegated.texts()),
    refused(400, /revision 1, does not let 'vault'/),
    'an older model brings nobody back',
  );
  const own = await pumpDevice(anyone);
  t.match(await own.send(await own.texts()), { status: 200 }, 'and a device may have an older one of its own brand');
});

t.test('a serial that was given to another device is good for no session', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const device = await pumpDevice(anyone);
  t.match(await device.send(await device.texts()), { status: 200 });
  const { second } = keys;
  await bring(store, [
    await serialOf({ revision: '1', 'device-key': second.encoded, 'device-key-sha3-384': second.id }),
  ]);
  t.match(await device.send(await device.texts()), refused(401, /belongs to another device here/));
});

t.test('bodies of every wrong kind cost a 4xx', async (t) => {
  const { anyone } = await startForDevices(t);
  const device = await pumpDevice(anyone);
  const good = await device.texts();
  const bad: [unknown, number][] = [
    [{}, 400],
    [[], 400],
    ['{"device-session-request"', 400],
    [{ ...good, more: 1 }, 400],
    [{ ...good, 'serial-assertion': '' }, 400],
    [{ ...good, 'serial-assertion': good['model-assertion'] }, 400],
    [{ ...good, 'model-assertion': good['serial-assertion'] }, 400],
    [{ ...good, 'device-session-request': 'type: device-session-request\n\nnot a signature' }, 400],
    [{ ...good, 'serial-assertion': 'x'.repeat(65_537) }, 400],
    [{ ...good, 'model-assertion': 'x'.repeat(400_000) }, 413],
    [{ ...good, 'serial-assertion': `${good['serial-assertion']}\n${good['model-assertion']}` }, 400],
  ];
  for (const [body, status] of bad) {
    const reply = await device.send(body);
    t.equal(reply.status, status, JSON.stringify(body).slice(0, 80));
    t.match(reply.body, { 'error-list': [{ code: String, message: String }] });
  }
  t.match(await device.send(good), { status: 200 }, 'and none of them used up the nonce');
});

t.test('a serial is as long as the records can look for it, and no longer', async (t) => {
  const { store, anyone } = await startForDevices(t, (text) =>
    text.replace(/^# remember = false$/m, 'remember = true'),
  );
  // Nothing that a database could write shorter.
  const serial = randomBytes(512).toString('hex');
  const device = await pumpDevice(anyone, { serial: await serialOf({ serial }) });
  const texts = await device.texts({ serial });
  const longer = (text: string): string => text.replace(serial, `${serial}0`);
  for (const name of ['device-session-request', 'serial-assertion'] as const) {
    const reply = await device.send({ ...texts, [name]: longer(texts[name]) });
    t.match(reply, refused(400, /'serial' is longer than 1024 bytes/), name);
  }
  t.match(await device.send(texts), { status: 200 });
  await store.restart();
  t.match(await store.beside.records.seenDevices.find('acme', 'pump', serial), { serial });
});

t.test('a device with a revoked serial loses its session at once, and gets no other', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const device = await pumpDevice(anyone);
  const header = { 'snap-device-authorization': await device.session() };
  const read = () => anyone.get('/v2/assertions/account/acme', header);
  t.match(await read(), { status: 200 });
  const acme = await store.as('acme');
  const revoke = '/v1/brand/acme/model/pump/serial';
  t.match(await acme.post(`${revoke}/0002/revoke`, { reason: 'Another one.' }), { status: 204 });
  t.match(await read(), { status: 200 });
  t.match(await acme.post(`${revoke}/0001/revoke`, { reason: 'two\nlines' }), { status: 400 });
  const line = "device revoke-serial --brand acme --model pump --serial 0001 --reason 'It was stolen.' --yes";
  t.match(await larder(`${line} --data ${store.directory}`), { err: '', out: /is revoked/ });
  const ended = await read();
  t.match(ended, { status: 401, body: { 'error-list': [{ message: /revoked/ }] } });
  t.equal(ended.headers.get('www-authenticate'), 'Macaroon refresh_device_session=1');
  t.match(await device.send(await device.texts()), refused(401, /revoked here on 20\d\d-\d\d-\d\d: It was stolen\./));
  t.match(await acme.post(`${revoke}/0001/revoke`, { reason: 'Again.' }), { status: 409 });
  t.match(await store.as('bob').then((bob) => bob.post(`${revoke}/0003/revoke`, { reason: 'x' })), { status: 404 });
});

const many = process.env['LARDER_LONG'] === '1' ? 20_000 : 40;

t.test('a session of one store is invalid at another store with the same keys', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const device = await pumpDevice(anyone);
  const { macaroon } = (await device.send(await device.texts())).body as { macaroon: string };
  const ask = async () =>
    store.anyone.get('/v2/snaps/info/nothing', { 'snap-device-authorization': `Macaroon root="${macaroon}"` });
  t.equal((await ask()).status, 404, 'the session is good where it was given');
  changeConfig(join(store.directory, 'larder.toml'), { 'store.id': 'another' });
  await store.restart();
  t.match(
    await ask(),
    refused(401, /session of the device belongs to another store/, 'device-authorization-needs-refresh'),
  );
});

largeTest('a fleet behind one address gets its sessions and responses, without a rate limit', async (t) => {
  const { store, anyone } = await startForDevices(t);
  let devices = 0;
  const runClient = async (): Promise<void> => {
    while (devices < many) {
      // As many as there are in an hour.
      store.clock.advance(hours(1) / 20_000);
      const serial = `no-${devices++}`;
      const device = await pumpDevice(anyone, { serial: await serialOf({ serial }) });
      const reply = await device.send(await device.texts({ serial }));
      if (reply.status !== 200) t.fail(JSON.stringify(reply.body));
      const header = { 'snap-device-authorization': `Macaroon root="${reply.body.macaroon}"` };
      const actions = [{ action: 'install', 'instance-key': 'a', name: 'hello' }];
      const answer = await anyone.post('/v2/snaps/refresh', { context: [], actions }, header);
      if (answer.status !== 200) t.fail(JSON.stringify(answer.body));
    }
  };
  await Promise.all([runClient(), runClient(), runClient(), runClient()]);
  t.equal(devices, many);
});
