// Keys in a key manager, through the front doors: commands, the interface, the console.
import t from 'tap';

import { parseAssertion } from '#assertions/format/assertion.ts';
import { checkSignature } from '#assertions/chain.ts';
import { fakeManager } from '#test/assertions/keys/fake-manager.ts';
import { vectorKey } from '#test/assertions/vectors.ts';
import { larder } from '#test/cli/world.ts';
import { startConsole } from '#test/console/world.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';

t.setTimeout(120_000);

t.test('a brand signs with keys in the key manager and in the store', async (t) => {
  const [managed, other] = [vectorKey('rsa4096-a'), vectorKey('rsa4096-c')];
  const keys = { 'acme serials': managed.privateKey, small: vectorKey('rsa3072-a').privateKey };
  const { path, misbehave, hangs, release, calls } = fakeManager(t, { ...keys, other: other.privateKey });
  const store = await startConsole(t, (text) => text.replace(/^# manager = .*$/m, `manager = "${path}"`));
  const [acme, bobs] = [await addBrand(store, 'ada'), await addBrand(store, 'bob')];
  const storedKey = await addSigningKey(store, acme, 'rsa4096-b', 'models');
  const run = (line: string) => larder(`${line} --data ${store.directory}`);
  const json = async (line: string) => {
    const { out, err } = await run(`${line} --json`);
    return JSON.parse(out === '' ? err : out) as Record<string, unknown>;
  };

  t.match(await json(`key create ${acme} serials --in-manager 'acme serials'`), {
    'sha3-384': managed.id,
    'manager-key': 'acme serials',
    status: 'new',
  });
  t.match((await run('audit list --json')).out, /"manager-key": ?"acme serials"/);
  for (const [line, message] of [
    [`key create ${acme} again --in-manager 'acme serials'`, /The key .* is here already/],
    [`key create ${bobs} again --in-manager 'acme serials'`, /The key .* is here already/],
    [`key create ${acme} serials --in-manager 'acme serials'`, /has a signing key 'serials' already/],
    [
      `key create ${acme} models2 --in-manager models`,
      /no key 'models'; it has 'acme serials', 'small'\. Make a key with/,
    ],
    [
      `key create ${acme} small --in-manager small`,
      /RSA with 3072 bits, and only RSA with 4096 to 16384 bits can sign/,
    ],
    [`key create ${acme} dash --in-manager=-dash`, /does not begin with a dash/],
  ] as const)
    t.match(await run(line), { code: 1, err: message }, line);

  const places = [
    { name: 'models', 'sha3-384': storedKey, 'manager-key': null },
    { name: 'serials', 'sha3-384': managed.id, 'manager-key': 'acme serials' },
  ];
  const byName = (list: unknown) => (list as { name: string }[]).sort((a, b) => a.name.localeCompare(b.name));
  t.match(byName((await json('key list'))['keys']), places);
  t.match((await run('key list')).out, /serials .* in the key manager as 'acme serials'/);
  t.match((await run(`key show serials`)).out, /Private key +in the key manager as 'acme serials'/);
  const ada = await store.as('ada');
  const path_ = `/v1/brand/${acme}/signing_key`;
  t.match(byName((await ada.get(`${path_}?fields=name,sha3-384,manager-key`)).body), places);
  t.notOk('manager-key' in (await ada.get(path_)).body[0], 'the published interface stays as it is');
  t.match(
    (await (await store.visit('root')).open(`/console/brands/${acme}`)).text,
    /in the key manager as acme serials/,
  );

  const request = (key: string) => ada.post(`${path_}/${key}/account-key-request`);
  const signed = await request(managed.id);
  t.equal(signed.status, 200);
  t.doesNotThrow(() => checkSignature(parseAssertion(signed.body['account-key-request']), managed.publicKey));
  t.equal((await request(storedKey)).status, 200, 'both kinds sign');

  misbehave('sign', 'hang');
  let isAnswered = false;
  const pending = request(managed.id).finally(() => (isAnswered = true));
  await hangs();
  for (const reply of await Promise.all([request(storedKey), ada.get(path_), store.anyone.get('/healthz')]))
    t.equal(reply.status, 200, 'a device that hangs delays no other request');
  t.notOk(isAnswered);
  release();
  t.equal((await pending).status, 200);

  misbehave('sign', 'flip a bit');
  t.match(await request(managed.id), {
    status: 503,
    body: {
      'error-list': [{ code: 'sealed', message: /The keys in the key manager are not available: the signature with/ }],
    },
  });
  t.match(await run('key request serials --local'), { code: 1, err: /does not match the public key/ });
  misbehave();
  t.match(await run('key request serials --local'), { code: 0, out: /^type: account-key-request/ });

  const before = calls().length;
  t.match(await run(`key delete ${acme} serials`), {
    code: 0,
    out: /is deleted\. The key manager still has it: delete it with the tools of the device/,
  });
  t.equal((await request(managed.id)).status, 404);
  t.equal(calls().length, before, 'a deleted key is not asked for');
});
