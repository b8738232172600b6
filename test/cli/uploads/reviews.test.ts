// larder package manual-review, larder review, larder guardrail: decisions of a store administrator beside a serving
// store.
import t from 'tap';

import { approveUpload } from '#acts/uploads/reviews.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import { snapFixture, startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { larder } from '#test/cli/world.ts';

const on = (store: TestAppliance) => (line: string) => larder(`${line} --data ${store.directory}`);
const json = (store: TestAppliance) => async (line: string) => {
  const { out, err } = await on(store)(`${line} --json`);
  return JSON.parse(out || err);
};

t.test('an upload waits for manual review, and a person approves it', async (t) => {
  const store = await startStore(t);
  const [run, ask] = [on(store), json(store)];
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  t.match(await run('package manual-review snap/tiny-app on'), { code: 0, out: /wait for a person from now on/ });
  const content = await snapFixture('app-xz');
  const [review] = (await ada.push('snap', 'tiny-app', content)).body.revisions;
  t.match(review, { status: 'scanned', revision: null, errors: null });
  const id = review['upload-id'];
  t.match(await ask('review list'), {
    uploads: [{ 'upload-id': id, package: 'snap/tiny-app', resource: null, size: content.length }],
  });
  t.match((await run('review list')).out, `${id}  `);
  t.match(await ada.delete('/v1/snap/tiny-app'), { status: 403 }, 'it cannot be unregistered meanwhile');
  t.same((await ada.get('/v1/snap/tiny-app/revisions')).body.revisions, []);

  t.match(await run(`review approve ${id}`), { code: 0, out: 'Approved as revision 1 of snap/tiny-app.\n' });
  t.match((await ada.get(`/v1/snap/tiny-app/revisions/review?upload-id=${id}`)).body.revisions, [
    { status: 'approved', revision: 1 },
  ]);
  t.match((await ada.get('/v1/snap/tiny-app/revisions')).body.revisions, [
    { revision: 1, status: 'approved', confinement: /./ },
  ]);
  t.match(await ask(`review approve ${id}`), { code: 'conflict', error: /it is approved/ });

  await run('package manual-review snap/tiny-app off');
  t.match((await ada.push('snap', 'tiny-app', await snapFixture('app-zstd'))).body.revisions, [{ revision: 2 }]);
  const entries = await store.beside.records.audit.list(0, 1000);
  t.ok(entries.some(({ action, actor }) => action === 'approve_upload' && actor.startsWith('cli:')));
});

t.test('the store and a person who approve do the same', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { records } = store.beside;
  const resources = 'resources:\n  config: {type: file, filename: c}\n';
  const outcomes: object[] = [];
  for (const [name, byHand] of [
    ['first', false],
    ['other', true],
  ] as const) {
    await ada.post('/v1/charm', { name });
    if (byHand) await on(store)(`package manual-review charm/${name} on`);
    const [pushed] = (await ada.push('charm', name, charm(name, {}, resources))).body.revisions;
    if (byHand) t.match(await json(store)(`review approve ${pushed['upload-id']}`), { revision: 1 });
    const publishedPackage = await records.packages.find('charm', name);
    const id = publishedPackage?.id ?? '';
    const entries = await records.audit.newest(Number.MAX_SAFE_INTEGER, 100);
    const entry = entries.find(({ action, object }) => action === 'approve_upload' && object === `charm/${name}`);
    const { upload, ...details } = JSON.parse(entry?.details ?? '{}');
    t.equal(upload, pushed['upload-id']);
    t.match(entry?.actor, byHand ? /^cli:/ : 'larder');
    const described = [publishedPackage?.title, publishedPackage?.summary, publishedPackage?.description];
    const { createdAt, packageId, sha3_384, sha256, size, ...revision } = (await records.revisions.find(id, 1))!;
    t.equal(packageId, id);
    t.match(await records.uploads.find(upload), { sha3_384, sha256, size });
    t.equal(createdAt, entry?.at);
    const declared = await records.resources.list(id, 1);
    const { status, revision: number, findings } = (await records.uploads.review(id, upload))!;
    outcomes.push({ details, described, revision, declared, status, number, findings, outcome: entry?.outcome });
  }
  t.same(outcomes[1], outcomes[0]);
  t.match(outcomes[0], {
    details: { revision: 1 },
    status: 'approved',
    findings: null,
    declared: [{ name: 'config' }],
  });
});

