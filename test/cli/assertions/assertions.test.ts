// The uses of a registered key from the command line, verified with the library of snapd if it is installed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { parseStream } from '#assertions/format/assertion.ts';
import { signAssertion } from '#assertions/keys/signer.ts';
import { requestedJudge } from '#test/assertions/judge.ts';
import { vectorKey, vectorSigner } from '#test/assertions/vectors.ts';
import { newBrandStore, several, type BrandStore } from '#test/cli/brands/brand-store.ts';

t.setTimeout(600_000);
const judge = requestedJudge();

/** Whether a device that trusts the vectors' root would take this with `snap ack`. */
function ack(t: Test, { files }: BrandStore, text: string, isAccepted = true): void {
  if (judge === undefined) return;
  const { status, stderr } = judge(text, '-trusted', join(files, 'roots.assert'));
  t.equal(status, isAccepted ? 0 : 1, `snapd ${isAccepted ? 'takes' : 'refuses'} it ${stderr}`);
}

const model = {
  type: 'model',
  'authority-id': 'my-brand',
  'brand-id': 'my-brand',
  series: '16',
  model: 'pump',
  architecture: 'amd64',
  base: 'core22',
  grade: 'signed',
  snaps: [
    { name: 'pc-kernel', type: 'kernel', id: 'a'.repeat(32), 'default-channel': '22/stable' },
    { name: 'pc', type: 'gadget', id: 'b'.repeat(32), 'default-channel': '22/stable' },
  ],
};

async function registered(t: Test): Promise<BrandStore> {
  const store = await newBrandStore(t);
  await store.json(
    `assertion import ${store.file('return', several('brand-account-key', 'brand-account', 'store-account-key'))}`,
  );
  return store;
}
const sign = (store: BrandStore, type: string, headers: unknown, more = '') =>
  store.json(
    `assertion sign ${type} ${store.file(`${type}.json`, JSON.stringify(headers))} --brand my-brand --key default ${more}`,
  );

t.test('a model, a validation set and a system user are signed as devices take them', async (t) => {
  const store = await registered(t);
  const signed = await sign(store, 'model', model);
  t.match(signed, { type: 'model', name: 'model/16/my-brand/pump', revision: 0, registered: true });
  t.same(
    parseStream(signed.stream).map(({ type }) => type),
    ['account-key', 'account', 'account-key', 'model'],
  );
  ack(t, store, signed.stream);

  const again = await sign(store, 'model', { ...model, 'display-name': 'Pump' });
  t.match(again, { revision: 1 }, 'signed again it has the next revision');
  ack(t, store, again.stream);
  t.match(await sign(store, 'model', { ...model, revision: '1' }), { code: 'conflict', error: /not newer/ });
  t.match(await sign(store, 'model', { ...model, revision: '7' }), { revision: 7 });

  const set = await sign(store, 'validation-set', {
    name: 'tested',
    sequence: '3',
    snaps: [{ name: 'hello', id: 'c'.repeat(32), revision: '7' }],
  });
  ack(t, store, set.stream);
  const user = await sign(store, 'system-user', {
    email: 'bob@example.com',
    username: 'bob',
    models: ['pump'],
    since: '2026-01-01T00:00:00Z',
    until: '2036-01-01T00:00:00Z',
    'ssh-keys': ['ssh-rsa AAAA'],
  });
  ack(t, store, user.stream);
  t.equal((await store.json('assertion export system-user my-brand bob@example.com')).stream, user.stream);

  const exported = await store.larder('assertion export model 16 my-brand pump');
  t.equal(exported.code, 0);
  t.equal(parseStream(exported.out).at(-1)?.revision, 7);
  ack(t, store, exported.out);
  ack(t, store, exported.out.replace('pump', 'pomp'), false);
  t.equal((await store.json('assertion export validation-set 16 my-brand tested 3')).stream, set.stream);
  ack(t, store, (await store.larder(`assertion export account-key ${vectorKey('rsa4096-a').id}`)).out);
  t.match(await store.larder('assertion export model 16 my-brand saw'), { code: 1, err: /no assertion/ });
});

