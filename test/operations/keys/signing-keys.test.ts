// The three operations of a brand's signing keys together: a key takes a second or two to make.
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { requestedJudge } from '#test/assertions/judge.ts';
import { addBrand } from '#test/fixtures/brands.ts';
import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { footprint } from '#test/fixtures/footprint.ts';

const refused = (status: number, code: string, message: RegExp = /.{10,}/) => ({
  status,
  body: { 'error-list': [{ code, message }] },
});

t.setTimeout(600_000);
const judge = requestedJudge();

let store: TestAppliance;
let ada: Client;
let keys: string;
let first: Record<string, unknown>;

t.before(async () => {
  store = await startStore(t);
  await addBrand(store, 'bob');
  keys = `/v1/brand/${await addBrand(store, 'ada')}/signing_key`;
  ada = await store.as('ada');
});

t.test('a signing key is made for a brand, and its private half stays', async (t) => {
  const reply = await ada.post(keys, { name: 'serials' });
  t.equal(reply.status, 201);
  first = reply.body;
  t.match(first, {
    'brand-account-id': store.ids.ada,
    name: 'serials',
    fingerprint: /^[0-9A-F]{40}$/,
    'sha3-384': /^[A-Za-z0-9_-]{64}$/,
    'created-at': '2026-03-01T12:00:00.000Z',
    'created-by': { id: store.ids.ada, username: 'ada' },
    'modified-at': null,
    'modified-by': null,
  });
  t.equal(Object.keys(first).length, 8);
});

t.test('names are taken once for each brand', async (t) => {
  const before = footprint(store.directory);
  t.match(await ada.post(keys, { name: 'serials' }), refused(409, 'conflict', /'serials' already/));
  for (const name of [
    'Serials',
    'se rials',
    '-serials',
    'serials-',
    'se--rials',
    '42',
    'sérials',
    'x'.repeat(129),
    '',
  ]) {
    t.match(await ada.post(keys, { name }), refused(400, 'api-error'), JSON.stringify(name));
  }
  for (const body of [{}, { name: 5 }, { name: null }, { name: 'other', bits: 512 }]) {
    t.match(await ada.post(keys, body), refused(400, 'api-error'));
  }
  t.same(footprint(store.directory), before);
});

t.test('of two who make a key of one name at once, one does', async (t) => {
  const bob = await store.as('bob');
  const path = `/v1/brand/${store.ids.bob}/signing_key`;
  const replies = await Promise.all([bob.post(path, { name: 'wanted' }), bob.post(path, { name: 'wanted' })]);
  t.same(replies.map(({ status }) => status).sort(), [201, 409]);
  t.equal((await bob.get(path)).body.length, 1);
});

t.test('keys are listed as a bare array, in the order of their making', async (t) => {
  t.same((await ada.get(keys)).body, [first]);
  for (const person of ['root', 'ada']) t.same((await (await store.as(person)).get(keys)).body, [first], person);
  t.same((await ada.get(`${keys}?fields=name,sha3-384,colour`)).body, [
    { name: 'serials', 'sha3-384': first['sha3-384'] },
  ]);
  t.same((await ada.get(`${keys}?fields=`)).body, [first], 'an empty list means all');
  t.match(
    (await (await store.as('bob')).get(`/v1/brand/${store.ids.bob}/signing_key`)).body,
    [{ name: 'wanted' }],
    "another brand's are its own",
  );
  t.match(await (await store.as('bob')).get(keys), { status: 404 });
});

