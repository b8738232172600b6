// A revision whose provenance was delegated to a brand of the store gets its assertion.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { mediaType, parseAssertion, stream } from '#assertions/assertion.ts';
import { withPrerequisites } from '#assertions/prerequisites.ts';
import { buildJudge, snapdMissing } from '#test/assertions/judge.ts';
import { chain } from '#test/assertions/vectors.ts';
import { now } from '#test/assertions/world.ts';
import { snapFixture, startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addOnlineBrand, addSigningKey, trustingVectors } from '#test/fixtures/brands.ts';
import { filler } from '#test/fixtures/filler.ts';

t.setTimeout(600_000);
const snapId = 'pYVQrBcKmBa0mZ4CCN7ExT6jH8rY1hza';
const digest = 'ab'.repeat(48);
const wanted = (provenance: string): string =>
  `snap-revision/${Buffer.from(digest, 'hex').toString('base64url')}/${provenance}`;

async function withSnap(
  t: Parameters<typeof startStore>[0],
): Promise<{ store: TestAppliance; brand: Client; back(...names: string[]): Promise<void> }> {
  const store = await startStore(t, trustingVectors(t));
  store.clock.now = now;
  await addOnlineBrand(store, 'my-brand');
  await addSigningKey(store, 'my-brand', 'rsa4096-a', 'default');
  const brand = await store.as('my-brand');
  return {
    store,
    brand,
    async back(...names) {
      const text = names.map((name) => chain.assertions[name] ?? '').join('\n');
      const { status, body } = await brand.post('/v1/brand/my-brand/assertions', text, { 'content-type': mediaType });
      if (status !== 201) throw new Error(JSON.stringify(body));
    },
  };
}

async function addRevision(store: TestAppliance, packageId: string, packageYaml: string): Promise<void> {
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'revise', object: packageId }, (tx) =>
    filler(tx, at).revision({ packageId, revision: 1, sha3_384: digest, createdBy: 'my-brand', packageYaml }),
  );
}

/** Pushes another snap: its approval makes the store look for what waits to be signed. */
async function approveAnother(store: TestAppliance, file = 'app-gzip'): Promise<void> {
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  const { body } = await ada.push('snap', 'tiny-app', await snapFixture(file));
  if (!['approved', 'rejected'].includes(body.revisions[0].status)) throw new Error(JSON.stringify(body));
  await store.appliance.reviewed();
}
t.test('a snap that the online store knows is registered under the id that it has there', async (t) => {
  const { store, brand, back } = await withSnap(t);
  await back('store-account-key', 'brand-account', 'decl-ra');
  t.match(await brand.post('/v1/snap', { name: 'foo' }), { status: 200, body: { id: snapId } });
  t.equal((await brand.get('/v1/snap/foo')).body.metadata.id, snapId);
  const bob = await store.as('bob');
  t.not((await bob.post('/v1/charm', { name: 'foo' })).body.id, snapId, 'a charm of the name is another thing');

  const other = await withSnap(t);
  await other.back('store-account-key', 'brand-account', 'decl-ra');
  t.not(
    (await (await other.store.as('bob')).post('/v1/snap', { name: 'foo' })).body.id,
    snapId,
    'for somebody else than its publisher it is not',
  );
});

t.test('a revision is signed once it is approved and the declaration allows it', async (t) => {
  const { store, brand, back } = await withSnap(t);
  await back('store-account-key', 'brand-account', 'decl-ra', 'brand-account-key');
  await brand.post('/v1/snap', { name: 'foo' });
  await addRevision(store, snapId, 'name: foo\nversion: 1\nprovenance: my-prov\n');
  await approveAnother(store);
  const { assertions } = store.beside.records;
  const kept = await assertions.find(wanted('my-prov'));
  if (kept === undefined) throw new Error('cannot find the assertion of the revision');
  const assertion = parseAssertion(kept.text);
  t.match(assertion.headers, {
    'authority-id': 'my-brand',
    'snap-id': snapId,
    'snap-revision': '1',
    'snap-size': '4096',
    provenance: 'my-prov',
    'developer-id': 'my-brand',
  });
  if (snapdMissing().length === 0) {
    const folder = mkdtempSync(join(tmpdir(), 'larder-roots-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'roots'), chain.trusted.join('\n'));
    const whole = stream(await withPrerequisites(assertion, (names) => assertions.listOf(names)));
    const { status, stderr } = buildJudge(t)(whole, '-trusted', join(folder, 'roots'));
    t.equal(status, 0, `snapd takes it ${stderr}`);
  }
  const rows = (await store.beside.records.audit.list(0, 1000)).filter(({ action }) => action === 'sign_revision');
  t.equal(rows.length, 1);
});

t.test('what waits for the online store is signed when it has come back', async (t) => {
  const { store, brand, back } = await withSnap(t);
  await back('store-account-key', 'brand-account', 'decl-ra');
  await brand.post('/v1/snap', { name: 'foo' });
  await addRevision(store, snapId, 'name: foo\nversion: 1\nprovenance: my-prov\n');
  await approveAnother(store);
  t.equal(await store.beside.records.assertions.find(wanted('my-prov')), undefined, 'the key is not registered yet');
  t.equal((await store.beside.records.revisions.toSign({ packageId: '', revision: 0 }, 10)).length, 1);
  await back('brand-account-key');
  await approveAnother(store, 'app-lzo');
  t.ok(await store.beside.records.assertions.find(wanted('my-prov')), 'and now it is');
  t.same(await store.beside.records.revisions.toSign({ packageId: '', revision: 0 }, 10), []);
});

t.test('a revision of no provenance, or of one that is not delegated, is not signed', async (t) => {
  for (const [yaml, waits] of [
    ['name: foo\nsummary: "provenance: mine"\n', 0],
    ['name: foo\nprovenance: global-upload\n', 0],
    ['name: foo\nprovenance: theirs\n', 1],
  ] as const) {
    const { store, brand, back } = await withSnap(t);
    await back('store-account-key', 'brand-account', 'decl-ra', 'brand-account-key');
    await brand.post('/v1/snap', { name: 'foo' });
    await addRevision(store, snapId, yaml);
    await approveAnother(store);
    t.equal((await store.beside.records.revisions.toSign({ packageId: '', revision: 0 }, 10)).length, waits, yaml);
    for (const provenance of ['mine', 'theirs', 'global-upload']) {
      t.equal(await store.beside.records.assertions.find(wanted(provenance)), undefined);
    }
  }
});
