import t from 'tap';

import { mediaType, parseAssertion, stream } from '#assertions/format/assertion.ts';
import { bytesOf, chain, requests } from '#test/assertions/vectors.ts';
import { account, accountKey, now, storeKey } from '#test/assertions/world.ts';
import { startStore, type Client, type Reply, type TestAppliance } from '#test/fixtures/appliance.ts';
import { changeIn, rowsIn } from '#test/fixtures/records/behind.ts';
import { addBrand, addOnlineBrand, addSigningKey, trustingVectors } from '#test/fixtures/brands.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { cpuWatch } from '#test/fixtures/cpu.ts';

const refusal = (status: number, code: string, message: RegExp | string = /.{10,}/) => ({
  status,
  body: { 'error-list': [{ code, message }] },
});
const path = '/v1/brand/my-brand/assertions';
const send = (client: Client, text: string, type = mediaType): Promise<Reply> =>
  client.post(path, text, { 'content-type': type });
const several = (...names: string[]): string => names.map((name) => chain.assertions[name] ?? '').join('\n');

/** The vectors' brand with its two keys, and a store that trusts the vectors' root. */
async function withBrand(
  t: Parameters<typeof startStore>[0],
): Promise<{ store: TestAppliance; brand: Client; kept: () => number }> {
  const store = await startStore(t, trustingVectors(t));
  store.clock.now = now;
  await addOnlineBrand(store, 'my-brand');
  await addSigningKey(store, 'my-brand', 'rsa4096-a', 'default');
  await addSigningKey(store, 'my-brand', 'rsa4096-b', 'second');
  const countStored = (): number =>
    rowsIn<{ rows: number }>(store.directory, 'SELECT COUNT(*) AS rows FROM assertions')[0]!.rows;
  return { store, brand: await store.as('my-brand', { permissions: ['account-manage-keys'] }), kept: countStored };
}

t.test('the whole life of a key, as in snapd: requested, registered, used and revoked', async (t) => {
  const { store, brand, kept: counted } = await withBrand(t);
  const rename = (first: string, second: string): void => {
    const set = (name: string, key: string): void =>
      changeIn(store.directory, 'UPDATE signing_keys SET name = ? WHERE sha3_384 = ?', name, key);
    const [firstKey, two] = ['rsa4096-a', 'rsa4096-b'].map(
      (name) => requests.keys.find((key) => key.name === name)?.['public-key-sha3-384'],
    );
    set('aside', two!);
    set(first, firstKey!);
    set(second, two!);
  };
  t.ok(chain.steps.length >= 20, `${chain.steps.length} steps`);
  for (const step of chain.steps) {
    changeIn(store.directory, 'DELETE FROM assertions');
    rename('default', 'second');
    const before = step['already-imported'] ?? [];
    if (before.length > 0)
      t.equal((await send(brand, several(...before))).status, 201, `${step.name}: what was there before`);
    if (step.name === 'account-key-same-name-other-key') rename('other', 'default');
    const countBefore = counted();
    const reply = await send(brand, step.assertion);
    const assertion = parseAssertion(step.assertion);
    if (step.ok) t.match(reply, { status: 201, body: { imported: [{ type: assertion.type }] } }, step.name);
    else {
      t.match(reply, refusal(400, 'api-error', /cannot be taken|nothing new/), step.name);
      t.same(counted(), countBefore, `${step.name}: nothing was imported`);
    }
  }
});

t.test('the key shows how far its registration has come', async (t) => {
  const { store, brand } = await withBrand(t);
  const keys = '/v1/brand/my-brand/signing_key';
  const shown = async () => (await brand.get(`${keys}?fields=name,status`)).body[0];
  t.same(await shown(), { name: 'default', status: 'new' });
  const id = (await brand.get(keys)).body[0]['sha3-384'];
  await brand.post(`${keys}/${id}/account-key-request`);
  t.same(await shown(), { name: 'default', status: 'requested' });

  const text = several('brand-account-key', 'store-account-key', 'brand-account');
  const reply = await send(brand, text);
  t.equal(reply.status, 201);
  t.same(
    reply.body.imported.map(({ type }: { type: string }) => type),
    ['account-key', 'account', 'account-key'],
    'each after what it rests on',
  );
  t.same(reply.body.imported.at(-1), { type: 'account-key', 'primary-key': [id] });
  t.same(await shown(), { name: 'default', status: 'registered' });
  t.equal(
    (await brand.get(`${keys}?fields=account-key`)).body[0]['account-key'],
    chain.assertions['brand-account-key'],
  );
  t.notOk(
    'status' in (await brand.get(keys)).body[0],
    'the interface has no such member, so it comes only when asked for',
  );

  t.match(await send(brand, text), refusal(400, 'api-error', /nothing new/));
  t.equal((await send(brand, chain.assertions['revoked'] ?? '')).status, 201);
  t.same(await shown(), { name: 'default', status: 'revoked' });
  t.match(
    await send(brand, several('brand-account-key')),
    refusal(400, 'api-error', /revision/),
    'and an older revision does not bring it back',
  );
  t.same(await shown(), { name: 'default', status: 'revoked' });
  const rows = (await store.beside.records.audit.list(0, 1000)).filter(({ action }) => action === 'import_assertions');
  t.equal(rows.length, 2, 'the audit log tells of each import and of no refusal');
});

