// An operation and a command on brands and their keys are one act: the same rows, the same entry, the same refusal.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import type { Acts } from '#acts/act.ts';
import { importAssertions, storeSignedAssertion } from '#acts/assertions/assertions.ts';
import { signRevision } from '#acts/revisions/signatures.ts';
import { storeSerial } from '#acts/devices/serials.ts';
import { deleteSigningKey } from '#acts/keys/signing-keys.ts';
import { mediaType, parseAssertion, parseStream } from '#assertions/format/assertion.ts';
import { readRoots } from '#assertions/chain.ts';
import { readSerialRequest } from '#assertions/signing.ts';
import { chain } from '#test/assertions/vectors.ts';
import type { TestAppliance } from '#test/fixtures/appliance.ts';
import { addBrand, addOnlineBrand, addSigningKey, trustingVectors } from '#test/fixtures/brands.ts';
import { device } from '#test/operations/devices/service/device.ts';
import { command, newest, startNow } from '../ways.ts';

/** The code and the sentence of an operation's refusal, or of a command's. */
const refusalOf = (answer: Record<string, unknown>): object => {
  const [first] = (answer['error-list'] ?? []) as { code: string; message: string }[];
  return first ? { code: first.code, message: first.message } : { code: answer['code'], message: answer['error'] };
};
const head = async ({ beside: writableStore }: TestAppliance) => (await writableStore.records.audit.head())?.seq;

t.test('the name of a brand follows the same rules on every path', async (t) => {
  const store = await startNow(t);
  const ada = await store.as('ada');
  const brandId = await addBrand(store, 'ada');
  const { brands } = store.beside.records;
  for (const name of ['Pumps & Söhne', ' Acme ', '\u{1f527}'.repeat(128), "a'; --"]) {
    const renamed = await ada.patch(`/v1/brand/${brandId}`, { name });
    t.equal(renamed.status, 200, encodeURIComponent(name));
    const byOperation = { row: (await brands.find(brandId))?.name, entry: await newest(store) };
    const made = await command(store, `brand create --account ${store.ids.bob} --name "${name}"`);
    const byCommand = { row: (await brands.find(store.ids.bob))?.name, entry: await newest(store) };
    t.equal(byCommand.row, name.trim());
    t.equal(byCommand.row, byOperation.row, 'the row');
    t.same([renamed.body.name, made['name']], [name.trim(), name.trim()], 'the answer');
    t.same(byCommand.entry?.details, byOperation.entry?.details, 'the entry');
    t.match([byOperation.entry?.action, byCommand.entry?.action], ['update_brand', 'create_brand']);
    await (await store.as('bob')).delete(`/v1/brand/${store.ids.bob}`);
  }
  const before = await head(store);
  for (const name of [' ', '\u2003', 'a\u0007b', 'line\nline', 'line\u2028line', 'x'.repeat(129)]) {
    const { status, body } = await ada.patch(`/v1/brand/${brandId}`, { name });
    const made = await command(store, `brand create --account ${store.ids.bob} --name "${name}"`);
    t.equal(status, 400, encodeURIComponent(name));
    t.match(made['error'], /^A brand name /);
    t.equal(body['error-list'][0].message, made['error'], 'the sentence');
  }
  t.equal(await head(store), before, 'what is refused leaves nothing in the audit log');
});

t.test('a signing key is made, requested and deleted alike', async (t) => {
  const store = await startNow(t);
  const ada = await store.as('ada');
  const brand = await addBrand(store, 'ada');
  const keys = `/v1/brand/${brand}/signing_key`;
  const { signingKeys } = store.beside.records;
  /** The outcome, without the values that differ between two keys. */
  const after = async (doIt: () => Promise<unknown>) => {
    await doIt();
    const [row] = await signingKeys.list(brand);
    const entry = await newest(store);
    const object = entry?.object.replace(/[\w-]{64}$/, 'ID');
    const { name, createdBy, modifiedAt, requestedAt } = row ?? {};
    return { entry: { ...entry, object }, row: row && { name, createdBy, modifiedAt, asked: requestedAt !== null } };
  };
  const idOf = async () => (await signingKeys.list(brand))[0]?.sha3_384 ?? '';
  const byOperation = [
    await after(() => ada.post(keys, { name: 'serials' })),
    await after(async () => ada.post(`${keys}/${await idOf()}/account-key-request`)),
    await after(async () => ada.delete(`${keys}/${await idOf()}`)),
  ];
  const byCommand = [
    await after(() => command(store, `key create ${brand} serials`)),
    await after(() => command(store, `key request serials --brand ${brand} --local`)),
    await after(() => command(store, `key delete ${brand} serials`)),
  ];
  t.same(byCommand, byOperation);
  t.match(
    byOperation.map(({ entry, row }) => [entry.action, entry.object, row?.asked]),
    [
      ['create_signing_key', `brand/${brand}/signing-key/ID`, false],
      ['read_signing_key_account_key_request', `brand/${brand}/signing-key/ID`, true],
      ['delete_signing_key', `brand/${brand}/signing-key/ID`, undefined],
    ],
  );

  const used = await addSigningKey(store, brand, 'rsa4096-a', 'used');
  await ada.post(`/v1/brand/${brand}/model`, { name: 'pump', series: '16' });
  await ada.post(`/v1/brand/${brand}/model/pump/serial_policy`, { 'signing-key-sha3-384': used });
  const before = await head(store);
  for (const [name, operation, line] of [
    ['a name that is none', () => ada.post(keys, { name: 'a--b' }), `key create ${brand} a--b`],
    ['a name that is taken', () => ada.post(keys, { name: 'used' }), `key create ${brand} used`],
    ['a key in use', () => ada.delete(`${keys}/${used}`), `key delete ${brand} used`],
  ] as const) {
    t.same(refusalOf(await command(store, line)), refusalOf((await operation()).body), name);
  }
  t.equal(await head(store), before, 'what is refused leaves nothing in the audit log');
});

