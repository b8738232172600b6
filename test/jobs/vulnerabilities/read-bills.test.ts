// Revisions that an older release stored are read for their bills of materials.
import { createHash } from 'node:crypto';

import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { billsJob } from './bills-job.ts';

t.test('a revision of an older release is read once, and until then its contents are unknown', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/charm', { name: 'hello' })).body;
  const contents = ['ops==2.1.0\n', 'ops==2.2.0\n'].map((text) => charm('hello', { 'requirements.txt': text }));
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'revise', object: 'charm/hello' }, async (tx) => {
    for (const [index, content] of [...contents, 'a zip that is none', undefined].entries()) {
      const hex = (algorithm: string) =>
        createHash(algorithm)
          .update(content ?? 'gone')
          .digest('hex');
      await filler(tx, at).revision({
        packageId: id,
        createdBy: store.ids.ada,
        revision: index + 1,
        sha3_384: hex('sha3-384'),
        sha256: hex('sha256'),
      });
    }
  });
  for (const content of [...contents, 'a zip that is none']) await ada.upload(content);
  const gapsAndNames = async (revision: number) => {
    const { body } = await ada.get(`/internal/v1/packages/charm/hello/revisions/${revision}/sbom`);
    const { metadata, components } = JSON.parse(body as string);
    const properties = metadata.component.properties as { name: string; value: string }[];
    return [
      ...properties.filter(({ name }) => name === 'larder:gap').map(({ value }) => value),
      ...(components as { purl: string }[]).map(({ purl }) => purl),
    ];
  };
  t.match(await gapsAndNames(1), [/has not read it yet/]);

  const job = await billsJob(t, store);
  t.same(await job.run(), { read: 3 });
  t.same(await gapsAndNames(1), ['pkg:pypi/ops@2.1.0']);
  t.same(await gapsAndNames(2), ['pkg:pypi/ops@2.2.0']);
  t.match(await gapsAndNames(3), [/^It cannot be read: /], 'it is unknown for good, and does not come back');
  t.match(await gapsAndNames(4), [/has not read it yet/], 'its file is missing, and may be restored');
  t.same(await job.run(), {});
  const { entries } = (await (await store.as('root')).get('/internal/v1/audit?action=read_bills_of_materials')).body;
  t.match(entries, [{ details: { revisions: 3 } }]);
});
