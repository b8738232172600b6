// A device that refreshes is offered what changed in the place of the whole file, and snapd's own client makes the file of it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';
import { hasContent } from '#test/fixtures/contents.ts';
import { deltaWork, offeringDeltas } from '#test/fixtures/packages/deltas.ts';
import { refresh } from '#test/fixtures/devices.ts';
import { until } from '#test/fixtures/until.ts';
import { larder } from '#test/cli/world.ts';
import { accepting, withDelta } from './deltas-world.ts';

t.setTimeout(600_000);

t.test('it is offered to a device that takes it, has its source, and refreshes', async (t) => {
  const { store, ada, id, contents, offered } = await withDelta(t);
  const [delta] = await offered(1);
  const { base_url: base } = { base_url: 'http://127.0.0.1:8080' };
  t.match(delta, { format: 'xdelta3', source: 1, target: 2, size: Number });
  t.ok(delta!.size < 0.6 * contents[1]!.length);
  t.ok(delta!.url.startsWith(`${base}/api/v1/snaps/download/${id}_1_2_`));
  t.same(await offered(1, { 'snap-accept-delta-format': 'xdelta3' }), [delta]);
  t.same(await offered(1, {}), [], 'one that does not take them');
  t.same(await offered(1, { 'snap-accept-delta-format': 'hdiffpatch' }), []);
  t.same(await offered(1, { 'snap-accept-delta-format': 'snap-1-1-xdelta3' }), [], 'see decision 11');
  t.same(await offered(2), [], 'one that has it');
  t.same(await offered(7), [], 'one that has what is not here');
  t.same(await offered(1, accepting, { revision: 2 }), [delta], 'by its number');
  const [install] = await refresh(store, [{ action: 'install', name: 'hello' }], [], accepting);
  t.same(install!.snap!.download!.deltas, [], 'there is nothing to begin from');
  await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 1 }]);
  t.same(await offered(2), [], 'and none the other way, as long as none is made');
});

t.test('it is fetched whole and in parts, by devices with access to both revisions', async (t) => {
  const { store, ada, id, offered } = await withDelta(t);
  const [delta] = await offered(1);
  const path = new URL(delta!.url).pathname;
  const fetched = async (headers: Record<string, string> = {}, at = path) => {
    const response = await fetch(store.url + at, { headers });
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const whole = await fetched();
  t.equal(whole.status, 200);
  t.equal(whole.bytes.length, delta!.size);
  t.equal(createHash('sha3-384').update(whole.bytes).digest('hex'), delta!['sha3-384']);
  t.equal(whole.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  t.equal(whole.headers.get('etag'), `"${delta!['sha3-384']}"`);
  const part = await fetched({ range: 'bytes=100-' });
  t.equal(part.status, 206);
  t.same(part.bytes, whole.bytes.subarray(100));

  for (const wrong of [path.replace('_1_2_', '_2_1_'), path.replace(/_[0-9a-f]{16}\./, `_${'0'.repeat(16)}.`)]) {
    t.equal((await fetched({}, wrong)).status, 404, wrong);
  }
  t.equal((await fetched({}, '/api/v1/snaps/download/_.xdelta3')).status, 404);
  await ada.patch('/v1/snap/hello', { private: true });
  t.equal((await fetched()).status, 404, 'of a snap that is nobody else has');
  await ada.patch('/v1/snap/hello', { private: false });
  t.equal((await fetched()).status, 200);
  const { code, err } = await larder(`revision withdraw snap/hello 1 --reason bad --yes --data ${store.directory}`);
  t.equal(code, 0, err);
  t.equal((await fetched()).status, 404, 'of a revision that was withdrawn');
  t.same(await offered(1), []);
  t.ok((await store.beside.records.deltas.tried(id)).length > 0);
});

t.test('downloads by devices are counted, deltas and whole files', async (t) => {
  const { store, id, offered } = await withDelta(t);
  const [delta] = await offered(1);
  const get = async (path: string) => (await fetch(store.url + path)).text();
  await get(new URL(delta!.url).pathname);
  await get(new URL(delta!.url).pathname);
  await get(`/api/v1/snaps/download/${id}_2.snap`);
  const { records } = store.beside;
  await until(async () => (await records.deltas.counted()).served === 2);
  await records.writeCounters();
  t.match(await records.deltas.counted(), { made: 1, served: 2, whole: 1 });
  const page = await get('/metrics');
  for (const line of [
    'larder_deltas 1',
    `larder_delta_bytes ${String(delta!.size)}`,
    'larder_deltas_tried{outcome="made"} 1',
    'larder_snaps_fetched{as="delta"} 2',
    'larder_snaps_fetched{as="whole"} 1',
  ]) {
    t.match(page, `\n${line}\n`);
  }
  const { out } = await larder(`device refreshes snap/hello --data ${store.directory}`);
  t.match(out, /Downloads: 3 in all, .* in the last 30 days, 2 as a delta\./);
});

t.test('it is offered to no device unless the configuration enables it', async (t) => {
  const { offered } = await withDelta(t, (text) => offeringDeltas(text).replace(/^deltas = true$/m, 'deltas = false'));
  t.same(await offered(1), []);
});

t.test('a backup leaves them out, and a store that was restored makes them again', async (t) => {
  const { store, id } = await withDelta(t);
  const folder = mkdtempSync(join(tmpdir(), 'larder-delta-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const { code, out, err } = await larder(`backup ${join(folder, 'all.tar')} --data ${store.directory} --json`);
  if (code !== 0) throw new Error(out + err);
  const { sha3_384 } = (await store.beside.records.deltas.find(id, 1, 2))!;
  const names = execFileSync('tar', ['-tf', join(folder, 'all.tar')], { encoding: 'utf8' });
  t.match(names, /\/[0-9a-f]{96}$/m, 'the files of revisions are in it');
  t.notMatch(names, sha3_384);
  t.ok(hasContent(store.directory, sha3_384));
  await store.beside.records.ephemeral(({ deltas }) => deltas.removeSome(100));
  t.same(await (await deltaWork(t, store)).run(), { made: 1 });
});
