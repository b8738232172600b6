// The stored assertions that devices read, and assertions for some devices only.
import t from 'tap';

import { joined, mediaType, parseStream, type Assertion, type Headers } from '#assertions/format/assertion.ts';
import { days } from '#domain/clock.ts';
import { createDeviceSessions } from '#macaroons/device-sessions.ts';
import {
  account,
  accountKey,
  confdbSchema,
  keys,
  made,
  madeElsewhere,
  now,
  storeKey,
  timestamp,
} from '#test/assertions/world.ts';
import { bring, keep, modelOf, pumpDevice, serialOf, startForDevices } from '../devices/world.ts';

t.setTimeout(600_000);
const notFound = { status: 404, body: { 'error-list': [{ code: 'not-found', message: String }] } };
const digest = 'A'.repeat(64);
const snapId = 'S'.repeat(32);

const set = (sequence: number, more: Record<string, string> = {}): Promise<Assertion> =>
  made('ada', 'acme', 'validation-set', {
    series: '16',
    'account-id': 'acme',
    name: 'pumps',
    sequence: String(sequence),
    snaps: [{ name: 'hello', id: snapId }],
    timestamp,
    ...more,
  });

const declarationOf = (id: string, publisher = 'acme', more: Record<string, string> = {}): Promise<Assertion> =>
  made('store', 'authority', 'snap-declaration', {
    series: '16',
    'snap-id': id,
    'snap-name': 'hello',
    'publisher-id': publisher,
    timestamp,
    ...more,
  });

const revisionOf = (id: string, more: Record<string, string> = {}): Promise<Assertion> =>
  made('store', 'authority', 'snap-revision', {
    'snap-sha3-384': digest,
    'snap-id': id,
    'snap-size': '4096',
    'snap-revision': '7',
    'developer-id': 'acme',
    timestamp,
    ...more,
  });

t.test('a device reads the exact chain of a snap, and a missing assertion is a normal response', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const [declaration, revision, model] = [await declarationOf(snapId), await revisionOf(snapId), await modelOf()];
  const schema = await confdbSchema({ revision: '2' }, 'ada', 'acme');
  await keep(store, declaration, revision, model);
  await bring(store, [schema]);
  const accept = { accept: mediaType };
  for (const [path, assertion] of [
    ['account/acme', await account('acme')],
    [`account-key/${keys.ada.id}`, await accountKey('ada', 'acme', 'default')],
    [`snap-declaration/16/${snapId}`, declaration],
    [`snap-revision/${digest}`, revision],
    [`snap-revision/${digest}/global-upload`, revision],
    ['model/16/acme/pump', model],
    ['confdb-schema/acme/network', schema],
  ] as const) {
    const reply = await anyone.get(`/v2/assertions/${path}?max-format=6`, accept);
    t.match(reply, { status: 200, body: joined(assertion) }, path);
    t.match(Object.fromEntries(reply.headers), {
      'content-type': mediaType,
      'cache-control': 'max-age=300',
      vary: 'Snap-Device-Authorization, X-Device-Authorization, Authorization, Snap-Device-Store, X-Ubuntu-Store',
      'snap-store-version': '60',
      etag: /^"[0-9a-f]{64}"$/,
    });
    const etag = reply.headers.get('etag') ?? '';
    t.match(await anyone.get(`/v2/assertions/${path}`, { 'if-none-match': `W/${etag}, "x"` }), { status: 304 });
  }
  for (const path of [
    'account/nobody',
    `snap-revision/${digest}/other`,
    'model/16/acme/valve',
    'model/17/acme/pump',
    'validation/16/a/b/1',
    'confdb-schema/acme/other',
    `snap-resource-pair/${snapId}/r/1/2`,
    'validation-set/16/acme/pumps?sequence=latest',
  ]) {
    const reply = await anyone.get(`/v2/assertions/${path}`);
    t.match(reply, notFound, path);
    t.equal(reply.headers.get('content-type'), 'application/json');
  }
});