t.test('of several administrators who settle an upload at once one does it, and the others are told', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/charm', { name: 'hello' });
  await on(store)('package manual-review charm/hello on');
  const [pushed] = (await ada.push('charm', 'hello', charm('hello'))).body.revisions;
  const id = pushed['upload-id'];
  const { records, acts } = store.beside;
  const input = { upload: id, package: { namespace: 'charm', name: 'hello' } as const };
  const both = await Promise.allSettled(
    ['cli:ada', 'cli:bob'].map((actor) => acts.do(approveUpload, { actor }, input)),
  );
  t.match(both, [
    { status: 'fulfilled', value: { revision: 1 } },
    {
      status: 'rejected',
      reason: { code: 'conflict', message: /does not wait for a person: it is approved as revision 1/ },
    },
  ]);
  t.match(await json(store)(`review reject ${id} --reason No.`), { code: 'conflict', error: /approved as revision 1/ });
  t.match((await ada.get(`/v1/charm/hello/revisions/review?upload-id=${id}`)).body.revisions, [
    { status: 'approved', revision: 1, errors: null },
  ]);
  const entries = await records.audit.list(0, 1000);
  t.match(
    entries.filter(({ action }) => /^(approve|reject)_upload$/.test(action)),
    [{ actor: 'cli:ada' }],
  );
});

t.test('a person rejects an upload with a reason, or approves an earlier one', async (t) => {
  const store = await startStore(t);
  const [run, ask] = [on(store), json(store)];
  const ada = await store.as('ada');
  await ada.post('/v1/charm', { name: 'hello' });
  await run('package manual-review charm/hello on');
  const push = async (files = {}) =>
    (await ada.push('charm', 'hello', charm('hello', files))).body.revisions[0]['upload-id'] as string;
  const [first, second, third] = [await push(), await push({ dispatch: 'other' }), await push()];
  t.match(await run(`review reject ${second} --reason 'It holds a private key.'`), { code: 0 });
  t.match((await ada.get(`/v1/charm/hello/revisions/review?upload-id=${second}`)).body.revisions, [
    { status: 'rejected', revision: null, errors: [{ code: 'review-error', message: 'It holds a private key.' }] },
  ]);
  t.match(await ask(`review approve ${first}`), { revision: 1 });
  t.match(await run(`review approve ${third}`), { code: 0, out: 'Rejected: it has the same content as revision 1.\n' });
  t.same(await ask('review list'), { uploads: [] });
  t.match(await ask('review approve nothing'), { code: 'resource-not-found' });
  t.match(await run(`review reject ${first} --reason ''`), { code: 2 });
  t.match(await run('package manual-review charm/hello maybe'), { code: 2 });
  t.match(await run('package manual-review charm/nothing on'), { code: 1, err: /There is no package charm\/nothing/ });
});

t.test('a push for a resource goes to manual review as well', async (t) => {
  const store = await startStore(t);
  const [run, ask] = [on(store), json(store)];
  const ada = await store.as('ada');
  await ada.post('/v1/charm', { name: 'hello' });
  await ada.push('charm', 'hello', charm('hello', {}, 'resources:\n  config: {type: file, filename: c}\n'));
  await run('package manual-review charm/hello on');
  const at = '/v1/charm/hello/resources/config/revisions';
  const upload = await ada.upload('content');
  const pushed = await ada.post(at, { 'upload-id': upload });
  await store.appliance.reviewed();
  const review = async () => (await ada.get(pushed.body['status-url'])).body.revisions;
  t.match(await review(), [{ status: 'scanned', revision: null }]);
  t.same((await ada.get(at)).body.revisions, []);
  t.match(await ask('review list'), { uploads: [{ 'upload-id': upload, resource: 'config' }] });
  t.match(await ask(`review approve ${upload}`), { revision: 1 });
  t.match(await review(), [{ status: 'approved', revision: 1 }]);
  t.match((await ada.get(at)).body.revisions, [{ revision: 1, size: 7, sha384: /^[0-9a-f]{96}$/ }]);
});

t.test('guardrails are set, listed and taken away', async (t) => {
  const store = await startStore(t);
  const [run, ask] = [on(store), json(store)];
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  t.match(await run('guardrail list snap/hello'), { code: 0, out: 'There is none.\n' });
  t.match(await run(`guardrail add snap/hello '[0-9]+\\.[0-9]+'`), { code: 0 });
  t.match(await ask(`guardrail add snap/hello '[0-9]+\\.[0-9]+'`), { code: 'conflict' });
  t.match(await ask(`guardrail add snap/hello '(a+)+'`), {
    code: 'api-error',
    error: /quantifier within or behind another/,
  });
  t.match(await ask('guardrail list snap/hello'), { guardrails: [{ pattern: '[0-9]+\\.[0-9]+' }] });
  t.match(await ada.post('/v1/snap/hello/tracks', [{ name: '2.0' }]), { status: 201 });
  t.match(await run(`guardrail remove snap/hello '[0-9]+\\.[0-9]+'`), { code: 0 });
  t.match(await ask(`guardrail remove snap/hello '[0-9]+\\.[0-9]+'`), { code: 'resource-not-found' });
  t.match(await ada.post('/v1/snap/hello/tracks', [{ name: '2.1' }]), { status: 400 });
  t.equal((await ada.get('/v1/snap/hello')).body.metadata.tracks.length, 2);
});
