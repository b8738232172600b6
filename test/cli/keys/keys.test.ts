// A key's way out of the store and back, from the command line.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { parseAssertion } from '#assertions/format/assertion.ts';
import { checkSignature } from '#assertions/chain.ts';
import { decodePublicKey } from '#assertions/format/openpgp.ts';
import { openStore } from '#test/fixtures/records/writable.ts';
import { requestedJudge } from '#test/assertions/judge.ts';
import { chain, vectorKey } from '#test/assertions/vectors.ts';
import { newBrandStore, several, type BrandStore } from '#test/cli/brands/brand-store.ts';

t.setTimeout(600_000);
const judge = requestedJudge();

/** Checks that the library of snapd accepts a request for a key of the brand of the vectors. */
function snapdTakes(t: Test, request: string, name: string): void {
  if (judge === undefined) return;
  const { status, stderr } = judge(request, '-strict', '-account', 'my-brand', '-name', name);
  t.equal(status, 0, `snapd takes the request ${stderr}`);
}

const { id } = vectorKey('rsa4096-a');
const statusOf = async ({ json }: BrandStore, name: string): Promise<string | undefined> =>
  (await json('key list --brand my-brand')).keys.find((key: { name: string }) => key.name === name).status;

t.test('a key is requested, imported as registered, and revoked', async (t) => {
  const store = await newBrandStore(t);
  const { json, larder, file } = store;
  t.equal(await statusOf(store, 'default'), 'new');
  const { code, out } = await larder('key request default --until 2040-01-01T00:00:00Z');
  t.equal(code, 0);
  const request = parseAssertion(out);
  checkSignature(request, decodePublicKey(request.body));
  snapdTakes(t, out, 'default');
  t.match(request.headers, {
    'account-id': 'my-brand',
    name: 'default',
    'public-key-sha3-384': id,
    until: '2040-01-01T00:00:00Z',
  });
  t.equal(await statusOf(store, 'default'), 'requested');
  t.equal(await statusOf(store, 'second'), 'new');

  const way = file('return.assert', several('brand-account-key', 'brand-account', 'store-account-key'));
  t.match(await json(`assertion import ${way}`), {
    imported: [
      { type: 'account-key' },
      { type: 'account', 'primary-key': ['my-brand'] },
      { type: 'account-key', 'primary-key': [id] },
    ],
  });
  t.equal(await statusOf(store, 'default'), 'registered');
  t.match(await larder('key list'), { code: 0, out: /my-brand +default +registered/ });
  t.match(await larder(`assertion import ${way}`), { code: 1, err: /nothing new/ });
  t.match(await larder(`assertion import ${file('revoked.assert', several('revoked'))}`), {
    code: 0,
    out: /^imported account-key/,
  });
  t.equal(await statusOf(store, 'default'), 'revoked');
});

t.test('a brand, its key and its request are made in one run, or none of them', async (t) => {
  const { json, larder, files } = await newBrandStore(t);
  await json('account create --email acme@example.org --username acme --display-name Acme --id acme');
  await json('account create --email here@example.org --username here --display-name Here');
  const { accounts } = (await json('account list')) as { accounts: { id: string; username: string }[] };
  const accountId = accounts.find(({ username }) => username === 'here')?.id ?? '';
  const out = join(files, 'out');
  const create = `brand create --account acme --name Acme`;
  for (const [line, err] of [
    [`${create} --request ${out}`, /--request needs --key NAME/],
    [`${create} --key UPPER --request ${out}`, /--key is of lower-case letters/],
    [`${create} --key serials --request ${files}`, /is there already; name a new folder/],
    [`${create} --key serials --request ${out}/a/b`, /there is no folder .*out\/a to make/],
    [
      `brand create --account ${accountId} --name Here --key serials --request ${out}`,
      /was created by this store.*--local/,
    ],
  ] as const) {
    t.match(await larder(line), { err }, line);
  }
  t.notOk(readdirSync(files).includes('out'));
  t.notMatch(JSON.stringify(await json('brand list')), /Acme|Here/, 'nothing was made');

  const made = await larder(`${create} --key serials --request ${out}`);
  t.match(made, { code: 0, out: /is now the brand Acme[^]*It has the key serials[^]*READ-ME-FIRST\.txt in there/ });
  const request = parseAssertion(readFileSync(join(out, 'serials.account-key-request'), 'utf8'));
  checkSignature(request, decodePublicKey(request.body));
  t.match(request.headers, { 'account-id': 'acme', name: 'serials' });
  t.match(await larder('key list --brand acme'), { out: /serials +requested/ });
});

