// Charms that were here before juju was answered are read for it.
import { createHash } from 'node:crypto';

import pino from 'pino';
import t from 'tap';

import { createDigestPool } from '#blobs/digests.ts';
import { diskBlobs } from '#blobs/disk.ts';
import { readCharms } from '#jobs/revisions/read-charms.ts';
import { createReviewer } from '#review/reviewer.ts';
import { startWorker } from '#platform/embedded.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { askedOne, servingCharms } from '#test/fixtures/clients/juju.ts';

t.test('a charm of an older release is read once, and until then juju is told to retry', async (t) => {
  const store = await startStore(t, servingCharms);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/charm', { name: 'hello' })).body;
  const config = 'options:\n  port: {type: int, default: 80}\n';
  const content = charm('hello', { 'config.yaml': config }, 'requires:\n  db: {interface: postgresql}\n');
  await ada.upload(content);
  const hex = (algorithm: string): string => createHash(algorithm).update(content).digest('hex');
  const at = store.clock.now.toISOString();
  const unread = { sha384: '', configYaml: null, actionsYaml: null };
  const bases = [{ name: 'ubuntu', channel: '22.04', architecture: 'amd64' }];
  await store.beside.records.change({ at, actor: 'test', action: 'revise', object: 'charm/hello' }, async (tx) => {
    const row = {
      packageId: id,
      createdBy: store.ids.ada,
      details: { bases },
      packageYaml: 'name: hello\n',
      charm: unread,
    };
    await filler(tx, at).revision({
      ...row,
      revision: 1,
      sha3_384: hex('sha3-384'),
      sha256: hex('sha256'),
      size: content.length,
    });
    // Its file is not there, which keeps no other from being read.
    await filler(tx, at).revision({ ...row, revision: 2 });
  });
  await ada.post('/v1/charm/hello/releases', [{ channel: 'stable', revision: 1 }]);
  t.match(await askedOne(store, { name: 'hello' }), {
    error: { code: 'revision-not-ready', message: /Try again in a minute/ },
  });

  const requiring = async () => (await store.anyone.get('/v2/charms/find?q=&relation-requires=postgresql')).body;
  t.same(await requiring(), { results: [] });

  const digests = createDigestPool((options) => startWorker('src/blobs/digest-worker.ts', options));
  const reviewer = createReviewer({ startWorker: (options) => startWorker('src/review/worker.ts', options) });
  t.teardown(() => Promise.all([digests.close(), reviewer.close()]));
  const fatal = (error: Error): never => {
    throw error;
  };
  const blobs = await diskBlobs({ directory: store.directory, reserve: 0, digests, fatal });
  const { records, acts } = store.beside;
  const job = readCharms({ records, acts, blobs, reviewer, digests, log: pino({ level: 'silent' }) });
  t.same(await job.run(), { read: 1 });
  t.match(await askedOne(store, { name: 'hello' }), {
    charm: { 'config-yaml': config, download: { 'hash-sha-384': hex('sha384'), 'hash-sha-256': hex('sha256') } },
  });
  t.match(await requiring(), { results: [{ name: 'hello' }] });
  t.same(await job.run(), {}, 'the one without a file waits');
});
