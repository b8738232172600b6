// A revision with its provenance delegated to a brand of the store gets its assertion.
import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import pino from 'pino';
import t, { type Test } from 'tap';

import { importAssertions } from '#acts/assertions/assertions.ts';
import { mediaType, parseAssertion, parseStream, stream } from '#assertions/format/assertion.ts';
import { readRoots } from '#assertions/chain.ts';
import { withPrerequisites } from '#assertions/prerequisites.ts';
import { newWrappingKey } from '#data/secrets.ts';
import { createRevisionSigner } from '#jobs/revisions/sign-revisions.ts';
import { requestedJudge } from '#test/assertions/judge.ts';
import { chain, vectorSigner } from '#test/assertions/vectors.ts';
import { now } from '#test/assertions/world.ts';
import { larder } from '#test/cli/world.ts';
import { snapFixture, startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addOnlineBrand, addSigningKey, trustingVectors } from '#test/fixtures/brands.ts';
import { filler } from '#test/fixtures/records/filler.ts';

t.setTimeout(600_000);
const judge = requestedJudge();
const snapId = 'pYVQrBcKmBa0mZ4CCN7ExT6jH8rY1hza';
const digest = 'ab'.repeat(48);
const assertionKey = (provenance: string): string =>
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

/** Whether the library of snapd accepts an assertion with its prerequisites. */
async function devicesTake(t: Test, store: TestAppliance, text: string): Promise<void> {
  const { assertions } = store.beside.records;
  takenByDevices(t, stream(await withPrerequisites(parseAssertion(text), (names) => assertions.listOf(names))));
}

function takenByDevices(t: Test, whole: string): void {
  if (judge === undefined) return;
  const folder = mkdtempSync(join(tmpdir(), 'larder-roots-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'roots'), chain.trusted.join('\n'));
  const { status, stderr } = judge(whole, '-trusted', join(folder, 'roots'));
  t.equal(status, 0, `snapd takes it ${stderr}`);
}

async function addRevision(store: TestAppliance, packageId: string, packageYaml: string): Promise<void> {
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'revise', object: packageId }, (tx) =>
    filler(tx, at).revision({ packageId, revision: 1, sha3_384: digest, createdBy: 'my-brand', packageYaml }),
  );
}

/** Pushes another snap: its approval makes the store look for revisions to sign. */
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
  const stored = await assertions.find(assertionKey('my-prov'));
  if (stored === undefined) throw new Error('cannot find the assertion of the revision');
  const assertion = parseAssertion(stored.text);
  t.match(assertion.headers, {
    'authority-id': 'my-brand',
    'snap-id': snapId,
    'snap-revision': '1',
    'snap-size': '4096',
    provenance: 'my-prov',
    'developer-id': 'my-brand',
  });
  await devicesTake(t, store, stored.text);
  const rows = (await store.beside.records.audit.list(0, 1000)).filter(({ action }) => action === 'sign_revision');
  t.equal(rows.length, 1);
});

t.test('a revision waits to be signed while the store has the master key of another store', async (t) => {
  const { store, brand, back } = await withSnap(t);
  const file = join(store.directory, 'master.key');
  const own = readFileSync(file);
  // Keys are read-only files, which only root may write.
  chmodSync(file, 0o600);
  writeFileSync(file, newWrappingKey());
  store.appliance.reload();
  await back('store-account-key', 'brand-account', 'decl-ra', 'brand-account-key');
  await brand.post('/v1/snap', { name: 'foo' });
  await addRevision(store, snapId, 'name: foo\nversion: 1\nprovenance: my-prov\n');
  await approveAnother(store);
  const { assertions } = store.beside.records;
  t.equal(await assertions.find(assertionKey('my-prov')), undefined);
  t.notMatch(store.log.join(''), /cannot sign revisions/, 'the signing of others goes on');

  writeFileSync(file, own);
  store.appliance.reload();
  await approveAnother(store, 'app-xz');
  t.match(await assertions.find(assertionKey('my-prov')), { text: /authority-id: my-brand/ });
});

