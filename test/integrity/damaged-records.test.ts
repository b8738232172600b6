// A corrupt record is never used: a rewritten row would give its damage a new digest.
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { checkDatabase } from '#engine/sqlite/check.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { declare, logIn, pushImage, uploadLogin } from '#test/fixtures/packages/images.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

/** Changes the last character of a text in one row, as a bit that turned over would. */
function damage(store: TestAppliance, table: string, column: string): void {
  const db = new SQLite(join(store.directory, 'larder.db'));
  db.exec(
    `UPDATE ${table} SET ${column} = substr(${column}, 1, length(${column}) - 1) || 'e' WHERE rowid = (SELECT MIN(rowid) FROM ${table})`,
  );
  db.close();
}

const problems = async (store: TestAppliance): Promise<string[]> => (await store.anyone.get('/readyz')).body.problems;
const wrong = (store: TestAppliance): string[] => checkDatabase(join(store.directory, 'larder.db'));

t.test('a revision with a corrupt record is not released, and its damage is not overwritten', async (t) => {
  for (const column of ['sha3_384', 'details']) {
    const store = await startStore(t);
    const ada = await store.as('ada');
    const { id } = (await ada.post('/v1/bin', { name: 'hello' })).body as { id: string };
    for (const revision of [1, 2]) await addRevision(store, id, revision);
    damage(store, 'revisions', column);
    t.match(await problems(store), [], 'nobody has looked yet');
    const reply = await ada.post('/v1/bin/hello/releases', [
      { channel: 'stable', revision: 2 },
      { channel: 'edge', revision: 1 },
    ]);
    t.match(reply, {
      status: 409,
      body: {
        'error-list': [
          {
            code: 'conflict',
            message:
              "The store's record of revision 1 of 'hello' is corrupt, so nothing was changed. " +
              'Ask the administrator of the store to restore the records from a backup.',
          },
        ],
      },
    });
    t.match(await problems(store), [/^Row 1 of revisions is not as it was written, .*'larder restore'\.$/]);
    t.match(wrong(store), [/revisions \(bin\/hello revision 1\) is changed/], 'verify still finds it');
    t.match(
      await ada.post('/v1/bin/hello/releases', [{ channel: 'stable', revision: 2 }]),
      { status: 200 },
      'the one beside it is released',
    );
  }
});

t.test('a resource revision with a corrupt record is not released, named or unchanged', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello', 'config', 'file');
  const ada = await store.as('ada');
  const push = async (content: string): Promise<void> => {
    const upload = await ada.upload(content);
    const pushed = await ada.post('/v1/charm/hello/resources/config/revisions', { 'upload-id': upload });
    t.match(pushed, { status: 200 });
    await store.appliance.reviewed();
  };
  const release = (channel: string, revision?: number) =>
    ada.post('/v1/charm/hello/releases', [
      { channel, revision: 1, ...(revision !== undefined && { resources: [{ name: 'config', revision }] }) },
    ]);
  await push('one');
  await push('two');
  t.match(await release('edge', 1), { status: 200 });
  damage(store, 'resource_revisions', 'sha256');
  const refused = {
    status: 409,
    body: {
      'error-list': [
        {
          code: 'conflict',
          message:
            "The store's record of revision 1 of the resource 'config' is corrupt, so nothing was changed. " +
            'Ask the administrator of the store to restore the records from a backup.',
        },
      ],
    },
  };
  t.match(await release('stable', 1), refused);
  t.match(await release('edge'), refused, 'the one that the channel holds already');
  t.match(await problems(store), [/^Row 1 of resource_revisions is not as it was written/]);
  t.match(await release('stable', 2), { status: 200 }, 'the one beside it is released');
  const bases = [{ architectures: ['amd64'] }];
  const rebased = await ada.patch('/v1/charm/hello/resources/config/revisions', {
    'resource-revision-updates': [{ revision: 1, bases }],
  });
  t.equal(rebased.status, 200);
  t.match(wrong(store), [/resource_revisions .*is changed/], 'what is written into it makes no good record of it');
});

t.test('an image with a corrupt record is not published', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const image = await pushImage(await logIn(store, await uploadLogin(ada, 'hello')), 'latest', 'layer');
  const path = '/v1/charm/hello/resources/image/oci-image/blob';
  t.match(await ada.post(path, { 'image-digest': image }), { status: 200 });
  damage(store, 'image_manifests', 'pushed_at');
  t.match(await ada.post(path, { 'image-digest': image }), {
    status: 409,
    body: { 'error-list': [{ code: 'conflict', message: /'image' is corrupt\. An administrator must restore/ }] },
  });
  t.match(await problems(store), [/^Row 1 of image_manifests is not as it was written/]);
});
