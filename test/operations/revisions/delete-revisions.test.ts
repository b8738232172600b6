// Old revisions deleted by a rule: by HTTP, by command and every day; the revisions that stay, that go, and that
// return.
import { createHash } from 'node:crypto';
import { join } from 'node:path';

import t from 'tap';

import { findOldRevisions } from '#acts/revisions/old-revisions.ts';
import { withBlobs } from '#data/blobs.ts';
import { days } from '#domain/clock.ts';
import { expireRevisions } from '#jobs/revisions/expire-revisions.ts';
import { sweepBlobs } from '#jobs/store/sweep-blobs.ts';
import type { TestAppliance } from '#test/fixtures/appliance.ts';
import { componentFile } from '#test/fixtures/packages/components.ts';
import { clockWhenOld, hasContent } from '#test/fixtures/contents.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { command, newest, startNow } from '#test/acts/ways.ts';
import { made, timestamp } from '#test/assertions/world.ts';
import { keep } from '#test/operations/devices/world.ts';
import { commandsOn } from '#test/cli/process.ts';

interface Found {
  revision: number;
}
const numbers = (revisions: Found[]): number[] => revisions.map(({ revision }) => revision);

t.test('old revisions are deleted by a rule', async (t) => {
  const store = await startNow(t);
  const [ada, bob, root] = [await store.as('ada'), await store.as('bob'), await store.as('root')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  const at = store.clock.now.toISOString();
  const old = new Date(store.clock.now.getTime() - days(100)).toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'revise', object: id }, async (tx) => {
    for (let revision = 1; revision <= 12; revision++) {
      const createdAt = revision <= 6 ? old : at;
      await filler(tx, at).revision({ packageId: id, revision, createdBy: store.ids.ada, createdAt, size: 1000 });
    }
    // A component of the third snap, which a channel holds beside another revision.
    await tx.resources.declare(id, 9, { name: 'data', type: 'component/standard', optional: true });
    const digests = {
      sha256: '1'.repeat(64),
      sha3_384: 'a'.repeat(96),
      sha384: 'b'.repeat(96),
      sha512: 'c'.repeat(128),
    };
    const made = { createdAt: at, createdBy: store.ids.ada, size: 1 };
    const resource = { type: 'component/standard', bases: null, architectures: ['all'], packageRevision: 3 };
    await tx.resourceRevisions.add({ packageId: id, name: 'data', revision: 1, ...digests, ...resource, ...made });
    await tx.buildSets.add({
      id: 'set',
      packageId: id,
      commitHash: 'c'.repeat(40),
      craftChannel: 'latest/stable',
      craftRevision: 1,
      craftVersion: '1',
      platforms: [],
      triggers: [],
      plane: null,
      createdAt: at,
    });
    await tx.buildSets.putBuild(id, 0, {
      id: 'build',
      buildSetId: 'set',
      status: 'succeeded',
      errors: [],
      platform: 'amd64',
      logs: null,
      releasedChannel: 'latest/edge',
      releasedRevision: 4,
      createdAt: at,
      completedAt: at,
    } as unknown as Parameters<typeof tx.buildSets.putBuild>[2]);
  });
  const release = (...releases: object[]) => ada.post('/v1/snap/hello/releases', releases);
  for (const revision of [1, 2, 5, 6, 8]) await release({ channel: 'edge', revision });
  t.match(
    await release(
      { channel: 'stable', revision: 1 },
      { channel: 'beta', revision: 9, resources: [{ name: 'data', revision: 1 }] },
      { channel: 'edge/fix', revision: 2 },
      { channel: 'beta', revision: 5, progressive: { percentage: 10, paused: false } },
    ),
    { status: 200 },
  );
  const path = '/internal/v1/packages/snap/hello/revisions';
  const ask = (body: unknown, who = ada) => who.post(`${path}/delete`, body);
  const listed = async (): Promise<number[]> => numbers((await ada.get('/v1/snap/hello/revisions')).body.revisions);
  const reason = 'Nobody has these.';

  await t.test('a preview names what would go, and changes nothing', async (t) => {
    const before = await newest(store);
    const { status, body } = await ask({ keep: 2 });
    t.equal(status, 200);
    // 1, 2, 5, 8 and 9 are in channels, 3 is a component's, 4 a build's, 11 and 12 the newest.
    t.match(body, { deleted: false, bytes: 3000, more: false });
    t.same(numbers(body.revisions), [6, 7, 10]);
    t.same(numbers((await ask({ keep: 1 })).body.revisions), [6, 7, 10, 11]);
    t.same(numbers((await ask({ keep: 6 })).body.revisions), [6]);
    t.same(numbers((await ask({ keep: 100 })).body.revisions), []);
    t.same(numbers((await ask({ keep: 1, channel: 'edge' })).body.revisions), [6]);
    t.same(numbers((await ask({ keep: 2, channel: 'latest/edge' })).body.revisions), [], 'the newest two there stay');
    t.same(numbers((await ask({ keep: 1, 'older-than-days': 90 })).body.revisions), [6]);
    t.same(numbers((await ask({ keep: 1, 'older-than-days': 101 })).body.revisions), []);
    t.same((await command(store, 'revision delete snap/hello --keep 2 --preview'))['revisions'], body.revisions);
    t.same((await command(store, 'revision delete snap/hello --keep 1 --older-than 90d --preview'))['bytes'], 1000);
    t.same(await newest(store), before);
  });

  await t.test('a preview says that there are more only if there are', async (t) => {
    const { records } = store.beside;
    const subject = { id, namespace: 'snap', name: 'hello' } as const;
    for (const [limit, more] of [
      [2, true],
      [3, false],
      [4, false],
    ] as const) {
      const result = await findOldRevisions(records, subject, { keep: 2 }, at, limit);
      t.same({ count: result.revisions.length, more: result.more }, { count: Math.min(limit, 3), more }, String(limit));
    }
  });

  await t.test('a withdrawn revision does not count among the newest', async (t) => {
    await ada.post(`${path}/12/withdraw`, { reason });
    t.same(numbers((await ask({ keep: 2 })).body.revisions), [6, 7]);
    await ada.post(`${path}/12/restore`);
  });

  await t.test('an impossible rule, and a foreign package, change nothing', async (t) => {
    const narrowed = [
      await store.as('ada', { channels: ['latest/edge'] }),
      await store.as('ada', { permissions: ['package-manage-releases'] }),
    ];
    const before = await newest(store);
    const bad: unknown[] = [
      {},
      { keep: 0 },
      { keep: -1 },
      { keep: 1.5 },
      { keep: '2' },
      { keep: 100_001 },
      { keep: null },
      { keep: 2, 'older-than-days': 0 },
      { keep: 2, 'older-than-days': 36_501 },
      { keep: 2, channel: '' },
      { keep: 2, channel: 'no/such/thing/at-all' },
      { keep: 2, revisions: [] },
      { keep: 2, revisions: [0] },
      { keep: 2, revisions: ['6'] },
      { keep: 2, revisions: 6 },
      { keep: 2, revisions: [6, 7, 10], reason: 'two\nlines' },
      { keep: 2, revisions: [6, 7, 10], reason: ' ' },
      { keep: 2, revisions: Array.from({ length: 501 }, (_, index) => index + 1) },
      { keep: 2, unexpected: 1 },
      [],
    ];
    for (const body of bad) t.equal((await ask(body)).status, 400, JSON.stringify(body).slice(0, 60));
    for (const revisions of [[6], [6, 7], [6, 7, 10, 11], [7, 6, 10], [1, 6, 7, 10], [6, 6, 7, 10]]) {
      t.match(await ask({ keep: 2, revisions }), {
        status: 409,
        body: { 'error-list': [{ code: 'conflict', message: /selects other revisions .* so nothing was deleted/ }] },
      });
    }
    const [others, nowhere] = [
      await ask({ keep: 2 }, bob),
      await bob.post(path.replace('hello', 'none') + '/delete', { keep: 2 }),
    ];
    t.same([others.status, nowhere.status], [404, 404]);
    t.equal(
      others.body['error-list'][0].message,
      nowhere.body['error-list'][0].message.replace('none', 'hello'),
      'one answer for what is not there and what is not his',
    );
    for (const client of narrowed) {
      t.match(await ask({ keep: 2 }, client), {
        status: 401,
        body: { 'error-list': [{ code: 'permission-required' }] },
      });
    }
    t.same(await newest(store), before);
  });

  await t.test('deleted twice at once: one request does it, the other is told; the numbers stay', async (t) => {
    const request = { keep: 2, revisions: [6, 7, 10], reason };
    const both = await Promise.all([ask(request), ask(request)]);
    t.same(both.map(({ status }) => status).sort(), [200, 409]);
    t.match(both.find(({ status }) => status === 200)?.body, { deleted: true, bytes: 3000, more: false });
    t.match(await newest(store), {
      action: 'delete_revisions',
      object: 'snap/hello',
      outcome: 'done',
      details: { revisions: [6, 7, 10], bytes: 3000, because: reason },
    });
    t.same(await listed(), [12, 11, 9, 8, 5, 4, 3, 2, 1]);
    t.same((await ada.get('/v1/snap/hello/revisions?revision=7')).body.revisions, []);
    t.match((await ada.get(path)).body.revisions[5], {
      revision: 7,
      status: 'rejected',
      channels: [],
      deleted: { reason, who: store.ids.ada },
    });
    const whole = (await root.get('/internal/v1/packages/snap/hello')).body;
    t.match(whole, { revisions: 9, bytes: 9001 });
    t.match(whole['newest-revisions'][2], { revision: 10, deleted: { reason } });
    t.match(whole['newest-revisions'][3], { revision: 9, deleted: null });
    t.same(numbers((await ask({ keep: 2 })).body.revisions), []);
    const { larder } = commandsOn(store.directory);
    t.match(await larder('revision list snap/hello'), { out: /^7 +7 +deleted .* - +Nobody has these/m });
    t.match(await larder('package show snap/hello'), { out: /^10 +10 +deleted .*Nobody has these/m });
    t.match(await larder('revision delete snap/hello --keep 2 --yes'), {
      code: 0,
      out: /No revision matches the rule/,
    });
    t.match(await larder('revision delete snap/hello --keep 1'), { code: 2, err: /add --yes to confirm/ });
    for (const line of ['', '--keep 0', '--keep x', '--keep 1 --older-than 5', '--keep 1 --channel a/b/c/d']) {
      t.match(await larder(`revision delete snap/hello ${line} --yes`), { code: 2 }, line);
    }
  });

  await t.test('a deleted revision cannot be released, withdrawn or restored', async (t) => {
    t.match(await release({ channel: 'edge', revision: 7 }), {
      status: 400,
      body: { 'error-list': [{ message: /^Revision 7 of 'hello' is deleted\. .*: Nobody has these/ }] },
    });
    for (const operation of ['withdraw', 'restore']) {
      t.match(await ada.post(`${path}/7/${operation}`, operation === 'withdraw' ? { reason } : undefined), {
        status: 404,
        body: { 'error-list': [{ message: /is deleted\. Push the same file/ }] },
      });
    }
    t.match(await ada.get('/v1/snap/hello/resources?revision=7'), { status: 404 });
  });

  await t.test('a command does the same', async (t) => {
    const { id: other } = (await ada.post('/v1/snap', { name: 'other' })).body;
    for (const revision of [1, 2, 3]) await addRevision(store, other, revision);
    await ada.post('/v1/snap/other/releases', [{ channel: 'edge', revision: 3 }]);
    const { id: third } = (await ada.post('/v1/snap', { name: 'third' })).body;
    for (const revision of [1, 2, 3]) await addRevision(store, third, revision);
    const answer = (await ada.post('/internal/v1/packages/snap/third/revisions/delete', { keep: 2, revisions: [1] }))
      .body;
    const byOperation = await newest(store);
    t.same(await command(store, 'revision delete snap/other --keep 2 --yes'), answer);
    t.same({ ...(await newest(store)), object: 'snap/third' }, byOperation);
    t.equal(byOperation?.details.because, 'Not among the newest 2.');
    const [row, twin] = await Promise.all(
      [other, third].map(async (of) => (await store.beside.records.revisions.before(of, 2, 1))[0]),
    );
    const but = { packageId: '', deletedAt: '', deletedBy: '' };
    t.same({ ...row, ...but }, { ...twin, ...but });
  });
});