t.test('a serial is signed for the device of the request', async (t) => {
  const store = await registered(t);
  const device = vectorKey('rsa2048-a');
  const request = await signAssertion(vectorSigner(), device.id, {
    type: 'serial-request',
    headers: { 'brand-id': 'my-brand', model: 'pump', 'request-id': 'by hand', 'device-key': device.encoded },
    signedAt: new Date(),
  });
  const file = store.file('request.assert', request);
  const line = `assertion sign serial ${file} --brand my-brand --key default`;
  t.match(await store.larder(line), { code: 2, err: /give it one with --serial/ });
  const signed = await store.json(`${line} --serial 0001`);
  t.match(parseStream(signed.stream).at(-1)?.headers, { serial: '0001', 'device-key-sha3-384': device.id });
  ack(t, store, signed.stream);
  t.equal((await store.json('assertion export serial my-brand pump 0001')).stream, signed.stream);
  t.match(await store.json(`${line} --serial 0002`), { code: 'conflict' });
  writeFileSync(file, request.replace('model: pump', 'model: mill'));
  t.match(await store.larder(`${line} --serial 0003`), { code: 1, err: /changed after it was signed/ });
});

t.test('another brand signs a serial from the command line if the model allows it', async (t) => {
  const store = await registered(t);
  await store.json('account create --email vault@example.org --username vault --display-name Vault --id vault');
  await store.json('brand create --account vault --name Vault');
  const { 'sha3-384': keyId } = await store.json('key create vault serials');
  const device = vectorKey('rsa2048-a');
  const request = await signAssertion(vectorSigner(), device.id, {
    type: 'serial-request',
    headers: { 'brand-id': 'my-brand', model: 'pump', 'request-id': 'by hand', 'device-key': device.encoded },
    signedAt: new Date(),
  });
  const line = `assertion sign serial ${store.file('request.assert', request)} --brand vault --serial 0001`;
  t.match(await store.larder(line), { code: 1, err: /'vault' is not the brand 'my-brand', and its model does not/ });
  await sign(store, 'model', { ...model, 'serial-authority': ['vault'] });
  const signed = await store.json(line);
  t.match(signed, { name: 'serial/my-brand/pump/0001', registered: false });
  const sent = parseStream(signed.stream);
  t.match(sent.at(-1)?.headers, { 'authority-id': 'vault', 'sign-key-sha3-384': keyId, 'brand-id': 'my-brand' });
  t.ok(
    sent.some(({ type }) => type === 'model'),
    'with the model that lets it',
  );
});

t.test('an assertion that cannot be signed is refused with the reason', async (t) => {
  const store = await registered(t);
  t.match(await sign(store, 'model', { ...model, 'brand-id': 'acme' }), {
    error: /the header brand-id is "acme", but must be "my-brand"/,
  });
  t.match(await sign(store, 'model', { ...model, model: 'Pump' }), { error: /'model' is "Pump"/ });
  t.match(await sign(store, 'model', { ...model, snaps: 7 }), { error: /strings, lists and objects/ });
  t.match(await sign(store, 'model', { ...model, timestamp: 'now' }), { error: /is a time/ });
  t.match(
    await sign(store, 'model', { ...model, timestamp: '2001-01-01T00:00:00Z' }),
    { error: /not yet valid/ },
    'the key did not hold then',
  );
  t.match(await sign(store, 'account', {}), { code: 'usage', error: /TYPE is one of/ });
  const file = store.file('none.json', '{');
  t.match(await store.larder(`assertion sign model ${file} --brand my-brand --key default`), {
    code: 1,
    err: /is not JSON/,
  });
  t.match(await store.larder(`assertion sign model ${file} --brand acme --key default`), { code: 1 });
  const good = store.file('good.json', JSON.stringify(model));
  t.match(await store.larder(`assertion sign model ${good} --brand my-brand`), {
    code: 2,
    err: /name one with --key: default, second/,
  });
  t.match(await store.larder(`assertion sign model ${good} --brand acme`), { code: 1, err: /no brand 'acme'/ });

  const early = await store.larder(`assertion sign model ${good} --brand my-brand --key second`);
  t.match(early, { code: 0, err: /second is not registered yet/ });
  ack(t, store, early.out, false);
  await store.json(`assertion import ${store.file('revoked', several('revoked'))}`);
  t.match(await sign(store, 'model', model), { error: /key is revoked/ });
});