t.test('components come with assertions of their own, of the store or of a delegated signer', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const delegated = [{ 'account-id': 'acme', provenance: ['acme-build'] }];
  const declaration = await made('store', 'authority', 'snap-declaration', {
    series: '16',
    'snap-id': snapId,
    'snap-name': 'hello',
    'publisher-id': 'acme',
    timestamp,
    'revision-authority': delegated,
  });
  const resource = { 'snap-id': snapId, 'resource-name': 'words', 'resource-revision': '3' };
  const commonHeaders = { ...resource, 'developer-id': 'acme', timestamp };
  const ofRevision = { ...commonHeaders, 'resource-sha3-384': digest, 'resource-size': '9' };
  const ofPair = { ...commonHeaders, 'snap-revision': '7' };
  const provenance = { provenance: 'acme-build' };
  const revision = await made('store', 'authority', 'snap-resource-revision', ofRevision);
  const pair = await made('store', 'authority', 'snap-resource-pair', ofPair);
  const own = await made('ada', 'acme', 'snap-resource-revision', { ...ofRevision, ...provenance });
  const ownPair = await made('ada', 'acme', 'snap-resource-pair', { ...ofPair, ...provenance });
  await bring(store, [declaration, revision, pair, own, ownPair]);
  for (const [path, assertion] of [
    [`snap-resource-revision/${snapId}/words/${digest}`, revision],
    [`snap-resource-revision/${snapId}/words/${digest}/global-upload`, revision],
    [`snap-resource-revision/${snapId}/words/${digest}/acme-build`, own],
    [`snap-resource-pair/${snapId}/words/3/7`, pair],
    [`snap-resource-pair/${snapId}/words/3/7/acme-build`, ownPair],
  ] as const) {
    t.match(await anyone.get(`/v2/assertions/${path}`), { status: 200, body: joined(assertion) }, path);
  }
  t.match(await anyone.get(`/v2/assertions/snap-resource-pair/${snapId}/words/4/7`), notFound);

  const refused = async (assertion: Assertion, reason: RegExp) => {
    await t.rejects(bring(store, [assertion]), { message: reason });
  };
  const forged = { ...ofPair, 'resource-revision': '4' };
  await refused(await made('ada', 'acme', 'snap-resource-pair', forged), /is not an authority that may say this/);
  const other = { ...forged, provenance: 'other' };
  await refused(await made('ada', 'acme', 'snap-resource-pair', other), /does not let 'acme' sign/);
  await t.rejects(made('store', 'authority', 'snap-resource-revision', { ...ofRevision, 'resource-size': 'x' }), {
    message: /'resource-size' is "x"/,
  });
});

t.test('a query that no device would make is a 400', async (t) => {
  const { anyone } = await startForDevices(t);
  for (const path of [
    'nonsense/1',
    'account/acme/more',
    'model/16/acme',
    'snap-resource-pair/x',
    `account-key-request/${keys.ada.id}`,
    'constructor/1',
    'model/16%2Facme/pump/x',
    'account/acme?max-format=-1',
    'account/acme?sequence=latest',
    'validation-set/16/acme/pumps?sequence=0',
  ]) {
    t.match(
      await anyone.get(`/v2/assertions/${path}`),
      { status: 400, body: { 'error-list': [{ code: 'api-error' }] } },
      path,
    );
  }
});

t.test('an assertion in a format that a device does not read is not there for it', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const declaration = await declarationOf(snapId, 'acme', { format: '3' });
  await keep(store, declaration);
  const path = `/v2/assertions/snap-declaration/16/${snapId}`;
  t.match(await anyone.get(`${path}?max-format=2`), notFound);
  t.match(await anyone.get(`${path}?max-format=3`), { status: 200, body: joined(declaration) });
  const newer = await declarationOf(snapId, 'acme', { revision: '1', 'snap-name': 'renamed' });
  await keep(store, newer);
  t.match(
    await anyone.get(`${path}?max-format=2`),
    { status: 200, body: joined(newer) },
    'a newer one takes its place',
  );
});

