// Serials that another account signs than the brand of the device, if the model of the brand allows it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { mediaType, parseStream, stream, type Assertion, type Headers } from '#assertions/format/assertion.ts';
import { requestedJudge } from '#test/assertions/judge.ts';
import { account, accountKey, made, now, roots, storeKey, timestamp } from '#test/assertions/world.ts';
import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addOnlineBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { device } from './device.ts';

t.setTimeout(600_000);
const folder = mkdtempSync(join(tmpdir(), 'larder-roots-'));
t.teardown(() => {
  rmSync(folder, { recursive: true });
});
const rootsFile = join(folder, 'roots.assert');
writeFileSync(rootsFile, stream(roots.assertions));
const judge = requestedJudge();

const pump = { 'brand-id': 'acme', model: 'pump' };
const policies = '/v1/brand/acme/model/pump/serial_policy';
const refusal = (status: number, code: string, message: RegExp) => ({
  status,
  body: { 'error-list': [{ code, message }] },
});

const modelOfAcme = (more: Headers = {}): Promise<Assertion> =>
  made('ada', 'acme', 'model', {
    series: '16',
    ...pump,
    architecture: 'amd64',
    base: 'core18',
    gadget: 'pc',
    kernel: 'pc-kernel',
    timestamp,
    ...more,
  });

/** A store of two brands: acme, which makes pumps, and vault, which signs serials for others. */
async function withTwoBrands(t: Parameters<typeof startStore>[0]): Promise<{
  store: TestAppliance;
  acme: Client;
  root: Client;
  key: string;
  back(...all: Assertion[]): Promise<void>;
}> {
  const store = await startStore(t, (text) => text.replace(/^# trusted = .*$/m, `trusted = ["${rootsFile}"]`));
  store.clock.now = now;
  for (const brand of ['acme', 'vault']) await addOnlineBrand(store, brand);
  await addSigningKey(store, 'acme', 'rsa4096-a', 'default');
  const key = await addSigningKey(store, 'vault', 'rsa4096-b', 'serials');
  const [acme, vault] = [await store.as('acme'), await store.as('vault')];
  const send = async (client: Client, brand: string, all: readonly Assertion[]): Promise<void> => {
    const reply = await client.post(`/v1/brand/${brand}/assertions`, stream(all), { 'content-type': mediaType });
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body));
  };
  await send(acme, 'acme', [storeKey, await account('acme'), await accountKey('ada', 'acme', 'default')]);
  await send(vault, 'vault', [await account('vault'), await accountKey('second', 'vault', 'serials')]);
  await acme.post('/v1/brand/acme/model', { name: 'pump', series: '16' });
  return { store, acme, root: await store.as('root'), key, back: (...all) => send(acme, 'acme', all) };
}

t.test('another account signs the serials of a model that names it as serial-authority', async (t) => {
  const { store, root, key, back } = await withTwoBrands(t);
  const policy = { 'signing-key-sha3-384': key };
  t.match(await root.post(policies, policy), refusal(400, 'api-error', /names it as serial-authority/));
  await back(await modelOfAcme());
  t.match(await root.post(policies, policy), refusal(400, 'api-error', /names it as serial-authority/));
  await back(await modelOfAcme({ revision: '1', 'serial-authority': ['vault'] }));
  const expected = { authority: 'vault', 'model-name': 'pump', revision: 1, 'signing-key-sha3-384': key };
  t.match(await root.post(policies, policy), { status: 201, body: expected });
  t.match(await root.get(policies), { status: 200, body: [expected] });

  const { request, send, keyId } = device(store, 'rsa2048-a');
  const serialRequest = await request({ ...pump, serial: '0001' });
  const reply = await send(serialRequest);
  t.equal(reply.status, 200, JSON.stringify(reply.body));
  const sent = parseStream(reply.body);
  t.match(sent.at(-1)?.headers, {
    'authority-id': 'vault',
    ...pump,
    serial: '0001',
    'device-key-sha3-384': keyId,
    'sign-key-sha3-384': key,
  });
  t.same(sent.map(({ type }) => type).sort(), [
    'account',
    'account',
    'account-key',
    'account-key',
    'account-key',
    'model',
    'serial',
  ]);
  if (judge !== undefined) {
    const { status, stderr } = judge(reply.body, '-trusted', rootsFile);
    t.equal(status, 0, `snapd takes all of it ${stderr}`);
    const alone = stream(sent.filter(({ type }) => type !== 'model'));
    t.equal(judge(alone, '-trusted', rootsFile).status, 1, 'which it does not without the model');
  }
  t.equal((await send(serialRequest)).body, reply.body, 'a retry is safe');
  t.match(
    await (await store.as('vault')).delete(`/v1/brand/vault/signing_key/${key}`),
    refusal(409, 'conflict', /used to sign at least one serial policy/),
  );

  await back(await modelOfAcme({ revision: '2', 'serial-authority': ['somebody-else'] }));
  const other = device(store, 'rsa3072-a');
  t.match(await other.send(await other.request(pump)), {
    status: 400,
    body: { message: /'vault' is not the brand 'acme', and its model does not name it as serial-authority/ },
  });
});

t.test("a brand's administrator may not make another brand's key sign", async (t) => {
  const { store, acme, key, back } = await withTwoBrands(t);
  await back(await modelOfAcme({ 'serial-authority': ['vault'] }));
  const policy = { 'signing-key-sha3-384': key };
  t.match(await acme.post(policies, policy), refusal(404, 'resource-not-found', /no signing key/));
  t.match(
    await (await store.as('vault')).post(policies, policy),
    refusal(404, 'resource-not-found', /Brand acme not found/),
  );
  t.same((await acme.get(policies)).body, []);
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'change_role', object: 'vault' }, (tx) =>
    tx.brands.addAdministrator('vault', 'acme', at),
  );
  t.match(await acme.post(policies, policy), { status: 201, body: { authority: 'vault' } }, 'but one of both may');
});
