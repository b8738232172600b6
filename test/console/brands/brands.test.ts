// Brands in the console: models, serial policies, the remodel allowlist, and the three steps of a signing key.
import t from 'tap';

import { chain, requests } from '#test/assertions/vectors.ts';
import { now } from '#test/assertions/world.ts';
import { startConsole, type ConsoleStore, type Visitor } from '#test/console/world.ts';
import { addBrand, addOnlineBrand, addSigningKey, trustingVectors } from '#test/fixtures/brands.ts';

t.setTimeout(600_000);

type Test = Parameters<typeof startConsole>[0];

/** The acts of an object in the audit log with their actors, the oldest first. */
async function actsOn(store: ConsoleStore, object: string): Promise<string[]> {
  const rows = await store.beside.records.audit.list(0, 1000);
  return rows.filter((row) => row.object === object).map(({ action, actor }) => `${action} ${actor}`);
}

/** A store with a brand of ada that has two models and the key `models`, at the page of the brand. */
async function withModels(t: Test): Promise<{ store: ConsoleStore; root: Visitor; brand: string; key: string }> {
  const store = await startConsole(t);
  const brand = await addBrand(store, 'ada', ['bob']);
  const key = await addSigningKey(store, brand, 'rsa4096-a', 'models');
  const root = await store.visit('root');
  const at = `/console/brands/${brand}`;
  for (const name of ['pump', 'pump-2']) await root.send(await root.open(at), `${at}/models`, { name, 'api-key': '' });
  return { store, root, brand, key };
}

