// Requests of the site and of keys are downloaded in the browser, with the rights of their commands.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { changeRole } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { requestRegistration } from '#acts/keys/signing-keys.ts';
import { parseAssertion } from '#assertions/format/assertion.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { openReady, startConsole, type ConsoleStore, type Page, type Visitor } from '#test/console/world.ts';
import { readRequest } from '#transfers/request/request-file.ts';
import { done } from './carrying.ts';

t.setTimeout(600_000);

const carry = '/console/carry';

const counted = async (store: ConsoleStore, action: string) =>
  (await store.beside.records.audit.list(0, 10_000)).filter((row) => row.action === action);

/** Sends a form of the page, and returns the file that comes. */
async function download(store: ConsoleStore, visitor: Visitor, page: Page, address: string) {
  const form = page.html.slice(page.html.indexOf(`action="${address}"`));
  const token = /name="form-token" value="([^"]*)"/.exec(form)?.[1] ?? '';
  const response = await fetch(store.url + address, {
    method: 'POST',
    headers: { cookie: visitor.cookie, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ 'form-token': token }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, name: response.headers.get('content-disposition'), bytes };
}

t.test('a request of the site is previewed, and downloaded as the command writes it', async (t) => {
  const store = await startConsole(t);
  const preview = `${carry}/requests/preview`;
  const root = await store.visit('root');
  t.match(await openReady(root, preview), { status: 404, text: /larder site init/ }, 'a site without a name');
  t.notMatch((await root.open(carry)).html, preview);
  await done(`site init here --data ${store.directory}`);
  await done(`subscription add snap/hello --data ${store.directory}`);
  t.match((await root.open(`${carry}/requests`)).html, preview);
  const page = await openReady(root, preview);
  t.match(page.text, /Request 1 of here All of this leaves the site .*Subscriptions .*snap\/hello latest\/stable/);
  t.match(page.html, /Made <time class="exact" datetime="[^"]*">[\d-]{10} [\d:]{5} UTC<\/time>/);
  t.match(page.html, /the fingerprint <span class="copied"><code class="id"/);
  t.match(page.html, /the SHA-256 <span class="copied"><code class="id"/);
  t.equal((await counted(store, 'make_request')).length, 0, 'a preview makes nothing');
  const { status, name, bytes } = await download(store, root, page, preview);
  t.match({ status, name }, { status: 200, name: 'attachment; filename="here-request-1.tar"' });
  const file = join(t.testdir(), 'request.tar');
  writeFileSync(file, bytes);
  const { statement, id } = await readRequest(file);
  t.match(statement, { site: 'here', number: 1, subscriptions: [{ name: 'hello' }] });
  const [row] = await counted(store, 'make_request');
  t.equal(row?.actor, store.ids.root);
  t.match(row?.details, id);
  t.match((await root.open(carry)).text, /The last request is number 1, .* by root/);

  await store.beside.acts.do(changeRole, itself, { id: store.ids.bob, role: 'transfer-approver', remove: false });
  const bob = await store.visit('bob');
  t.match(await bob.open(preview), { status: 403 }, 'an approver');
  t.match(await download(store, bob, page, preview), { status: 403 });
  t.notMatch((await bob.open(`${carry}/requests`)).html, preview);
});

t.test('the request of a key is downloaded by who administers its brand', async (t) => {
  const store = await startConsole(t);
  const brand = await addBrand(store, 'ada');
  const key = await addSigningKey(store, brand, 'rsa4096-a', 'models');
  await store.beside.acts.do(requestRegistration, itself, {
    brandAccountId: brand,
    sha3_384: key,
    since: null,
    until: null,
    text: 'made before',
  });
  const address = `/console/brands/${brand}/keys/${key}/request`;
  const root = await store.visit('root');
  const page = await root.open(carry);
  t.match(page.text, /Keys to register .*models .*Download request/);
  const { status, name, bytes } = await download(store, root, page, address);
  t.match({ status, name }, { status: 200, name: 'attachment; filename="models.account-key-request"' });
  t.match(parseAssertion(bytes.toString()).headers, { 'account-id': brand, name: 'models' });
  t.match((await counted(store, 'read_signing_key_account_key_request')).at(-1), { actor: store.ids.root });
  const other = address.replace(key, 'x'.repeat(64));
  t.match(await download(store, root, page, other), { status: 403 }, 'the token is for one address');
  const bob = await store.visit('bob');
  t.match(await download(store, bob, page, address), { status: 404 }, 'a publisher without the brand');
});