/** The sweep, with a time that makes all earlier content old. */
const sweeping = (store: TestAppliance) => () =>
  withBlobs(store.beside, ({ blobs }) => sweepBlobs(store.beside.records, blobs, clockWhenOld(store)).run());

/** A component of hello that differs from others by its text. */
const fileWith = (text: string): Buffer => componentFile('hello+data', { text });
const digestOf = (content: string | Buffer): string => createHash('sha3-384').update(content).digest('hex');

t.test('components go with the last revision that they were pushed for', async (t) => {
  const store = await startNow(t);
  const [ada, root] = [await store.as('ada'), await store.as('root')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  for (const number of [1, 2, 3, 4]) {
    await addRevision(store, id, number);
    const entry = { at: store.clock.now.toISOString(), actor: 'test', action: 'declare', object: 'snap/hello' };
    const data = { name: 'data', type: 'component/standard', optional: true };
    await store.beside.records.change(entry, (tx) => tx.resources.declare(id, number, data));
  }
  const at = '/v1/snap/hello/resources/data/revisions';
  const push = async (content: string, revision: number) => {
    const body = { 'upload-id': await ada.upload(fileWith(content)), 'package-revision': revision };
    const answer = await ada.post(at, body);
    t.equal(answer.status, 200, content);
    await store.appliance.reviewed();
    return (await ada.get(answer.body['status-url'] as string)).body.revisions[0];
  };
  const listRevisions = async () => numbers((await ada.get(at)).body.revisions);
  const remove = (keep: number, revisions?: number[]) =>
    ada.post('/internal/v1/packages/snap/hello/revisions/delete', { keep, revisions });
  const used = async () => (await root.get(`/internal/v1/accounts/${store.ids.ada}/quota`)).body.bytes.used as number;
  const isThere = (content: string): boolean => hasContent(store.directory, digestOf(fileWith(content)));
  const sweep = sweeping(store);
  t.match(await push('first', 1), { status: 'approved', revision: 1 });
  t.match(await push('both', 1), { status: 'approved', revision: 2 });
  t.match(await push('both', 3), { status: 'approved', revision: 2 }, 'the same content is the same revision');
  t.match(await push('last', 4), { status: 'approved', revision: 3 });

  // The snap of revision 1 with the component that was pushed for it alone.
  const gone = 1001 + fileWith('first').length;
  const before = [await listRevisions(), await used(), await newest(store)];
  t.match((await remove(3)).body, { deleted: false, bytes: gone });
  t.same([await listRevisions(), await used(), await newest(store)], before, 'a preview changes nothing');
  t.match(await remove(3, [1]), { status: 200, body: { deleted: true, bytes: gone } });
  t.match((await newest(store))?.details, { revisions: [1], components: [['data', 1]], bytes: gone });
  t.same(await listRevisions(), [2, 3], 'what was pushed for another revision as well stays');
  t.equal(await used(), (before[1] as number) - gone);
  t.match(await command(store, 'package show snap/hello'), { bytes: await used() });
  t.same(await sweep(), { swept: 1 });
  t.same(['first', 'both', 'last'].map(isThere), [false, true, true]);
  t.match(
    await ada.post('/v1/snap/hello/releases', [
      { channel: 'edge', revision: 4, resources: [{ name: 'data', revision: 1 }] },
    ]),
    { status: 400, body: { 'error-list': [{ message: /'data' with revision 1 does not exist/ }] } },
  );

  t.match(await push('first', 2), { status: 'approved', revision: 1 }, 'its number is its own for ever');
  t.same(await listRevisions(), [1, 2, 3]);
  t.same([await sweep(), isThere('first')], [{ swept: 0 }, true]);
  await ada.post('/v1/snap/hello/releases', [
    { channel: 'edge', revision: 4, resources: [{ name: 'data', revision: 2 }] },
  ]);
  // Revision 3 stays because a channel has its component: the component was pushed for revision 3 too, and first for a
  // deleted one.
  t.same(numbers((await remove(1)).body.revisions), [2]);
  const entry = { at: store.clock.now.toISOString(), actor: 'test', action: 'approve', object: 'snap/hello' };
  await store.beside.records.change(entry, async (tx) => {
    const last = await tx.resourceRevisions.find(id, 'data', 3);
    if (last === undefined) throw new Error('it is gone');
    await tx.resourceRevisions.add({ ...last, revision: 4, sha3_384: 'a'.repeat(96), packageRevision: 1 });
  });
  await ada.post('/v1/snap/hello/releases', [
    { channel: 'beta', revision: 4, resources: [{ name: 'data', revision: 4 }] },
  ]);
  t.match(await remove(1, [2]), { status: 200 });
  t.same(
    await listRevisions(),
    [2, 3, 4],
    'one that was approved when its revision had gone stays as long as a channel holds it',
  );
  store.clock.advance(days(40));
  const settings = { keep: 1, older_than_days: 30 };
  const { records, acts } = store.beside;
  await (
    await store.as('ada')
  ).post('/v1/snap/hello/releases', [
    { channel: 'edge', revision: null },
    { channel: 'beta', revision: null },
  ]);
  const job = expireRevisions(
    records,
    acts,
    () => store.clock.now,
    () => settings,
  );
  t.same(await job.run(), { expired: 1 });
  t.match((await newest(store))?.details, {
    components: {
      'snap/hello': [
        ['data', 2],
        ['data', 4],
      ],
    },
  });
  t.same([await sweep(), isThere('last')], [{ swept: 2 }, true]);
});

t.test('content is deleted, and is pushed again under the same number', async (t) => {
  const store = await startNow(t);
  const [ada, root] = [await store.as('ada'), await store.as('root')];
  const isThere = (content: string): boolean => hasContent(store.directory, digestOf(content));
  await ada.post('/v1/bin', { name: 'tool' });
  await ada.post('/v1/bin', { name: 'twin' });
  const push = async (content: string, name = 'tool') => (await ada.push('bin', name, content)).body.revisions[0];
  for (const content of ['one', 'two', 'three', 'four']) await push(content);
  t.match(await push('two'), { status: 'rejected' }, 'a second copy of what goes later');
  await push('three', 'twin');
  await ada.post('/internal/v1/packages/bin/tool/revisions/1/withdraw', { reason: 'It does harm.' });
  const remove = (keep: number, revisions: number[]) =>
    ada.post('/internal/v1/packages/bin/tool/revisions/delete', { keep, revisions });
  const used = async () => (await root.get(`/internal/v1/accounts/${store.ids.ada}/quota`)).body.bytes.used as number;
  const sweep = sweeping(store);
  const { larder } = commandsOn(store.directory);

  await t.test('the sweep removes what nothing else needs, and verify and backup miss nothing', async (t) => {
    t.equal(await used(), 15);
    t.match(await remove(1, [1, 2, 3]), { status: 200, body: { deleted: true, bytes: 11 } });
    t.equal(await used(), 9, 'four here, and three by the other package');
    t.same(await sweep(), { swept: 2 });
    t.same(['one', 'two', 'three', 'four'].map(isThere), [false, false, true, true]);
    t.match(await larder('verify'), { code: 0 });
    t.match(await larder(`backup ${join(t.testdir({}), 'backup.tar')}`), { code: 0 });
    t.match(await push('five'), { status: 'approved', revision: 5 });
  });

  await t.test('the same file pushed again is that revision again, withdrawn if it was', async (t) => {
    t.match(await push('two'), { status: 'approved', revision: 2 });
    t.match((await ada.get('/v1/bin/tool/revisions?revision=2')).body.revisions, [{ revision: 2, status: 'approved' }]);
    t.match(await push('one'), { status: 'approved', revision: 1 });
    t.match((await ada.get('/v1/bin/tool/revisions?revision=1')).body.revisions, [{ revision: 1, status: 'rejected' }]);
    t.match((await ada.get('/internal/v1/packages/bin/tool/revisions')).body.revisions[4], {
      revision: 1,
      withdrawn: { reason: 'It does harm.' },
      deleted: null,
    });
    t.match(await push('two'), { status: 'rejected', errors: [{ message: /as revision 2\./ }] });
    t.same(await sweep(), { swept: 0 });
    t.ok(isThere('two'));
    t.match(await ada.post('/v1/bin/tool/releases', [{ channel: 'edge', revision: 2 }]), { status: 200 });
  });

  await t.test('every day, with the configured number of remaining revisions', async (t) => {
    let settings: { keep?: number; older_than_days: number } = { older_than_days: 30 };
    const { records, acts } = store.beside;
    const job = expireRevisions(
      records,
      acts,
      () => store.clock.now,
      () => settings,
    );
    const { id } = (await ada.get('/v1/bin/tool')).body.metadata as { id: string };
    const before = await newest(store);
    t.same(await job.run(), {});
    settings = { keep: 1, older_than_days: 30 };
    t.same(await job.run(), { expired: 0 }, 'all of it is young');
    t.same(await newest(store), before, 'and nothing is written when nothing is due');
    store.clock.advance(days(40));
    await (await store.as('ada')).push('bin', 'twin', 'six');
    // 2 is in a channel, 5 is the newest.
    t.same(await job.run(), { expired: 3 });
    t.match(await newest(store), {
      action: 'expire_revisions',
      details: { expired: 3, bytes: 12, revisions: { 'bin/tool': [1, 4], 'bin/twin': [1] } },
    });
    t.match((await records.revisions.before(id, 2, 1))[0], {
      deletedBy: 'larder',
      deletedBecause: 'Not among the newest 1, and older than 30 days.',
    });
    t.same(await job.run(), { expired: 0 });
    const again = await store.as('ada');
    t.match((await again.push('bin', 'tool', 'four')).body.revisions[0], { status: 'approved', revision: 4 });
    t.same(await job.run(), { expired: 0 }, 'what was pushed lately stays, however old its number');
  });
});

t.test('a revision in a validation set stays, with any content of channels', async (t) => {
  const store = await startNow(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  for (const revision of [1, 2, 3, 4]) await addRevision(store, id, revision);
  const preview = async (): Promise<unknown> => command(store, 'revision delete snap/hello --keep 1 --preview');
  t.match(await preview(), { revisions: [{ revision: 1 }, { revision: 2 }, { revision: 3 }] });
  const set = await made('ada', 'acme', 'validation-set', {
    series: '16',
    'account-id': 'acme',
    name: 'floor',
    sequence: '1',
    timestamp,
    snaps: [{ name: 'hello', id, presence: 'required', revision: '2' }],
  });
  await keep(store, set);
  const left = (await preview()) as { revisions: Found[] };
  t.same(numbers(left.revisions), [1, 3], 'a device that keeps to the set needs just this one');
  await command(store, 'revision delete snap/hello --keep 1 --yes');
  t.equal((await store.beside.records.revisions.find(id, 2))?.deletedAt ?? null, null);
});

t.test('a revision in a bundle stays, with any content of channels', async (t) => {
  const store = await startNow(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/charm', { name: 'postgresql' })).body;
  for (const revision of [1, 2, 3, 4, 5]) await addRevision(store, id, revision);
  const preview = async (): Promise<number[]> =>
    numbers((await command(store, 'revision delete charm/postgresql --keep 1 --preview'))['revisions'] as Found[]);
  t.same(await preview(), [1, 2, 3, 4]);
  const at = store.clock.now.toISOString();
  const application = (name: string, charm: string, revision: number): string =>
    `  ${name}:\n    charm: ${charm}\n    channel: 14/stable\n    revision: ${String(revision)}\n`;
  const text = `applications:\n${application('one', 'postgresql', 2)}${application('two', 'ch:postgresql', 4)}${application('other', 'postgresql-k8s', 3)}`;
  await store.beside.records.change({ at, actor: 'test', action: 'fill', object: 'bundle' }, async (tx) => {
    const add = filler(tx, at);
    const bundle = {
      id: 'bundle',
      name: 'database',
      publisherId: store.ids.ada,
      namespace: 'charm',
      type: 'bundle',
    } as const;
    await add.package(bundle);
    await add.revision({ packageId: 'bundle', revision: 1, createdBy: store.ids.ada, packageYaml: text });
    await add.release({ packageId: id, channel: 'latest/stable', revision: 5 });
  });
  t.same(await preview(), [1, 2, 3, 4], 'a bundle that no channel holds deploys nothing');
  await store.beside.records.change({ at, actor: 'test', action: 'release', object: 'bundle' }, (tx) =>
    filler(tx, at).release({ packageId: 'bundle', channel: 'latest/stable', revision: 1 }),
  );
  t.same(await preview(), [1, 3]);
  await command(store, 'revision delete charm/postgresql --keep 1 --yes');
  t.equal((await store.beside.records.revisions.find(id, 4))?.deletedAt ?? null, null);
});