t.test('an untrusted assertion is refused with the reason, and nothing of it is imported', async (t) => {
  const store = await newBrandStore(t);
  const { larder, json, file } = store;
  const good = several('brand-account-key', 'brand-account', 'store-account-key');
  const cases: [string, string, RegExp][] = [
    ['crlf', good.replaceAll('\n', '\r\n'), /CR LF/],
    ['changed', good.replace('name: default', 'name: second'), /.{20}/],
    ['alone', several('brand-account-key'), /neither in the upload nor already here/],
    ['empty', '', /.{10}/],
    ['root', several('root-account-key'), /nothing new/],
  ];
  for (const [name, text, reason] of cases) {
    t.match(await larder(`assertion import ${file(name, text)}`), { code: 1, out: '', err: reason }, name);
  }
  t.match(await json(`assertion import ${file('crlf', cases[0]?.[1] ?? '')}`), { error: /CR LF/, code: 'api-error' });
  t.match(await larder(`assertion import ${file('good', good)} ${file('crlf', good.replaceAll('\n', '\r\n'))}`), {
    code: 1,
  });
  t.match(await larder(`assertion import ${store.files}/nowhere`), { code: 1, err: /There is no file/ });
  t.equal(await statusOf(store, 'default'), 'new');
  const parts = ['brand-account-key', 'brand-account', 'store-account-key'].map((name) => file(name, several(name)));
  t.match(
    await larder(`assertion import ${parts.join(' ')}`),
    { code: 0 },
    'several files are one stream, in any order',
  );
});

t.test('a request for a key that is not there, or for no time, is refused', async (t) => {
  const { larder } = await newBrandStore(t);
  t.match(await larder('key request nothing'), { code: 1, err: /no signing key 'nothing'/ });
  t.match(await larder('key request default --brand acme'), { code: 1, err: /no brand 'acme'/ });
  t.match(await larder('key request default --until tomorrow'), {
    code: 2,
    err: /--until is a date such as .* or a time such as/,
  });
  t.match(await larder('key request default --until 2020-01-01T00:00:00Z'), {
    code: 1,
    err: /'until' must not be before 'since'/,
  });
});

t.test('a key is made, shown and deleted at the console', async (t) => {
  const store = await newBrandStore(t);
  const { larder, json } = store;
  const made = await json('key create my-brand serials');
  t.match(made, {
    'brand-account-id': 'my-brand',
    name: 'serials',
    'sha3-384': /^[\w-]{64}$/,
    fingerprint: /^[0-9A-F]{40}$/,
    status: 'new',
  });
  const { out } = await larder(`key request ${made['sha3-384']}`);
  snapdTakes(t, out, 'serials');
  const request = parseAssertion(out);
  checkSignature(request, decodePublicKey(request.body));
  t.match(request.headers, { name: 'serials', 'public-key-sha3-384': made['sha3-384'] }, 'and signs');
  t.match(await json('key show serials'), {
    ...made,
    status: 'requested',
    'created-by': 'my-brand',
    'requested-at': /Z$/,
    since: null,
    'serial-policies': [],
    'account-key': null,
  });

  await json(
    `assertion import ${store.file('return', several('brand-account-key', 'brand-account', 'store-account-key'))}`,
  );
  t.match(await json('key show default --brand my-brand'), {
    'sha3-384': id,
    status: 'registered',
    since: '2024-01-02T03:04:05Z',
    until: null,
    constraints: null,
    'account-key': chain.assertions['brand-account-key'],
  });
  const shown = await larder('key show default');
  t.match(shown, { code: 0, out: /Status +registered\n(?:.*\n)+.*Signs +serials of no model/ });
  t.notMatch(shown.out, /PRIVATE KEY|MIIJQ/);

  const opened = await openStore({ directory: store.data });
  const at = new Date().toISOString();
  const created = { createdAt: at, createdBy: 'my-brand' };
  const policy = { brandAccountId: 'my-brand', modelName: 'pump', signingKeySha3384: id, ...created };
  await opened.records.change({ at, actor: 'test', action: 'policy', object: 'pump' }, async (tx) => {
    const model = { brandAccountId: 'my-brand', name: 'pump', series: '16', apiKey: null, ...created };
    await tx.models.claim({ ...model, modifiedAt: null, modifiedBy: null });
    await tx.serialPolicies.add(policy);
  });
  await opened.close();
  t.match((await json('key show default'))['serial-policies'], [{ 'model-name': 'pump', revision: 1 }]);
  t.match(await larder('key delete my-brand default'), { code: 1, err: /used to sign at least one serial policy/ });
  t.match(await json('key delete my-brand serials'), { name: 'serials', 'sha3-384': made['sha3-384'] });
  t.match(await larder('key show serials'), { code: 1, err: /no signing key 'serials'/ });
  t.match(await larder('key delete my-brand serials'), { code: 1, err: /no signing key 'serials'/ });
  const actions = (await json('audit list')).entries.map(({ action }: { action: string }) => action);
  t.ok(actions.includes('create_signing_key') && actions.includes('delete_signing_key'), 'the audit log tells of both');
});

t.test('a key that cannot be made is refused with its reason', async (t) => {
  const { larder, data } = await newBrandStore(t);
  t.match(await larder('key create my-brand'), { code: 2, err: /NAME/ });
  t.match(await larder('key create acme serials'), { code: 1, err: /no brand 'acme'/ });
  t.match(await larder('key create my-brand default'), { code: 1, err: /has a signing key 'default' already/ });
  for (const name of ['Serials', '42', 'a--b', `'${'-'.repeat(128)}'`, 'x'.repeat(129)]) {
    t.match(await larder(`key create my-brand -- ${name}`), { code: 1, err: /lower-case letters/ }, name);
  }
  rmSync(join(data, 'master.key'));
  t.match(await larder('key create my-brand serials'), { code: 1, err: /sealed/ });
  t.match(await larder('key show default'), { code: 0 }, 'a sealed store shows its keys');
  t.match(await larder('key request default'), { code: 1, err: /sealed/ });
});