t.test('assertions are imported alike on every path, and none if their prerequisites changed in between', async (t) => {
  const store = await startNow(t, trustingVectors(t));
  await addOnlineBrand(store, 'my-brand');
  await addSigningKey(store, 'my-brand', 'rsa4096-a', 'default');
  const brand = await store.as('my-brand');
  const db = new SQLite(join(store.directory, 'larder.db'));
  t.teardown(() => db.close());
  const text = ['brand-account-key', 'brand-account', 'store-account-key']
    .map((name) => chain.assertions[name] ?? '')
    .join('\n');
  const file = join(t.testdir(), 'return.assert');
  writeFileSync(file, text);
  const after = async (doIt: () => Promise<unknown>) => {
    db.exec('DELETE FROM assertions');
    await doIt();
    const rows = db
      .prepare('SELECT name, type, account_id, revision, origin, text FROM assertions ORDER BY name')
      .all();
    return { rows, ...(await newest(store)), object: undefined };
  };
  const byOperation = await after(() =>
    brand.post('/v1/brand/my-brand/assertions', text, { 'content-type': mediaType }),
  );
  const byCommand = await after(() => command(store, `assertion import ${file}`));
  t.same(byCommand, byOperation);
  t.match(byOperation, { rows: { length: 3 }, action: 'import_assertions', details: { assertions: { length: 3 } } });
  const again = await brand.post('/v1/brand/my-brand/assertions', text, { 'content-type': mediaType });
  t.same(refusalOf(await command(store, `assertion import ${file}`)), refusalOf(again.body));

  db.exec('DELETE FROM assertions');
  const { records, acts, now } = store.beside;
  const [key] = await records.signingKeys.list('my-brand');
  const importer = { actor: 'cli:ada' };
  const late: Acts = {
    ...acts,
    async do(act, actor, input) {
      await acts.do(deleteSigningKey, actor, { brandAccountId: 'my-brand', sha3_384: key?.sha3_384 ?? '' });
      return acts.do(act, actor, input);
    },
  };
  const roots = readRoots(chain.trusted.join('\n'));
  const overtaken = { code: 'conflict', message: /nothing was imported/ };
  await t.rejects(importAssertions(text, importer, { records, acts: late, roots, now: now() }), overtaken);
  t.same(db.prepare('SELECT * FROM assertions').all(), []);
});

t.test('a serial follows the policy at the time of its signature', async (t) => {
  const store = await startNow(t);
  const id = await addBrand(store, 'ada');
  const ada = await store.as('ada');
  const key = await addSigningKey(store, id, 'rsa4096-a', 'default');
  for (const name of ['pump', 'mill']) await ada.post(`/v1/brand/${id}/model`, { name, series: '16', 'api-key': 'k' });
  await ada.post(`/v1/brand/${id}/model/pump/serial_policy`, { 'signing-key-sha3-384': key });
  const { request, send } = device(store, 'rsa2048-a');
  const text = await request({ 'brand-id': id, model: 'pump', serial: '0001' });
  const reply = await send(text, { 'api-key': 'k', 'snap-device-capabilities': '' });
  t.equal(reply.status, 200);
  const [signed = parseAssertion('')] = parseStream(reply.body);
  const input = { signed, request: readSerialRequest(text), text };
  const byDevice = await newest(store);
  const file = join(t.testdir(), 'request.assert');
  writeFileSync(file, await device(store, 'rsa3072-a').request({ 'brand-id': id, model: 'pump', serial: '0002' }));
  t.match(await command(store, `assertion sign serial ${file} --brand ${id}`), { type: 'serial', revision: 0 });
  const object = `brand/${id}/model/pump/serial`;
  t.same(
    [byDevice, await newest(store)],
    [
      { action: 'issue_serial', object: `${object}/0001`, outcome: 'done', details: { key, policy: 1 } },
      { action: 'issue_serial', object: `${object}/0002`, outcome: 'done', details: { key } },
    ],
    'by a device and by a command: one word, of one object',
  );
  t.equal((await store.beside.records.serialLog.find(id, 'pump', '0002'))?.signingKeySha3384, key);

  const { acts } = store.beside;
  const under = { policy: 1, apiKey: 'k', remodelled: undefined };
  const before = await head(store);
  for (const [name, terms] of [
    ['another policy', { ...under, policy: 2 }],
    ['another api-key', { ...under, apiKey: 'another' }],
    ['a remodel that is permitted no more', { ...under, remodelled: { model: 'mill', serial: '0001' } }],
  ] as const) {
    const changed = { code: 'conflict', message: /was just changed\. Try again/ };
    await t.rejects(acts.do(storeSerial, { actor: 'device:x' }, { ...input, under: terms }), changed, name);
  }
  const foreign = parseAssertion(chain.assertions['brand-account'] ?? '');
  const gone = { code: 'resource-not-found', message: new RegExp(`has no signing key '${foreign.signKeyId}'`) };
  const actor = { actor: 'cli:ada' };
  await t.rejects(
    acts.do(storeSignedAssertion, actor, { signed: foreign }),
    gone,
    'what a key signed that is gone is not kept',
  );
  await t.rejects(acts.do(signRevision, actor, { packageId: 'x', revision: 1, signed: foreign }), gone);
  await t.rejects(acts.do(storeSerial, actor, { ...input, signed: foreign }), gone);
  const twice = { code: 'conflict', message: /the device has one already/ };
  await t.rejects(
    acts.do(storeSerial, { actor: 'device:x' }, { ...input, under }),
    twice,
    'under these it would be given',
  );
  t.equal(await head(store), before);
});