t.test('a request to register the key elsewhere comes as JSON or as a download', async (t) => {
  const path = `${keys}/${String(first['sha3-384'])}/account-key-request`;
  const bare = await ada.post(path);
  t.equal(bare.status, 200);
  t.same(Object.keys(bare.body), ['account-key-request']);
  const text = bare.body['account-key-request'] as string;
  t.match(text, /^type: account-key-request\n/);
  for (const line of [
    `account-id: ${store.ids.ada}`,
    'name: serials',
    `public-key-sha3-384: ${String(first['sha3-384'])}`,
    'since: 2026-03-01T12:00:00Z',
    `sign-key-sha3-384: ${String(first['sha3-384'])}`,
  ]) {
    t.ok(text.includes(`\n${line}\n`), line);
  }
  t.notMatch(text, /^until:/m);
  if (judge !== undefined) {
    const { status, stderr } = judge(text, '-strict', '-account', store.ids.ada, '-name', 'serials');
    t.equal(status, 0, `snapd takes it ${stderr}`);
  }
  t.same((await ada.post(path, {})).body, bare.body, 'an empty object is as good as no body');

  const type = 'application/x.ubuntu.assertion';
  for (const accept of [type, `text/html, ${type};q=0.9`, type.toUpperCase()]) {
    const file = await ada.post(path, undefined, { accept });
    t.equal(file.headers.get('content-type'), type);
    t.equal(file.headers.get('content-disposition'), 'attachment; filename="serials.account-key-request"');
    t.equal(file.body, text);
  }
  for (const accept of ['application/json, */*', `${type};q=0, */*`, `${type}s`]) {
    t.same((await ada.post(path, undefined, { accept })).body, bare.body, accept);
  }
});

t.test('the request contains the validity of the key', async (t) => {
  const path = `${keys}/${String(first['sha3-384'])}/account-key-request`;
  const text = async (body: unknown): Promise<string> =>
    (await ada.post(path, body)).body['account-key-request'] as string;
  const dated = await text({ since: '2027-01-01T00:00:00+02:00', until: '2030-01-01T00:00:00Z' });
  t.match(dated, /\nsince: 2026-12-31T22:00:00Z\nuntil: 2030-01-01T00:00:00Z\n|\nuntil: 2030-01-01T00:00:00Z\n/);
  t.match(dated, /\nsince: (2027-01-01T00:00:00\+02:00|2026-12-31T22:00:00Z)\n/);
  t.notMatch(await text({ until: null }), /^until:/m);
  for (const body of [
    { since: 'yesterday' },
    { since: '2026-02-30T00:00:00Z' },
    { since: '2026-01-01' },
    { since: '2026-01-01T00:00:00' },
    { since: null },
    { since: 0 },
    { until: 'never' },
    { since: '2030-01-01T00:00:00Z', until: '2029-12-31T23:59:59Z' },
    { account: 'x' },
    [],
  ]) {
    t.match(await ada.post(path, body), refused(400, 'api-error'), JSON.stringify(body));
  }
});

t.test('a key that this brand does not have is not there', async (t) => {
  for (const [who, brand, key] of [
    ['ada', store.ids.ada, 'x'.repeat(64)],
    ['ada', store.ids.ada, 'nonsense'],
    ['bob', store.ids.bob, String(first['sha3-384'])],
    ['root', store.ids.bob, String(first['sha3-384'])],
  ] as const) {
    const client = await store.as(who);
    t.match(
      await client.post(`/v1/brand/${brand}/signing_key/${key}/account-key-request`, {}),
      refused(404, 'resource-not-found'),
    );
  }
});

t.test('a sealed store lists its keys and signs with none', async (t) => {
  rmSync(join(store.directory, 'master.key'));
  store.appliance.reload();
  t.same((await ada.get(keys)).body, [first]);
  t.match(await ada.post(keys, { name: 'other' }), refused(503, 'sealed'));
  t.match(await ada.post(`${keys}/${String(first['sha3-384'])}/account-key-request`), refused(503, 'sealed'));
  t.match((await store.anyone.get('/readyz')).body, { status: 'ok', problems: [/sealed/] });
  t.match(await ada.post('/v1/snap', { name: 'hello' }), { status: 200 }, 'everything else goes on');
});

t.test('the private half is not in the responses, the log or, in clear, the records', async (t) => {
  const rows = await store.beside.records.signingKeys.find(String(first['sha3-384']));
  t.notMatch(rows?.sealed, /PRIVATE KEY|MIIJQ/);
  t.notMatch(store.log.join(''), /sealed"?:"|PRIVATE KEY/);
  t.notMatch(JSON.stringify(first), /sealed|private/i);
});