t.test('a snap that is pushed is signed with its approval', async (t) => {
  const { store, brand, back } = await withSnap(t);
  await back('store-account-key', 'brand-account', 'decl-ra', 'brand-account-key');
  await brand.post('/v1/snap', { name: 'foo' });
  const content = await snapFixture('delegated');
  const { body } = await brand.push('snap', 'foo', content);
  t.match(body.revisions, [{ status: 'approved', revision: 1 }], JSON.stringify(body));
  await store.appliance.reviewed();
  const digest64 = createHash('sha3-384').update(content).digest('base64url');
  const stored = await store.beside.records.assertions.find(`snap-revision/${digest64}/my-prov`);
  if (stored === undefined) throw new Error('cannot find the assertion of the revision');
  t.match(parseAssertion(stored.text).headers, {
    'authority-id': 'my-brand',
    'snap-id': snapId,
    'snap-sha3-384': digest64,
    'snap-size': String(content.length),
    'snap-revision': '1',
    provenance: 'my-prov',
  });
  await devicesTake(t, store, stored.text);
  const exported = await larder(`assertion export snap-revision ${digest64} my-prov --data ${store.directory}`);
  t.equal(exported.code, 0, exported.err);
  t.same(
    parseStream(exported.out)
      .map(({ type }) => type)
      .sort(),
    ['account', 'account-key', 'account-key', 'snap-declaration', 'snap-revision'],
  );
  takenByDevices(t, exported.out);
});

/** A snap with its id of the online store, as 'larder package register --id' makes it, and a revision of it. */
async function withWaiting(store: TestAppliance): Promise<void> {
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'package register', object: 'snap/foo' }, (tx) =>
    filler(tx, at).package({ id: snapId, name: 'foo', publisherId: 'my-brand' }),
  );
  await addRevision(store, snapId, 'name: foo\nversion: 1\nprovenance: my-prov\n');
}

t.test('a revision that waits for an assertion of the online store is signed after the import', async (t) => {
  const back = ['decl-ra', 'brand-account-key'];
  for (const [first, last] of [back, back.toReversed()] as [string, string][]) {
    const { store, back } = await withSnap(t);
    const { assertions, revisions } = store.beside.records;
    await withWaiting(store);
    await back('store-account-key', 'brand-account', first);
    await store.appliance.reviewed();
    t.equal(await assertions.find(assertionKey('my-prov')), undefined, `${last} is not here yet`);
    t.equal((await revisions.toSign({ packageId: '', revision: 0 }, 10)).length, 1);
    await back(last);
    await store.appliance.reviewed();
    t.ok(await assertions.find(assertionKey('my-prov')), 'and now it is, without waiting for any other approval');
    t.same(await revisions.toSign({ packageId: '', revision: 0 }, 10), []);
  }
});

t.test('an import by a command beside the server takes effect within a minute', async (t) => {
  const { store, back } = await withSnap(t);
  await withWaiting(store);
  await back('store-account-key', 'brand-account', 'decl-ra');
  await store.appliance.reviewed();
  const { records, acts } = store.beside;
  const actor = { actor: 'cli:root' };
  await importAssertions(chain.assertions['brand-account-key'] ?? '', actor, {
    records,
    acts,
    roots: readRoots(chain.trusted.join('\n')),
    now,
  });
  t.equal(await records.assertions.find(assertionKey('my-prov')), undefined, 'the command itself signs nothing');
  const log = pino({ enabled: false });
  const { job } = createRevisionSigner({ records, acts, signer: vectorSigner(), now: () => now, log });
  t.ok(job.every <= 60_000);
  t.same(await job.run(), { signed: 1 });
  t.ok(await records.assertions.find(assertionKey('my-prov')));
  t.ok(
    store.appliance.jobs().some(({ name, every }) => name === job.name && every === job.every),
    'which the server runs round and round',
  );
});

t.test('a revision without provenance, or with an undelegated provenance, is not signed', async (t) => {
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
      t.equal(await store.beside.records.assertions.find(assertionKey(provenance)), undefined);
    }
  }
});

t.test('a revision with a corrupt record is not signed', async (t) => {
  const { store, brand, back } = await withSnap(t);
  await back('store-account-key', 'brand-account', 'decl-ra', 'brand-account-key');
  await brand.post('/v1/snap', { name: 'foo' });
  await addRevision(store, snapId, 'name: foo\nprovenance: my-prov\n');
  const db = new SQLite(join(store.directory, 'larder.db'));
  db.exec('UPDATE revisions SET size = size + 1');
  db.close();
  await approveAnother(store);
  t.equal(await store.beside.records.assertions.find(assertionKey('my-prov')), undefined);
  const { problems } = (await store.anyone.get('/readyz')).body as { problems: string[] };
  t.ok(problems.some((problem) => problem.startsWith('Row 1 of revisions is not as it was written')));
});