t.test('an assertion in a format that this store does not know is for the devices that know it', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const headers = {
    format: '99',
    series: '16',
    'snap-id': snapId,
    'snap-name': 'hello',
    'publisher-id': 'acme',
    timestamp,
  };
  const declaration = (more: Headers = {}) =>
    madeElsewhere('store', 'authority', 'snap-declaration', { ...headers, ...more });
  const path = `/v2/assertions/snap-declaration/16/${snapId}`;
  await t.rejects(bring(store, [await declaration({ 'publisher-id': 'Acme' })]), { message: /'publisher-id' is/ });
  t.match(await anyone.get(path), notFound, 'nothing was stored');
  const newer = await declaration({ revision: '1' });
  await bring(store, [newer]);
  t.match(await anyone.get(`${path}?max-format=98`), notFound);
  t.match(await anyone.get(`${path}?max-format=99`), { status: 200, body: joined(newer) });
  await t.rejects(bring(store, [await declaration({ format: '7' })]), { message: /revision is 0, but revision 1 is/ });
});

t.test('repairs and clusters are missing for devices, and refused in an import', async (t) => {
  const { store, anyone } = await startForDevices(t);
  for (const [type, path] of [
    ['repair', 'repair/canonical/1'],
    ['repair', 'repair/canonical?sequence=latest'],
    ['cluster', 'cluster/bc3c0a19/1?max-format=0'],
    ['cluster', 'cluster/bc3c0a19?max-format=0&sequence=1'],
  ] as const) {
    const message = `This store does not serve assertions of type '${type}'.`;
    const reply = await anyone.get(`/v2/assertions/${path}`);
    t.match(reply, { status: 404, body: { 'error-list': [{ code: 'not-found', message }] } }, path);
    t.equal(reply.headers.get('content-type'), 'application/json');
    const assertion = await madeElsewhere('ada', 'acme', type, { sequence: '1' });
    await t.rejects(bring(store, [assertion]), { message: /does not serve assertions .* Leave them out/ });
  }
});

t.test('of validation sets a device reads the newest, or the one of a number', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const sets = [await set(1), await set(2), await set(10)];
  await keep(store, ...sets);
  const path = '/v2/assertions/validation-set/16/acme/pumps';
  t.equal((await anyone.get(path)).body, joined(sets[2]!));
  t.equal((await anyone.get(`${path}?max-format=0&sequence=latest`)).body, joined(sets[2]!));
  t.equal((await anyone.get(`${path}?sequence=2`)).body, joined(sets[1]!));
  t.equal((await anyone.get(`${path}/1`)).body, joined(sets[0]!));
  t.match(await anyone.get(`${path}?sequence=3`), notFound);
});

t.test('serials and system users are for devices of their brand', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const serial = await serialOf();
  const user = await made('ada', 'acme', 'system-user', {
    'brand-id': 'acme',
    email: 'ada@acme.example',
    series: ['16'],
    models: ['pump'],
    username: 'ada',
    'ssh-keys': ['ssh-rsa AAAA ada'],
    since: '2024-06-01T00:00:00Z',
    until: '2025-06-01T00:00:00Z',
  });
  await keep(store, serial, user, await account('vault'), await accountKey('second', 'vault', 'default'));
  const own = await (await pumpDevice(anyone)).session();
  const safe = await made('second', 'vault', 'model', {
    series: '16',
    'brand-id': 'vault',
    model: 'safe',
    architecture: 'amd64',
    gadget: 'pc',
    kernel: 'pc-kernel',
    timestamp,
  });
  const ofSafe = await serialOf({ 'brand-id': 'vault', model: 'safe' }, 'second', 'vault');
  const stranger = await pumpDevice(anyone, { model: safe, serial: ofSafe });
  const { body } = await stranger.send(await stranger.texts({ 'brand-id': 'vault', model: 'safe' }));
  for (const [path, assertion] of [
    ['serial/acme/pump/0001', serial],
    ['system-user/acme/ada@acme.example', user],
  ] as const) {
    const at = `/v2/assertions/${path}`;
    t.match(await anyone.get(at), notFound);
    t.match(await anyone.get(at, { 'snap-device-authorization': `Macaroon root="${body.macaroon}"` }), notFound);
    for (const name of ['snap-device-authorization', 'x-device-authorization']) {
      const reply = await anyone.get(at, { [name]: own });
      t.match(reply, { status: 200, body: joined(assertion) });
      t.equal(reply.headers.get('cache-control'), 'private, no-store');
    }
  }
});