t.test('an administrator makes an account a brand', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  const at = '/console/brands';
  const send = async (fields: Record<string, string>) => root.send(await root.open(at), at, fields);
  t.match((await root.open(at)).text, 'larder brand create --account ACCOUNT --name NAME');
  t.match(await send({ account: 'erin', name: 'Acme' }), { status: 404, text: /There is no account with the id/ });
  const blank = await send({ account: store.ids.ada, name: ' ' });
  t.equal(blank.status, 400);
  t.match(blank.html, `value="${store.ids.ada}"`, 'the input is there again');
  const made = await send({ account: ` ${store.ids.ada} `, name: "Acme's pumps" });
  t.match(made, { status: 200, address: new RegExp(`^${at}/`), text: /The account is a brand.*Acme's pumps/ });
  t.match(await send({ account: store.ids.ada, name: 'Acme' }), { status: 409, text: /is a brand already/ });
  t.match((await root.open(at)).text, "Acme's pumps ada ", 'with the user name of the account');
  t.match(made.html, `href="/console/people/${store.ids.ada}"><bdi>ada</bdi>`);
  t.same(await actsOn(store, `brand/${store.ids.ada}`), [`create_brand ${store.ids.root}`]);
});

t.test('a signing key is made, requested and registered as three steps', async (t) => {
  const store = await startConsole(t, trustingVectors(t));
  store.clock.now = now;
  await addOnlineBrand(store, 'my-brand');
  await addSigningKey(store, 'my-brand', 'rsa4096-a', 'default');
  const root = await store.visit('root');
  const at = '/console/brands/my-brand';
  const make = async (name: string) => root.send(await root.open(at), `${at}/keys`, { name });
  t.match(await make('My Key'), { status: 400, text: /must be of lower-case letters/ });
  t.match(await make('default'), { status: 409, text: /has a signing key 'default' already/ });
  t.match(await make('second'), { status: 200, text: /The key is made\..*Signing key second/ });

  const id = requests.keys.find(({ name }) => name === 'rsa4096-a')?.['public-key-sha3-384'] ?? '';
  const own = `${at}/keys/${id}`;
  const made = await root.open(own);
  t.match(made.text, /Done: Make the key Request its registration Import the answer/);
  t.match(made.text, 'larder key request default --brand my-brand --folder ./to-the-internet');
  const request = await root.send(made, `${own}/request`);
  t.match(request, { status: 200, html: /^type: account-key-request\n/ });
  const requested = await root.open(own);
  t.match(requested.text, /Done: Make the key Done: Request its registration Import the answer/);

  const wrong = await root.send(requested, `${own}/answer`, { assertions: 'type: account-key\n\nx' });
  t.match(wrong, { status: 400, text: /not a well-formed assertion/ });
  t.match(wrong.html, /<textarea[^>]*>\ntype: account-key/, 'the input is there again');
  const answer = ['brand-account-key', 'store-account-key', 'brand-account']
    .map((name) => chain.assertions[name] ?? '')
    .join('\n');
  // Browsers send each line end of a field as CR LF.
  const registered = await root.send(requested, `${own}/answer`, { assertions: answer.replaceAll('\n', '\r\n') });
  t.match(registered, { status: 200, text: /The answer is imported\..*devices trust its signatures/ });
  t.match(registered.text, /Done: Import the answer/);
  t.match((await root.open(at)).text, /has a key that is registered.*default registered/);
  t.match(await root.send(requested, `${own}/answer`, { assertions: answer }), { status: 400, text: /nothing new/ });
  for (const none of ['', '/delete']) t.equal((await root.open(`${at}/keys/none${none}`)).status, 404);
  const ask = await root.open(`${own}/delete`);
  t.match(ask.text, 'larder key delete my-brand default');
  t.match((await root.send(ask, `${own}/delete`)).text, 'The key is deleted.');
  t.equal((await root.open(own)).status, 404);
});

t.test('models are created, changed and deleted', async (t) => {
  const { store, root, brand } = await withModels(t);
  const at = `/console/brands/${brand}`;
  const page = await root.open(at);
  t.match(page.html, `href="${at}/models/pump"`);
  const create = (fields: Record<string, string>) => root.send(page, `${at}/models`, fields);
  t.match(await create({ name: 'Pump' }), { status: 400, text: /only lower-case letters/ });
  t.match(await create({ name: 'pump' }), { status: 409, text: /has a model 'pump' already/ });
  const refused = await create({ name: 'pump-3', series: 'x y' });
  t.equal(refused.status, 400);
  t.match(refused.html, 'value="pump-3"', 'the input is there again');
  t.match(await create({ name: 'pump-3', 'api-key': 'two words' }), { status: 400 });

  const own = `${at}/models/pump`;
  const changed = await root.send(await root.open(own), `${own}/api-key`, { 'api-key': 'secret-1' });
  t.match(changed.text, /The model is changed\..*Devices send a key yes/);
  t.notMatch(changed.html, 'secret-1', 'the page never shows it');
  t.equal((await store.beside.records.models.find(brand, 'pump'))?.apiKey, 'secret-1');

  const ask = await root.open(`${own}/delete`);
  t.match(ask.text, 'Delete the model pump?');
  t.match((await root.send(ask, `${own}/delete`)).text, 'The model is deleted.');
  t.equal((await root.open(own)).status, 404);
  t.equal((await root.send(ask, `${own}/delete`)).status, 404);
  t.same(
    (await actsOn(store, `brand/${brand}/model/pump`)).map((entry) => entry.split(' ')[0]),
    ['create_model', 'update_model', 'delete_model'],
  );
});

t.test('serial policies name the key of a model, and are deleted after a question', async (t) => {
  const { store, root, brand, key } = await withModels(t);
  const own = `/console/brands/${brand}/models/pump`;
  const page = await root.open(own);
  t.match(page.text, /No key signs serials of the model/);
  const add = (fields: Record<string, string>) => root.send(page, `${own}/serial-policies`, fields);
  t.match(await add({ key: '', 'other-key': '' }), { status: 400, text: /Choose a key/ });
  t.match(await add({ 'other-key': 'x'.repeat(64) }), { status: 404, text: /has no signing key/ });
  t.match((await add({})).text, /The policy is added\..*1 in force models/);
  await add({ key });
  t.match((await root.open(own)).text, /2 in force models .* Delete policy 2 1 models/);
  t.match((await root.open(`/console/brands/${brand}/keys/${key}`)).text, 'Signs serials of pump');

  const keyPage = `/console/brands/${brand}/keys/${key}`;
  const used = await root.send(await root.open(`${keyPage}/delete`), `${keyPage}/delete`);
  t.match(used, { status: 409, text: /is used to sign at least one serial policy/ });

  const ask = await root.open(`${own}/serial-policies/2/delete`);
  t.match(ask.text, 'the newest of the others applies');
  t.match((await root.send(ask, `${own}/serial-policies/2/delete`)).text, /The policy is deleted\..*1 in force/);
  t.equal((await root.send(ask, `${own}/serial-policies/2/delete`)).status, 404);
  const model = await root.open(`${own}/delete`);
  t.match(await root.send(model, `${own}/delete`), { status: 409, text: /still has serial policies/ });
  t.equal((await store.beside.records.serialPolicies.list(brand, 'pump')).length, 1);
});

t.test('the remodel allowlist gains and loses entries', async (t) => {
  const { store, root, brand } = await withModels(t);
  const at = `/console/brands/${brand}/remodels`;
  const page = await root.open(at);
  t.match(page.text, 'No device may become another model.');
  const add = (fields: Record<string, string>) => root.send(page, at, fields);
  t.match(await add({ 'to-model': 'none' }), { status: 404, text: /has no model 'none'/ });
  t.match(await add({ 'from-serial': 'x'.repeat(257) }), { status: 400 });
  t.match(
    (await add({ 'from-serial': 'p-1', description: '<b>swap' })).text,
    /is permitted\..* pump p-1 pump-2 <b>swap/,
  );
  t.match(await add({ 'from-serial': 'p-1' }), { status: 409, text: /has the remodel .* already/ });
  t.match((await add({})).text, /pump All pump-2/);

  const ask = await root.open(`${at}/remove?from-model=pump&from-serial=p-1&to-model=pump-2`);
  t.match(ask.text, 'from pump with the serial p-1 to pump-2');
  t.match(ask.text, `larder remodel remove ${brand} --from`, 'with the command that does the same');
  t.match((await root.send(ask, `${at}/remove`)).text, 'The remodel is no longer permitted.');
  const log = (await root.open('/console/audit')).text;
  t.match(log, /created the model pump of brand/, 'the log names models and allowlists in words');
  t.match(log, /permitted remodels in the remodel allowlist of brand/);
  t.equal((await root.send(ask, `${at}/remove`)).status, 404);
  t.match(await root.open(ask.address), { status: 404, text: /not permitted, so there is nothing to remove/ });
  t.match(await root.open(`${at}/remove`), { status: 404 });
  const left = await store.beside.records.remodelAllowlist.list(
    brand,
    undefined,
    { fromModel: null, toModel: null },
    9,
  );
  t.match(left, [{ fromModel: 'pump', fromSerial: null, toModel: 'pump-2' }]);
  t.equal(left.length, 1);
});

t.test('an administrator of the brand has the same pages, and no other publisher', async (t) => {
  const { store, root, brand, key } = await withModels(t);
  await store.join('carol');
  const [bob, carol] = [await store.visit('bob'), await store.visit('carol')];
  const at = `/console/brands/${brand}`;
  const pages = [at, `${at}/keys/${key}`, `${at}/models/pump`, `${at}/models/pump/delete`, `${at}/remodels`];
  for (const address of pages) {
    t.equal((await bob.open(address)).status, 200, address);
    t.equal((await carol.open(address)).status, 404, address);
  }
  t.match(await bob.send(await bob.open(at), `${at}/models`, { name: 'pump-3' }), { status: 200 });
  t.equal((await carol.send(await root.open(at), `${at}/models`, { name: 'pump-4' })).status, 404);
  t.equal((await store.beside.records.models.list(brand)).length, 3);
});