t.test('a stream with one bad part is refused whole, with the reason', async (t) => {
  const { store, brand } = await withBrand(t);
  const good = several('store-account-key', 'brand-account', 'brand-account-key');
  const before = footprint(store.directory);
  const revision = (text: string): string => text.replace('display-name: The my-brand', 'display-name: The other');
  const refused: [string, string, RegExp][] = [
    ['line ends of Windows', good.replaceAll('\n', '\r\n'), /CR LF/],
    [
      'a body that is longer than it says',
      good.replace('body-length: 717', 'body-length: 700'),
      /body-length says 700/,
    ],
    ['a body that is shorter than it says', good.replace('body-length: 717', 'body-length: 900000'), /body/],
    ['a changed account', revision(good), /changed after it was signed/],
    ['another format', good.replace('type: account\n', 'type: account\nformat: 7\n'), /changed after it was signed/],
    ['an unknown type', good.replace('type: account\n', 'type: acount\n'), /not known here/],
    [
      'a type that is not served',
      good.replace('type: account\n', 'type: repair\n'),
      /does not serve assertions of type/,
    ],
    ['the account is missing', several('store-account-key', 'brand-account-key'), /account assertion of 'my-brand'/],
    [
      "the signer's key is missing",
      several('brand-account', 'brand-account-key'),
      /neither in the upload nor already here/,
    ],
    [
      'another root, smuggled in',
      stream([await account('authority', 'root'), await accountKey('root', 'authority', 'root', {}, 'root'), storeKey]),
      /not an authority/,
    ],
    [
      'another key in the place of the root',
      good + '\n' + (chain.assertions['root-account-key'] ?? '').replace('name: root', 'name: ruut'),
      /root of trust|changed/,
    ],
    ['nothing at all', '', /empty/],
    ['two roots and nothing else', several('root-account', 'root-account-key'), /nothing new/],
    ['something cut off', good.slice(0, -900), /.{20}/],
    ['no assertion', 'type: account\n', /.{20}/],
    ['text before it', `Here it is:\n${good}`, /.{20}/],
    ['a byte order mark', `\ufeff${good}`, /byte order mark/],
    ['128 dashes for a name', good.replace('name: default', `name: ${'-'.repeat(128)}`), /name/],
    ['a name to think about for ever', good.replace('name: default', `name: ${'1'.repeat(60)}!`), /name/],
    ['headers of 3 MB', good.replace('name: default', `name: ${'a'.repeat(3_000_000)}`), /headers are longer/],
  ];
  for (const [name, text, reason] of refused) {
    const cpu = cpuWatch();
    t.match(await send(brand, text), refusal(400, 'api-error', reason), name);
    t.ok(cpu() < 1000, `${name}: at once`);
  }
  t.match(
    await send(brand, good.replace('name: default', `name: ${'a'.repeat(10_000_000)}`)),
    refusal(413, 'request-too-large'),
  );
  t.match(await send(brand, good, 'application/json'), refusal(415, 'unsupported-media-type'));
  t.match(await send(brand, good, 'text/plain'), refusal(415, 'unsupported-media-type'));
  t.same(footprint(store.directory), before, 'nothing was changed by any of this');
  t.equal((await send(brand, good, `${mediaType}; charset=utf-8`)).status, 201, 'what was good about it all the time');
});

t.test('a key of another brand is foreign, and so is a key that is unknown here', async (t) => {
  const { store, brand } = await withBrand(t);
  await addBrand(store, 'ada');
  const good = several('store-account-key', 'brand-account', 'brand-account-key');
  const adas = `/v1/brand/${store.ids.ada}/assertions`;
  const ada = await store.as('ada');
  t.match(await ada.post(adas, good, { 'content-type': mediaType }), refusal(400, 'api-error', /not a signing key/));
  t.match(await ada.post(path, good, { 'content-type': mediaType }), refusal(404, 'resource-not-found'));
  t.match(
    await (
      await store.as('my-brand', { permissions: ['account-manage-metadata'] })
    ).post(path, good, { 'content-type': mediaType }),
    refusal(401, 'permission-required'),
  );
  const [{ 'sha3-384': id }] = (await brand.get('/v1/brand/my-brand/signing_key')).body;
  t.equal((await brand.delete(`/v1/brand/my-brand/signing_key/${id}`)).status, 204);
  t.match(await send(brand, good), refusal(400, 'api-error', /not a signing key/));
});

t.test('without roots of its own the store trusts those of the public online store', async (t) => {
  const store = await startStore(t);
  await addOnlineBrand(store, 'my-brand');
  await addSigningKey(store, 'my-brand', 'rsa4096-a', 'default');
  const brand = await store.as('my-brand');
  t.match(
    await send(brand, several('store-account-key', 'brand-account', 'brand-account-key')),
    refusal(400, 'api-error', /'trustedroot' is not an authority/),
  );
});

t.test('of the requests that are not quite right, none is taken that snapd refuses', async (t) => {
  const { store, brand, kept: counted } = await withBrand(t);
  t.equal((await send(brand, several('store-account-key', 'brand-account'))).status, 201);
  const countBefore = counted();
  for (const edge of requests['edge-cases']) {
    const response = await fetch(`${store.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Macaroon ${brand.token}`, 'content-type': mediaType },
      body: new Uint8Array(bytesOf(edge)),
    });
    // An upload is a stream, and snapd's reader of streams takes a second newline at the end, too.
    const isTaken = edge['snapd-accepts'] || edge.name === 'sig-two-final-newlines';
    if (response.status === 201) t.ok(isTaken, `${edge.name} is taken, by snapd too`);
    else t.match(await response.json(), { 'error-list': [{ code: 'api-error', message: /.{10,}/ }] }, edge.name);
  }
  t.same(counted(), countBefore, 'a request is looked at and not kept');
});