t.test('assertions about a private snap are available to devices of its publisher alone', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const { id } = (await (await store.as('acme')).post('/v1/snap', { name: 'secret', private: true })).body;
  await keep(store, await declarationOf(id), await revisionOf(id));
  const session = await (await pumpDevice(anyone)).session();
  for (const path of [`snap-declaration/16/${id}`, `snap-revision/${digest}`]) {
    const unknown = await anyone.get(`/v2/assertions/${path.replace(id, snapId).replace('AAAA', 'BBBB')}`);
    const reply = await anyone.get(`/v2/assertions/${path}`);
    t.match(reply, notFound);
    t.same(Object.keys(reply.body), Object.keys(unknown.body), 'as if it were not there');
    t.match(await anyone.get(`/v2/assertions/${path}`, { 'snap-device-authorization': session }), { status: 200 });
  }
});

t.test('a session that does not hold sends the device for a new one', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const session = await (await pumpDevice(anyone)).session();
  const asks = (value: string, name = 'snap-device-authorization') =>
    anyone.get('/v2/assertions/account/acme', { [name]: value });
  const sentBack = async (value: string, label: string) => {
    for (const name of ['snap-device-authorization', 'x-device-authorization']) {
      const reply = await asks(value, name);
      const code = 'device-authorization-needs-refresh';
      t.match(reply, { status: 401, body: { 'error-list': [{ code, message: String }] } }, label);
      t.equal(reply.headers.get('www-authenticate'), 'Macaroon refresh_device_session=1');
    }
  };
  t.match(await asks(session), { status: 200 });
  t.match(await asks(session, 'x-device-authorization'), { status: 200 });
  const about = {
    device: { brand: 'acme', model: 'pump', serial: '0001' },
    store: 'larder',
    deviceKeyId: keys.device.id,
    signedWith: keys.ada.id,
    until: new Date(now.getTime() + days(1)),
  };
  await sentBack(
    `Macaroon root="${createDeviceSessions(Buffer.alloc(32), () => now).write(about)}"`,
    'of another store',
  );
  await sentBack(`${session.slice(0, -5)}xxxx"`, 'forged');
  for (const junk of ['x', 'Macaroon root=""', 'Bearer x', `${session}, ${session}`, 'Macaroon root="☃"']) {
    await sentBack(Buffer.from(junk).toString('latin1'), junk);
  }
  await sentBack(`Macaroon root="${(await store.as('ada')).token}"`, "a publisher's token");

  await bring(store, [await accountKey('ada', 'acme', 'default', { revision: '1', until: '2024-01-01T00:00:00Z' })]);
  await sentBack(session, 'its key was revoked');
});

t.test('a session ends when the serial of its device is given to another one', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const session = await (await pumpDevice(anyone)).session();
  const asks = () => anyone.get('/v2/assertions/account/acme', { 'snap-device-authorization': session });
  await keep(store, await serialOf());
  t.match(await asks(), { status: 200 });
  const { second } = keys;
  await keep(store, await serialOf({ revision: '1', 'device-key': second.encoded, 'device-key-sha3-384': second.id }));
  t.match(await asks(), { status: 401, body: { 'error-list': [{ code: 'device-authorization-needs-refresh' }] } });
});

t.test('a session ends after 30 days', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const session = await (await pumpDevice(anyone)).session();
  const asks = () => anyone.get('/v2/assertions/account/acme', { 'snap-device-authorization': session });
  store.clock.advance(days(30) - 1);
  t.match(await asks(), { status: 200 });
  store.clock.advance(1);
  t.match(await asks(), { status: 401 });
});

t.test('the store assertion comes with its prerequisites, and not before they exist here', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const path = '/v2/auth/store/assertions';
  t.match(await anyone.get(path), notFound);
  const assertion = await made('store', 'authority', 'store', {
    store: 'larder',
    'operator-id': 'acme',
    url: store.url,
    timestamp,
  });
  await keep(store, assertion);
  const reply = await anyone.get(path);
  t.equal(reply.headers.get('content-type'), mediaType);
  const texts = [await account('acme'), storeKey, assertion].map(joined);
  t.same(parseStream(reply.body).map(joined).sort(), texts.sort());
  t.equal(joined(parseStream(reply.body).at(-1)!), joined(assertion));
  t.equal((await anyone.get('/v2/assertions/store/larder')).body, joined(assertion));
});
